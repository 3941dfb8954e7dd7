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
 * @param round the round, from 1 on; OneHop and one other tool are in each
 * @param documents the number of copied documents, or of applied changes
 * @param startSeconds from the command until the destination had written the first hundredth
 * @param seconds from then until it had written all but the last hundredth
 * @param documentsPerSecond documents or changes per second of that time; for {@link #LAG} the
 *     writes at the source
 * @param read documents that each shard of the source returned, by shard
 * @param written inserts, updates and deletes of each shard of the destination, by shard
 * @param perRouter the same per second of each router of the destination, by router; empty without
 *     routers
 * @param toolCpuSeconds processor time of the copying process
 * @param routersCpuSeconds processor time of all routers of both sides
 * @param serversCpuSeconds processor time of all other servers of both sides
 * @param memoryBytes the most memory (RSS) of the copying process until then; 0 if unknown
 * @param moves migrations at the source during the copy
 * @param verified whether source and destination were equal afterwards
 * @param lag for {@link #LAG}: from the issue of a write at the source until its arrival at the
 *     destination, in microseconds
 * @param series inserts, updates and deletes per second of the destination's shards, by second
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

  /** A copy of all documents. */
  public static final String FULL = "full";

  /** A copy of a backlog of changes. */
  public static final String INCREMENTAL = "incremental";

  /** {@link #INCREMENTAL} of changes at a rate, which has a lag. */
  public static final String LAG = "lag";

  /** A sharded cluster. */
  public static final String SHARDED = "sharded";

  /** A replica set. */
  public static final String REPLICA_SET = "replica-set";

  /** A comparison. */
  public static final String VERIFY = "verify";

  /** The plain driver through one mongos. */
  public static final String DRIVER = "driver-one-mongos";

  /** OneHop. */
  public static final String ONEHOP = "onehop";

  /** The names of the tools in earlier files. */
  private static final Map<String, String> EARLIER =
      Map.of("one-router", DRIVER, "per-shard", ONEHOP);

  /** Earlier files have other names of the tools. */
  public CopyBenchRun {
    tool = EARLIER.getOrDefault(tool, tool);
  }

  /** {@link #FULL}, {@link #INCREMENTAL}, {@link #LAG} or {@link #VERIFY}. */
  public String kind() {
    return lag == null ? phase : LAG;
  }

  /** The title of the measurement, common to its runs. */
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
