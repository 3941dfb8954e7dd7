package dev.onehop.jmh.check;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The result of a bar's rounds.
 *
 * @param bar the bar with its benchmark and baseline
 * @param ratios the benchmark's speed divided by the baseline's, per round
 * @param moreBytes the bytes per operation that the benchmark allocated in addition to the
 *     baseline's bytes, per round
 */
record BarResult(Comparison bar, List<Double> ratios, List<Double> moreBytes) {

  BarResult {
    ratios = List.copyOf(ratios);
    moreBytes = List.copyOf(moreBytes);
  }

  /** Returns the median of the rounds. One disturbed round does not change the median. */
  double ratio() {
    return median(ratios);
  }

  private static double median(Collection<Double> rounds) {
    double[] sorted = rounds.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  boolean held() {
    return isFast() && isFrugal();
  }

  private boolean isFast() {
    return ratio() >= bar.atLeast();
  }

  private boolean isFrugal() {
    return bar.moreBytes() == null || median(moreBytes) <= bar.moreBytes();
  }

  /**
   * Whether the remaining rounds are unnecessary: more than half of all rounds have reached the
   * bar, and the bytes so far are within their limit. The remaining rounds cannot move the median
   * below the bar.
   */
  boolean isCertain() {
    return 2 * ratios.stream().filter(ratio -> ratio >= bar.atLeast()).count() > bar.rounds()
        && isFrugal();
  }

  /** Returns the row of this bar in the table. */
  String row() {
    return String.format(
        Locale.ROOT,
        "%-22s %8.2f %8.2f   %-6s  %s",
        bar.name(),
        ratio(),
        bar.atLeast(),
        held() ? "holds" : "BROKEN",
        String.join(" ", ratios.stream().map(r -> String.format(Locale.ROOT, "%.2f", r)).toList())
            + (bar.moreBytes() == null ? "" : "; " + bytes()));
  }

  private String bytes() {
    return String.format(
        Locale.ROOT, "%.0f more bytes (limit %d)", median(moreBytes), bar.moreBytes());
  }

  static String header() {
    return String.format(
        Locale.ROOT, "%-22s %8s %8s   %-6s  %s", "", "ratio", "limit", "", "per round");
  }

  /** Returns the message about a broken bar. */
  String complaint() {
    if (isFast()) {
      return "%s: %s allocates %s per operation than %s"
          .formatted(
              bar.name(),
              text(bar.benchmark(), bar.baseline()),
              bytes(),
              text(bar.baseline(), bar.benchmark()));
    }
    return String.format(
        Locale.ROOT,
        "%s: %s is %.2f times as fast as %s; at least %.2f times is required",
        bar.name(),
        text(bar.benchmark(), bar.baseline()),
        ratio(),
        text(bar.baseline(), bar.benchmark()),
        bar.atLeast());
  }

  /**
   * Returns the name of a side. If both sides have the same benchmark, the name also has the
   * parameters that differ between the sides.
   */
  private static String text(Side side, Side other) {
    return side.benchmark().equals(other.benchmark())
        ? side.benchmark() + differences(side, other)
        : side.benchmark();
  }

  private static String differences(Side side, Side other) {
    return side.parameters().entrySet().stream()
        .filter(entry -> !entry.getValue().equals(other.parameters().get(entry.getKey())))
        .sorted(Map.Entry.comparingByKey())
        .map(entry -> entry.getKey() + "=" + entry.getValue())
        .toList()
        .toString();
  }
}
