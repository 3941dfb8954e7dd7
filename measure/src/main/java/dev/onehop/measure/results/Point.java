package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One measured point: a mode at a number of threads with a pool size.
 *
 * @param mode the mode's name, such as {@code targeted-async}
 * @param threads YCSB client threads, each with one operation under way
 * @param connections the pool size per server
 * @param pipelining whether many requests were in flight on each socket
 * @param seconds from the start of the first measured operation to the end of the last
 * @param operations operations done in that time, failed ones included
 * @param errors failed operations among them, and in all other rounds
 * @param throughput operations per second
 * @param rounds the throughput of every round, as they were measured; this one is the median
 * @param limit the closed-loop bound in operations per second; null where it can't be told
 * @param poolLimit the bound that a pool of {@code connections} to one router adds, in operations
 *     per second; null for modes that it doesn't hold for
 * @param meanRoundTripMillis mean round trip of the operations that ran, weighted by owning shard
 * @param share the fraction of operations that each shard served, by the servers' own counters
 * @param besideOwner the fraction of operations that reached their shard from a router on the
 *     shard's own host, by the servers' own evidence; null where there was none
 * @param besideOwnerSample how many operations that fraction was taken from
 * @param cpu processor time per operation; null where nothing is known of it
 * @param conditions how it was measured; null where nothing is known of it
 * @param routes what the client says it decided, per decision; its own counters, no evidence
 * @param failures failed operations per operation and status, empty if there were none
 * @param folder where the point's logs are, relative to the results' folder
 * @param read latencies of reads, null if there were none; likewise the other four
 */
@JsonInclude(Include.ALWAYS)
public record Point(
    String mode,
    int threads,
    int connections,
    boolean pipelining,
    double seconds,
    long operations,
    long errors,
    double throughput,
    List<Double> rounds,
    @Nullable Double limit,
    @Nullable Double poolLimit,
    @Nullable Double meanRoundTripMillis,
    Map<String, Double> share,
    @Nullable Double besideOwner,
    @Nullable Long besideOwnerSample,
    @Nullable CpuPerOperation cpu,
    @Nullable Conditions conditions,
    Map<String, Long> routes,
    Map<String, Long> failures,
    String folder,
    @Nullable LatencySummary read,
    @Nullable LatencySummary update,
    @JsonInclude(Include.NON_NULL) @Nullable LatencySummary insert,
    @JsonInclude(Include.NON_NULL) @Nullable LatencySummary scan,
    @JsonInclude(Include.NON_NULL) @Nullable LatencySummary readModifyWrite) {

  /** Maps that an older or hand-made file left out are empty. */
  public Point {
    rounds = rounds == null || rounds.isEmpty() ? List.of(throughput) : List.copyOf(rounds);
    share = share == null ? Map.of() : share;
    routes = routes == null ? Map.of() : routes;
    failures = failures == null ? Map.of() : failures;
    folder = folder == null ? "" : folder;
  }

  /**
   * A point that was measured several times: the round of median throughput, the lower of two, with
   * the failed operations of all, since those are no outliers to be left out.
   *
   * @param rounds in the order measured, at least one
   */
  public static Point median(List<Point> rounds) {
    List<Point> ascending =
        rounds.stream().sorted(Comparator.comparingDouble(Point::throughput)).toList();
    Point median = ascending.get((ascending.size() - 1) / 2);
    Map<String, Long> failures = new TreeMap<>();
    rounds.forEach(
        round -> round.failures().forEach((what, count) -> failures.merge(what, count, Long::sum)));
    return new Point(
        median.mode,
        median.threads,
        median.connections,
        median.pipelining,
        median.seconds,
        median.operations,
        rounds.stream().mapToLong(Point::errors).sum(),
        median.throughput,
        rounds.stream().map(Point::throughput).toList(),
        median.limit,
        median.poolLimit,
        median.meanRoundTripMillis,
        median.share,
        median.besideOwner,
        median.besideOwnerSample,
        median.cpu,
        median.conditions,
        median.routes,
        failures,
        median.folder,
        median.read,
        median.update,
        median.insert,
        median.scan,
        median.readModifyWrite);
  }

  /** The client, apart from its threads. */
  @JsonIgnore
  public Client client() {
    return new Client(mode, connections, pipelining);
  }

  /** Throughput as a fraction of the closed-loop limit; null where there is no limit. */
  public @Nullable Double ofLimit() {
    return limit == null ? null : (Double) (throughput / limit);
  }

  /** Half the 95 % interval of the throughput in percent of it; null if it is not known. */
  public @Nullable Double errorPercent() {
    Double error = conditions == null ? null : conditions.error();
    return error == null ? null : (Double) (error * 100);
  }

  /** The latencies there are, by the operation's name as YCSB writes it. */
  public Map<String, LatencySummary> latencies() {
    Map<String, LatencySummary> latencies = new LinkedHashMap<>();
    putIfThere(latencies, "READ", read);
    putIfThere(latencies, "UPDATE", update);
    putIfThere(latencies, "INSERT", insert);
    putIfThere(latencies, "SCAN", scan);
    putIfThere(latencies, "READ-MODIFY-WRITE", readModifyWrite);
    return latencies;
  }

  /**
   * Mean latency in microseconds over all single operations; empty count gives null. YCSB's
   * read-modify-write is left out: its parts are counted as a read and an update already.
   */
  public @Nullable Double meanLatency() {
    long count = 0;
    double sum = 0;
    for (Map.Entry<String, LatencySummary> entry : latencies().entrySet()) {
      if (!entry.getKey().equals("READ-MODIFY-WRITE")) {
        count += entry.getValue().count();
        sum += entry.getValue().mean() * entry.getValue().count();
      }
    }
    return count == 0 ? null : sum / count;
  }

  private static void putIfThere(
      Map<String, LatencySummary> latencies, String name, @Nullable LatencySummary summary) {
    if (summary != null && summary.count() > 0) {
      latencies.put(name, summary);
    }
  }
}
