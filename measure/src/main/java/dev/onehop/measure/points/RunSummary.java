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
 * contains connecting and warm-up, so throughput is computed from this one.
 *
 * @param firstOperationNanos when the first measured operation began, by {@link System#nanoTime}
 * @param lastOperationNanos when the last one ended
 * @param measuredSeconds the time between
 * @param operations operations in that time, failed ones included
 * @param errors failed ones among them
 * @param mongoDriver the driver's version
 * @param warmupOperations unmeasured operations before
 * @param warmupSeconds how long these took
 * @param steady whether their rate was steady by then; null if that was not judged
 * @param error half the width of the 95 % interval of the throughput, as a fraction of it; null if
 *     it is not known
 * @param windows of how many windows that is; null likewise
 * @param routes how many operations were decided which way, by the client's own counters
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

  /** Routes that were not counted are none. */
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
      throw Failure.run("YCSB did not run to its end" + why + "; its output is in " + folder, e);
    }
  }

  /**
   * What the process did, as results have it.
   *
   * @param errors failed operations, of which it may know fewer
   * @param failures the same by operation and status
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
