package dev.onehop.measure.points;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.onehop.measure.results.Point;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The summary that the binding writes when its last thread has cleaned up. The throughput comes
 * from this summary, because YCSB's own run time includes connecting and the warm-up.
 *
 * @param firstOperationNanos the time when the first measured operation began, by {@link
 *     System#nanoTime}
 * @param lastOperationNanos the time when the last measured operation ended, by {@link
 *     System#nanoTime}
 * @param measuredSeconds the time between these two times
 * @param operations the number of operations in that time, including failed operations
 * @param errors the number of failed operations
 * @param warmupSeconds the time of the warm-up
 * @param steady whether the rate was steady at the end of the warm-up; null if that was not checked
 * @param error half the width of the 95 % interval of the throughput, as a fraction of the
 *     throughput; null if unknown
 * @param windows the number of windows for the error; null if unknown
 * @param routes the number of operations by route, from the client's own counters
 */
@JsonIgnoreProperties(ignoreUnknown = true)
record RunSummary(
    long firstOperationNanos,
    long lastOperationNanos,
    double measuredSeconds,
    long operations,
    long errors,
    @Nullable Double warmupSeconds,
    @Nullable Boolean steady,
    @Nullable Double error,
    @Nullable Integer windows,
    Map<String, Long> routes) {

  /** Replaces a missing field: it is missing if routes were not counted. */
  RunSummary {
    routes = routes == null ? Map.of() : routes;
  }

  /** Returns the file that a process's binding writes into its folder. */
  static Path file(Path folder) {
    return folder.resolve("summary.json");
  }

  /**
   * Reads the summary of a process that has ended.
   *
   * @throws Failure if the process has written no summary
   */
  static RunSummary of(Path folder) {
    try {
      return read(file(folder));
    } catch (IOException e) {
      String why = YcsbClients.complaint(folder).map(line -> ": " + line).orElse("");
      throw Failure.run("YCSB did not finish" + why + "; its output is in " + folder, e);
    }
  }

  /**
   * Returns the figures of the process in the format of results.
   *
   * @param errors the number of failed operations; the process itself may have counted fewer
   * @param failures the failed operations by operation and status
   */
  Point.Done done(long errors, Map<String, Long> failures) {
    return new Point.Done(measuredSeconds, operations, errors, perSecond(), List.of(), failures);
  }

  /** The operations per second in the measured time. */
  double perSecond() {
    return measuredSeconds == 0 ? 0 : operations / measuredSeconds;
  }

  static RunSummary read(Path file) throws IOException {
    return JsonMapper.builder().build().readValue(file.toFile(), RunSummary.class);
  }
}
