package dev.onehop.measure.points;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A status line that YCSB writes to its standard error once per interval.
 *
 * @param operations operations done since the start
 * @param currentRate operations per second in the last interval
 */
record StatusLine(long operations, double currentRate) {

  private static final Pattern STATUS =
      Pattern.compile("\\b\\d+ sec: (\\d+) operations; (?:([\\d.,]+) current ops/sec; )?.*");

  /** Parses a line; empty if it is another kind of line. */
  static Optional<StatusLine> parse(String line) {
    Matcher matcher = STATUS.matcher(line);
    if (!matcher.find()) {
      return Optional.empty();
    }
    String rate = matcher.group(2);
    return Optional.of(
        new StatusLine(Long.parseLong(matcher.group(1)), rate == null ? 0 : number(rate)));
  }

  /** YCSB formats the rate in its own locale: a comma may stand for the decimal point. */
  private static double number(String text) {
    return Double.parseDouble(text.replace(',', '.'));
  }
}
