package dev.onehop.measure.report;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleUnaryOperator;

/**
 * An axis of a chart.
 *
 * @param label the quantity, with the unit
 * @param ticks the marks, by value
 * @param low the value at the start of the axis
 * @param high the value at the end of the axis
 * @param position converts a value to a number that is proportional to the distance on the chart,
 *     such as the logarithm of the value
 */
record Axis(String label, List<Tick> ticks, double low, double high, DoubleUnaryOperator position) {

  /**
   * The largest number of labels of a logarithmic axis. With more marks than this, only powers of
   * ten have labels.
   */
  private static final int MOST_LABELS = 8;

  /** A mark at a value. A mark with an empty label is only a line. */
  record Tick(double value, String label) {}

  /** Returns the position of a value, from 0 at the start to 1 at the end. */
  double fraction(double value) {
    double start = position.applyAsDouble(low);
    return (position.applyAsDouble(value) - start) / (position.applyAsDouble(high) - start);
  }

  /** Returns a linear axis from zero to {@code highest} or more, with marks at round numbers. */
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

  /**
   * Returns a logarithmic axis around the given values, with marks at 1, 2 and 5 times powers of
   * ten.
   */
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

  /**
   * Returns an axis of counts. It is logarithmic if the counts span a factor of 16 or more, and
   * linear otherwise.
   */
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

  /** Returns an axis of time in seconds. */
  static Axis seconds(int length) {
    int every = length < 10 ? 1 : 5;
    List<Tick> ticks = new ArrayList<>();
    for (int second = 0; second <= length; second += every) {
      ticks.add(new Tick(second, String.valueOf(second)));
    }
    return new Axis("seconds", ticks, 0, length, DoubleUnaryOperator.identity());
  }

  /**
   * Returns an axis of percentiles on the scale 1 / (1 − p). On this axis, 90 %, 99 % and 99.9 %
   * are equally far apart.
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
