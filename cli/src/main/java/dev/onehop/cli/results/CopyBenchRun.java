package dev.onehop.cli.results;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One copy of {@code onehop copy --bench}.
 *
 * @param kind {@link #FULL}, {@link #INCREMENTAL} or {@link #LAG}
 * @param setup {@link #SHARDED}, {@link #REPLICA_SET}, or from which of both to which
 * @param collections how many collections share the documents
 * @param way {@link #ONE} or {@link #OURS}
 * @param round the round, from 1 on; both ways are in each
 * @param documents documents that were copied, or changes that were applied
 * @param startSeconds from the command until the destination had written the first hundredth
 * @param seconds from then until it had written all but the last hundredth
 * @param perSecond documents or changes per second of that time; of {@link #LAG} those that were
 *     written at the source
 * @param read documents that each shard of the source gave, by shard
 * @param written statements that write which each shard of the destination was given, by shard
 * @param routed the same of each router of the destination, by router; empty without routers
 * @param toolCpuSeconds processor time of the process that copied
 * @param routersCpuSeconds that of all routers of both sides
 * @param serversCpuSeconds that of all other servers of both sides
 * @param memoryBytes the most memory (RSS) that the process that copied had until then; 0 where
 *     that is not told
 * @param moves ranges that were moved at the source meanwhile
 * @param equal whether source and destination were equal afterwards
 * @param lag of {@link #LAG}: from when a write was issued at the source until it is seen at the
 *     destination, in microseconds
 * @param series statements that write per second of the destination's shards, second by second
 */
public record CopyBenchRun(
    String kind,
    String setup,
    int collections,
    String way,
    int round,
    long documents,
    double startSeconds,
    double seconds,
    double perSecond,
    Map<String, Long> read,
    Map<String, Long> written,
    Map<String, Long> routed,
    double toolCpuSeconds,
    double routersCpuSeconds,
    double serversCpuSeconds,
    long memoryBytes,
    int moves,
    boolean equal,
    @JsonInclude(Include.NON_NULL) @Nullable LatencySummary lag,
    List<Double> series) {

  /** All documents. */
  public static final String FULL = "full";

  /** A backlog of changes. */
  public static final String INCREMENTAL = "incremental";

  /** Changes as they come, at a rate. */
  public static final String LAG = "lag";

  /** From a sharded cluster to another one. */
  public static final String SHARDED = "sharded";

  /** From a replica set to another one. */
  public static final String REPLICA_SET = "replica set";

  /** By way of one router, as MongoShake does. */
  public static final String ONE = "one";

  /** OneHop's copy. */
  public static final String OURS = "ours";

  /** What a file left out is none. */
  public CopyBenchRun {
    read = read == null ? Map.of() : read;
    written = written == null ? Map.of() : written;
    routed = routed == null ? Map.of() : routed;
    series = series == null ? List.of() : List.copyOf(series);
  }

  /**
   * The same as one of {@link #LAG}.
   *
   * @param rate at which it was written
   */
  public CopyBenchRun withLag(double rate, LatencySummary measured) {
    return new CopyBenchRun(
        kind,
        setup,
        collections,
        way,
        round,
        documents,
        startSeconds,
        seconds,
        rate,
        read,
        written,
        routed,
        toolCpuSeconds,
        routersCpuSeconds,
        serversCpuSeconds,
        memoryBytes,
        moves,
        equal,
        measured,
        series);
  }

  /** What it is one of several runs of, in words. */
  @JsonIgnore
  public String title() {
    return kind
        + ", "
        + setup
        + ", "
        + collections
        + (collections == 1 ? " collection" : " collections");
  }

  /**
   * How much more the busiest router had than the idlest, as a fraction of the mean; null of none.
   */
  @JsonIgnore
  public @Nullable Double routerSpread() {
    double mean = routed.values().stream().mapToLong(Long::longValue).average().orElse(0);
    return mean == 0
        ? null
        : (Double) ((Collections.max(routed.values()) - Collections.min(routed.values())) / mean);
  }

  /** Processor time of the process, the routers and the servers in all, per 1,000 documents. */
  @JsonIgnore
  public double cpuPer1000() {
    return documents == 0
        ? 0
        : (toolCpuSeconds + routersCpuSeconds + serversCpuSeconds) * 1_000 / documents;
  }
}
