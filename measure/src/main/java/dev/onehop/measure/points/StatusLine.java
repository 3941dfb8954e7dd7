package dev.onehop.measure.points;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A status line of YCSB, which YCSB prints to its standard error once per second.
 *
 * @param operations the number of operations since the start
 * @param currentRate the operations per second in the last second
 * @param p99 the 99th percentile of the latency in the last second, in microseconds, of the slowest
 *     kind of operation; 0 if unknown
 * @param failed the number of operations that failed in the last second
 */
record StatusLine(long operations, double currentRate, long p99, long failed) {

  private static final Pattern STATUS =
      Pattern.compile("\\b\\d+ sec: (\\d+) operations; (?:([\\d.,]+) current ops/sec; )?.*");
  private static final Pattern SERIES =
      Pattern.compile("\\[([A-Z-]+): Count=(\\d+),[^]]*?\\b99=(\\d+)[^]]*]");

  /** Parses a line. The result is empty if the line is not a status line. */
  static Optional<StatusLine> parse(String line) {
    Matcher matcher = STATUS.matcher(line);
    if (!matcher.find()) {
      return Optional.empty();
    }
    long p99 = 0;
    long failed = 0;
    Matcher series = SERIES.matcher(line);
    while (series.find()) {
      if (series.group(1).endsWith("-FAILED")) {
        failed += Long.parseLong(series.group(2));
      } else if (!series.group(1).equals("CLEANUP")) {
        p99 = Math.max(p99, Long.parseLong(series.group(3)));
      }
    }
    String rate = matcher.group(2);
    // The decimal point may be a comma, because YCSB formats the rate by the locale.
    double perSecond = rate == null ? 0 : Double.parseDouble(rate.replace(',', '.'));
    return Optional.of(new StatusLine(Long.parseLong(matcher.group(1)), perSecond, p99, failed));
  }

  /** Returns the status of several clients together. */
  static StatusLine sum(Collection<StatusLine> lines) {
    return new StatusLine(
        lines.stream().mapToLong(StatusLine::operations).sum(),
        lines.stream().mapToDouble(StatusLine::currentRate).sum(),
        lines.stream().mapToLong(StatusLine::p99).max().orElse(0),
        lines.stream().mapToLong(StatusLine::failed).sum());
  }

  /**
   * Returns the text for the live line, such as {@code 341 operations, 114/s, p99 70.5 ms, 0
   * failed}.
   */
  String text() {
    return String.format(
        Locale.ROOT,
        "%,d operations, %,.0f/s%s, %,d failed",
        operations,
        currentRate,
        p99 == 0 ? "" : String.format(Locale.ROOT, ", p99 %,.1f ms", p99 / 1e3),
        failed);
  }
}
