package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Spot;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** Curves of latency by percentile, from histograms of microseconds. */
final class Percentiles {
  private static final int STEPS = 120;

  private Percentiles() {}

  /**
   * Returns a chart of the curves. Each curve ends at its slowest operation. The chart is empty if
   * there are no curves.
   */
  static LineChart chart(String caption, Map<LineStyle, Histogram> curves) {
    long most = curves.values().stream().mapToLong(Histogram::getTotalCount).max().orElse(1);
    Axis axis = Axis.percentiles(Math.max(1, Math.log10((double) most)));
    LineChart chart = new LineChart(caption, axis, "ms", true);
    curves.forEach((style, histogram) -> chart.curve(style, sample(histogram)));
    return chart;
  }

  /**
   * Returns a histogram as a curve up to its last operation, with evenly spaced points on the scale
   * 1 / (1 − p).
   */
  private static List<Spot> sample(Histogram histogram) {
    double nines = Math.log10(Math.max(2.0, (double) histogram.getTotalCount()));
    List<Spot> spots = new ArrayList<>();
    for (int i = 0; i <= STEPS; i++) {
      double p = 1 - Math.pow(10, -nines * i / STEPS);
      // At least 1, the resolution of the clock: a latency of 0 has no place on a logarithmic axis.
      double micros = Math.max(1, histogram.getValueAtPercentile(p * 100));
      spots.add(new Spot(p, micros / 1000));
    }
    return spots;
  }
}
