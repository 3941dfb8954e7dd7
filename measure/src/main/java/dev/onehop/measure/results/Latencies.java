package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The latencies of a point by kind of operation, in microseconds. A component is null if there were
 * no operations of this kind. Immutable.
 */
public record Latencies(
    @Nullable LatencySummary read,
    @Nullable LatencySummary update,
    @JsonInclude(Include.NON_NULL) @Nullable LatencySummary insert,
    @JsonInclude(Include.NON_NULL) @Nullable LatencySummary scan,
    @JsonInclude(Include.NON_NULL) @Nullable LatencySummary readModifyWrite) {

  private static final String READ_MODIFY_WRITE = "READ-MODIFY-WRITE";

  /** Reads the latencies from a folder's HdrHistogram logs. */
  public static Latencies of(Path folder) {
    return new Latencies(
        logged(folder, "READ"),
        logged(folder, "UPDATE"),
        logged(folder, "INSERT"),
        logged(folder, "SCAN"),
        logged(folder, READ_MODIFY_WRITE));
  }

  private static @Nullable LatencySummary logged(Path folder, String operation) {
    return HdrLogs.merged(folder, operation).map(LatencySummary::of).orElse(null);
  }

  /** The latencies that are not null, by YCSB's name of the operation. */
  public Map<String, LatencySummary> byOperation() {
    Map<String, LatencySummary> latencies = new LinkedHashMap<>();
    putIfThere(latencies, "READ", read);
    putIfThere(latencies, "UPDATE", update);
    putIfThere(latencies, "INSERT", insert);
    putIfThere(latencies, "SCAN", scan);
    putIfThere(latencies, READ_MODIFY_WRITE, readModifyWrite);
    return latencies;
  }

  private static void putIfThere(
      Map<String, LatencySummary> latencies, String name, @Nullable LatencySummary summary) {
    if (summary != null && summary.count() > 0) {
      latencies.put(name, summary);
    }
  }

  /**
   * The number of single operations. The parts of a read-modify-write count, and the whole does
   * not, because YCSB records both.
   */
  public long count() {
    return single().values().stream().mapToLong(LatencySummary::count).sum();
  }

  /** The mean latency of all single operations, in microseconds; null without operations. */
  public @Nullable Double mean() {
    double sum = single().values().stream().mapToDouble(each -> each.mean() * each.count()).sum();
    long count = count();
    return count == 0 ? null : (Double) (sum / count);
  }

  private Map<String, LatencySummary> single() {
    Map<String, LatencySummary> single = byOperation();
    single.remove(READ_MODIFY_WRITE);
    return single;
  }
}
