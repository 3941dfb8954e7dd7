package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonAlias;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One copy of {@code onehop bench copy}, or one comparison of {@code onehop bench verify}.
 *
 * @param phase {@link #FULL}, {@link #INCREMENTAL} or {@link #VERIFY}
 * @param source {@link #SHARDED} or {@link #REPLICA_SET}
 * @param destination {@link #SHARDED} or {@link #REPLICA_SET}
 * @param collections the number of collections that share the documents
 * @param tool {@link #ONEHOP}, {@link #DRIVER}, or the name of a tool that the user has provided
 * @param round the number of the round, from 1; OneHop and one other tool run in each round
 * @param documents the number of copied documents, or of applied changes
 * @param startSeconds the time from the command until 1 % of the writes at the destination were
 *     done
 * @param seconds the time from then until 99 % of the writes were done; for {@link #VERIFY}, the
 *     whole time of the comparison
 * @param documentsPerSecond the documents or changes per second of {@code seconds}; for {@link
 *     #LAG}, the writes per second at the source
 * @param read the documents that each shard of the source returned, by shard
 * @param written the inserts, updates and deletes of each shard of the destination, by shard
 * @param perRouter the inserts, updates and deletes per second of each router of the destination,
 *     by router; empty without routers
 * @param toolCpuSeconds the processor time of the copying process
 * @param routersCpuSeconds the processor time of all routers of source and destination
 * @param serversCpuSeconds the processor time of all other servers of source and destination
 * @param memoryBytes the largest memory (RSS) of the copying process so far; 0 if unknown
 * @param moves the number of migrations at the source during the copy
 * @param verified whether source and destination were equal after the copy
 * @param lag the time from the issue of a write at the source until its arrival at the destination,
 *     in microseconds; only for {@link #LAG}
 * @param series the inserts, updates and deletes per second of the destination's shards, by second
 */
public record CopyBenchRun(
    String phase,
    String source,
    String destination,
    int collections,
    @JsonAlias("way") String tool,
    int round,
    long documents,
    double startSeconds,
    double seconds,
    double documentsPerSecond,
    Map<String, Long> read,
    Map<String, Long> written,
    Map<String, Double> perRouter,
    double toolCpuSeconds,
    double routersCpuSeconds,
    double serversCpuSeconds,
    long memoryBytes,
    int moves,
    boolean verified,
    @JsonInclude(Include.NON_NULL) @Nullable LatencySummary lag,
    List<Double> series) {

  /** The phase of a copy of all documents. */
  public static final String FULL = "full";

  /** The phase of a copy of a backlog of changes. */
  public static final String INCREMENTAL = "incremental";

  /**
   * The kind of a copy of changes that are written at a rate. Only runs of this kind have a lag.
   */
  public static final String LAG = "lag";

  /** A sharded cluster. */
  public static final String SHARDED = "sharded";

  /** A replica set. */
  public static final String REPLICA_SET = "replica-set";

  /** The phase of a comparison. */
  public static final String VERIFY = "verify";

  /** The plain driver through one mongos. */
  public static final String DRIVER = "driver-one-mongos";

  /** OneHop. */
  public static final String ONEHOP = "onehop";

  /** The names of the tools in earlier files. */
  private static final Map<String, String> EARLIER =
      Map.of("one-router", DRIVER, "per-shard", ONEHOP);

  /** Replaces a tool's name in an earlier file by its present name. */
  public CopyBenchRun {
    tool = EARLIER.getOrDefault(tool, tool);
  }

  /** The kind of the run: {@link #FULL}, {@link #INCREMENTAL}, {@link #LAG} or {@link #VERIFY}. */
  public String kind() {
    return lag == null ? phase : LAG;
  }

  /** The title of the measurement. All runs of a measurement have the same title. */
  public String title() {
    String ends = source.equals(destination) ? source : source + " to " + destination;
    return kind()
        + ", "
        + ends.replace('-', ' ')
        + ", "
        + collections
        + (collections == 1 ? " collection" : " collections");
  }

  /**
   * The difference between the busiest and the least busy router, as a fraction of the mean; null
   * without routers.
   */
  public @Nullable Double routerSpread() {
    double mean = perRouter.values().stream().mapToDouble(rate -> rate).average().orElse(0);
    return mean == 0
        ? null
        : (Double)
            ((Collections.max(perRouter.values()) - Collections.min(perRouter.values())) / mean);
  }

  /**
   * The mean number of processors that the process, the routers and the servers used since the
   * command.
   */
  @JsonProperty(access = JsonProperty.Access.READ_ONLY)
  public double cores() {
    double time = startSeconds + seconds;
    return time == 0 ? 0 : (toolCpuSeconds + routersCpuSeconds + serversCpuSeconds) / time;
  }

  /**
   * The processor time of the process, the routers and the servers together, per 1,000 documents.
   */
  public double cpuPer1000() {
    return documents == 0
        ? 0
        : (toolCpuSeconds + routersCpuSeconds + serversCpuSeconds) * 1_000 / documents;
  }
}
