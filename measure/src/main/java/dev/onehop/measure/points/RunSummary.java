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
 * The summary that the binding writes when its last thread has cleaned up. YCSB's own run time
 * includes connecting and the warm-up, so throughput is computed from this summary.
 *
 * @param firstOperationNanos when the first measured operation began, by {@link System#nanoTime}
 * @param lastOperationNanos when the last one ended
 * @param measuredSeconds the time between
 * @param operations operations in that time, including failed ones
 * @param errors the failed operations
 * @param mongoDriver the driver's version
 * @param warmupOperations unmeasured operations before
 * @param warmupSeconds the time of the warm-up
 * @param steady whether their rate was steady in the end; null if that was not checked
 * @param error half the width of the 95 % interval of the throughput, as a fraction of it; null if
 *     unknown
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
    @Nullable String mongoDriver,
    long warmupOperations,
    @Nullable Double warmupSeconds,
    @Nullable Boolean steady,
    @Nullable Double error,
    @Nullable Integer windows,
    Map<String, Long> routes) {

  /** The field is missing if routes were not counted. */
  RunSummary {
    routes = routes == null ? Map.of() : routes;
  }

  /** The file that a process's binding writes into its folder. */
  static Path file(Path folder) {
    return folder.resolve("summary.json");
  }

  /**
   * The summary of a process that has ended.
   *
   * @throws Failure if it has written none
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
   * The figures of the process in the format of results.
   *
   * @param errors failed operations, of which the process may have counted fewer
   * @param failures the failed operations by operation and status
   */
  Point.Done done(long errors, Map<String, Long> failures) {
    return new Point.Done(measuredSeconds, operations, errors, perSecond(), List.of(), failures);
  }

  /** Operations per second of the measured time. */
  double perSecond() {
    return measuredSeconds == 0 ? 0 : operations / measuredSeconds;
  }

  static RunSummary read(Path file) throws IOException {
    return JsonMapper.builder().build().readValue(file.toFile(), RunSummary.class);
  }
}
