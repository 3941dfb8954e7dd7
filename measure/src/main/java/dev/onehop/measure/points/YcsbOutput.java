package dev.onehop.measure.points;

import dev.onehop.resync.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The final output of a YCSB process. Only this output shows whether a run finished, and with which
 * errors, because YCSB's exit code is 0 after most failures.
 *
 * @param complete whether the final measurements of the run were printed
 * @param failures failed operations, by kind and status such as {@code READ ERROR}
 */
record YcsbOutput(boolean complete, Map<String, Long> failures) {

  private static final Pattern LINE = Pattern.compile("\\[([^]]+)], ([^,]+), ([-0-9.Ee]+)\\s*");
  private static final String FAILED = "-FAILED";

  /**
   * Reads the standard output of a process that has ended.
   *
   * @throws Failure if the output can't be read
   */
  static YcsbOutput read(Path stdout) {
    try {
      return parse(Files.readString(stdout));
    } catch (IOException e) {
      throw Failure.run("cannot read YCSB's output in " + stdout, e);
    }
  }

  /** Returns the complete output of several processes together. */
  static YcsbOutput merged(List<YcsbOutput> outputs) {
    Map<String, Long> failures = new TreeMap<>();
    outputs.forEach(
        output -> output.failures.forEach((name, count) -> failures.merge(name, count, Long::sum)));
    return new YcsbOutput(true, failures);
  }

  static YcsbOutput parse(String text) {
    Map<String, Long> byStatus = new TreeMap<>();
    Map<String, Long> failedSeries = new TreeMap<>();
    boolean complete = false;
    for (String line : text.lines().toList()) {
      Matcher matcher = LINE.matcher(line);
      if (!matcher.matches()) {
        continue;
      }
      String series = matcher.group(1);
      String name = matcher.group(2);
      long value = (long) Double.parseDouble(matcher.group(3));
      if (series.equals("OVERALL")) {
        complete = true;
      } else if (name.startsWith("Return=")) {
        String status = name.substring("Return=".length());
        if (!status.equals("OK") && !status.equals("BATCHED_OK")) {
          byStatus.merge(series.replace(FAILED, "") + " " + status, value, Long::sum);
        }
      } else if (name.equals("Operations") && series.endsWith(FAILED)) {
        failedSeries.put(series.replace(FAILED, ""), value);
      }
    }
    // YCSB reports failed operations twice, and either report may be missing. One report has the
    // statuses. The other has the series with -FAILED in their names.
    failedSeries.forEach(
        (operation, failed) -> {
          long known =
              byStatus.entrySet().stream()
                  .filter(entry -> entry.getKey().startsWith(operation + " "))
                  .mapToLong(Map.Entry::getValue)
                  .sum();
          if (failed > known) {
            byStatus.merge(operation + " FAILED", failed - known, Long::sum);
          }
        });
    return new YcsbOutput(complete, byStatus);
  }

  /** The number of failed operations. */
  long errors() {
    return failures.values().stream().mapToLong(Long::longValue).sum();
  }
}
