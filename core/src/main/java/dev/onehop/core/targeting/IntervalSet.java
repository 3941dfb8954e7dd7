package dev.onehop.core.targeting;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Values of one field: ascending intervals with gaps between them. Immutable. */
final class IntervalSet {
  static final IntervalSet NONE = new IntervalSet(List.of());
  static final IntervalSet ALL = new IntervalSet(List.of(Interval.ALL));

  private final List<Interval> intervals;

  private IntervalSet(List<Interval> intervals) {
    this.intervals = intervals;
  }

  static IntervalSet of(Interval interval) {
    return interval.isEmpty() ? NONE : new IntervalSet(List.of(interval));
  }

  static IntervalSet union(List<Interval> any) {
    List<Interval> sorted = new ArrayList<>(any);
    sorted.removeIf(Interval::isEmpty);
    sorted.sort((a, b) -> Arrays.compareUnsigned(a.from(), b.from()));
    List<Interval> joined = new ArrayList<>(sorted.size());
    for (Interval next : sorted) {
      int last = joined.size() - 1;
      // Adjacent points stay separate: a condition on the next field reduces the keys of a point,
      // but not the keys inside an interval.
      if (last >= 0
          && (overlap(joined.get(last), next) || !bothPoints(joined.get(last), next))
          && joined.get(last).reaches(next)) {
        joined.set(last, joined.get(last).join(next));
      } else {
        joined.add(next);
      }
    }
    return new IntervalSet(List.copyOf(joined));
  }

  private static boolean bothPoints(Interval a, Interval b) {
    return a.isPoint() && b.isPoint();
  }

  private static boolean overlap(Interval earlier, Interval later) {
    return Arrays.compareUnsigned(earlier.to(), later.from()) > 0;
  }

  List<Interval> intervals() {
    return intervals;
  }

  boolean isEmpty() {
    return intervals.isEmpty();
  }

  boolean isAll() {
    return intervals.size() == 1
        && intervals.get(0).from().length == 0
        && Arrays.equals(intervals.get(0).to(), Interval.ALL.to());
  }

  boolean isPoint() {
    return intervals.size() == 1 && intervals.get(0).isPoint();
  }

  IntervalSet or(IntervalSet other) {
    if (isAll() || other.isEmpty()) {
      return this;
    }
    if (other.isAll() || isEmpty()) {
      return other;
    }
    List<Interval> both = new ArrayList<>(intervals);
    both.addAll(other.intervals);
    return union(both);
  }

  IntervalSet and(IntervalSet other) {
    if (isAll() || other.isEmpty()) {
      return other;
    }
    if (other.isAll() || isEmpty()) {
      return this;
    }
    List<Interval> common = new ArrayList<>();
    int i = 0;
    int j = 0;
    while (i < intervals.size() && j < other.intervals.size()) {
      Interval a = intervals.get(i);
      Interval b = other.intervals.get(j);
      Interval both = a.intersect(b);
      if (!both.isEmpty()) {
        common.add(both);
      }
      if (Arrays.compareUnsigned(a.to(), b.to()) <= 0) {
        i++;
      } else {
        j++;
      }
    }
    return new IntervalSet(List.copyOf(common));
  }

  IntervalSet complement() {
    List<Interval> rest = new ArrayList<>(intervals.size() + 1);
    byte[] from = Interval.ALL.from();
    for (Interval interval : intervals) {
      rest.add(Interval.between(from, interval.from()));
      from = interval.to();
    }
    rest.add(Interval.between(from, Interval.ALL.to()));
    rest.removeIf(Interval::isEmpty);
    return new IntervalSet(List.copyOf(rest));
  }

  /** This set, converted to the encoding of a descending field. */
  IntervalSet flipped() {
    List<Interval> flipped = new ArrayList<>(intervals.size());
    for (int i = intervals.size() - 1; i >= 0; i--) {
      flipped.add(intervals.get(i).flipped());
    }
    return new IntervalSet(List.copyOf(flipped));
  }

  boolean sameAs(IntervalSet other) {
    if (intervals.size() != other.intervals.size()) {
      return false;
    }
    for (int i = 0; i < intervals.size(); i++) {
      Interval a = intervals.get(i);
      Interval b = other.intervals.get(i);
      if (!Arrays.equals(a.from(), b.from()) || !Arrays.equals(a.to(), b.to())) {
        return false;
      }
    }
    return true;
  }
}
