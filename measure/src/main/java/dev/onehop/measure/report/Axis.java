package dev.onehop.measure.report;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleUnaryOperator;

/**
 * An axis of a chart.
 *
 * @param label its quantity, with the unit
 * @param ticks the marks, by value
 * @param low the value at its start
 * @param high the value at its end
 * @param position converts a value to a position that is linear on paper
 */
record Axis(String label, List<Tick> ticks, double low, double high, DoubleUnaryOperator position) {

  /** The most labels of a logarithmic axis; with more it labels only powers of ten. */
  private static final int MOST_LABELS = 8;

  /** A mark at a value; without a label only a line. */
  record Tick(double value, String label) {}

  /** The position of a value between start (0) and end (1). */
  double fraction(double value) {
    double start = position.applyAsDouble(low);
    return (position.applyAsDouble(value) - start) / (position.applyAsDouble(high) - start);
  }

  /** A linear axis from zero up to {@code highest} or more, with round marks. */
  static Axis fromZero(String label, double highest) {
    double step = niceStep(Math.max(highest, 1e-9) / 4);
    double high = Math.ceil(highest / step - 1e-9) * step;
    if (high <= 0) {
      high = step;
    }
    List<Tick> ticks = new ArrayList<>();
    for (int i = 0; i * step <= high * 1.0001; i++) {
      ticks.add(new Tick(i * step, number(i * step)));
    }
    return new Axis(label, ticks, 0, high, DoubleUnaryOperator.identity());
  }

  /** A logarithmic axis with marks at 1, 2 and 5 times powers of ten around the given values. */
  static Axis logarithmic(String label, double lowest, double highest) {
    List<Tick> marks = new ArrayList<>();
    int first = (int) Math.floor(Math.log10(lowest));
    int last = (int) Math.ceil(Math.log10(highest));
    for (int power = first; power <= last; power++) {
      for (int factor : new int[] {1, 2, 5}) {
        double mark = factor * Math.pow(10, power);
        marks.add(new Tick(mark, number(mark)));
      }
    }
    double low =
        marks.stream().mapToDouble(Tick::value).filter(m -> m <= lowest).max().orElseThrow();
    double high =
        marks.stream()
            .mapToDouble(Tick::value)
            .filter(m -> m >= highest && m > low)
            .min()
            .orElseThrow();
    List<Tick> ticks = marks.stream().filter(t -> t.value() >= low && t.value() <= high).toList();
    if (ticks.size() > MOST_LABELS) {
      ticks = ticks.stream().map(Axis::labelledIfPowerOfTen).toList();
    }
    return new Axis(label, ticks, low, high, Math::log);
  }

  /** An axis of counts: linear, or logarithmic if they span a factor of 16 or more. */
  static Axis counts(String label, Collection<Integer> counts) {
    int least = counts.stream().min(Integer::compare).orElse(1);
    int most = counts.stream().max(Integer::compare).orElse(1);
    boolean logarithmic = most >= 16 * least;
    List<Tick> ticks =
        counts.stream().sorted().distinct().map(n -> new Tick(n, String.valueOf(n))).toList();
    if (logarithmic) {
      return new Axis(label + " (log scale)", ticks, least / 1.3, most * 1.3, Math::log);
    }
    double margin = Math.max(1, (most - least) * 0.06);
    return new Axis(label, ticks, least - margin, most + margin, DoubleUnaryOperator.identity());
  }

  /** An axis of time. */
  static Axis seconds(int length) {
    int every = length < 10 ? 1 : 5;
    List<Tick> ticks = new ArrayList<>();
    for (int second = 0; second <= length; second += every) {
      ticks.add(new Tick(second, String.valueOf(second)));
    }
    return new Axis("seconds", ticks, 0, length, DoubleUnaryOperator.identity());
  }

  /**
   * An axis of percentiles on the scale 1 / (1 − p), on which each further nine has the same width.
   *
   * @param nines the number of nines: 2 is 99 %, 3 is 99.9 %
   */
  static Axis percentiles(double nines) {
    List<Tick> ticks = new ArrayList<>();
    ticks.add(new Tick(0, "0"));
    ticks.add(new Tick(0.5, "50"));
    for (int i = 1; i <= nines + 1e-9; i++) {
      double p = 1 - Math.pow(10, -i);
      ticks.add(new Tick(p, number(100 * p)));
    }
    double end = 1 - Math.pow(10, -nines);
    return new Axis("percentile (%)", ticks, 0, end, p -> -Math.log10(1 - p));
  }

  private static Tick labelledIfPowerOfTen(Tick tick) {
    double power = Math.log10(tick.value());
    return Math.abs(power - Math.rint(power)) < 1e-9 ? tick : new Tick(tick.value(), "");
  }

  private static double niceStep(double rough) {
    double magnitude = Math.pow(10, Math.floor(Math.log10(rough)));
    for (double factor : new double[] {1, 2, 2.5, 5}) {
      if (rough <= factor * magnitude * 1.0001) {
        return factor * magnitude;
      }
    }
    return 10 * magnitude;
  }

  private static String number(double value) {
    double rounded = Math.rint(value * 1e6) / 1e6;
    return rounded == Math.rint(rounded)
        ? String.format(Locale.ROOT, "%,d", (long) rounded)
        : String.valueOf(rounded);
  }
}
