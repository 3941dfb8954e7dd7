package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonAlias;
import com.fasterxml.jackson.annotation.JsonIgnore;
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
 * @param destination the same of where it was copied to
 * @param collections how many collections share the documents
 * @param tool {@link #ONEHOP}, {@link #DRIVER}, or the name of a tool that the user has brought
 * @param round the round, from 1 on; OneHop and one other tool are in each
 * @param documents documents that were copied, or changes that were applied
 * @param startSeconds from the command until the destination had written the first hundredth
 * @param seconds from then until it had written all but the last hundredth
 * @param documentsPerSecond documents or changes per second of that time; of {@link #LAG} those
 *     that were written at the source
 * @param read documents that each shard of the source gave, by shard
 * @param written statements that write which each shard of the destination was given, by shard
 * @param perRouter the same per second of each router of the destination, by router; empty without
 *     routers
 * @param toolCpuSeconds processor time of the process that copied
 * @param routersCpuSeconds that of all routers of both sides
 * @param serversCpuSeconds that of all other servers of both sides
 * @param memoryBytes the most memory (RSS) that the process that copied had until then; 0 where
 *     that is not told
 * @param moves ranges that were moved at the source meanwhile
 * @param verified whether source and destination were equal afterwards
 * @param lag of {@link #LAG}: from when a write was issued at the source until it is seen at the
 *     destination, in microseconds
 * @param series statements that write per second of the destination's shards, second by second
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

  /** All documents. */
  public static final String FULL = "full";

  /** A backlog of changes. */
  public static final String INCREMENTAL = "incremental";

  /** {@link #INCREMENTAL} of changes as they come, at a rate: what has a lag. */
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

  /** What earlier files call the tools. */
  private static final Map<String, String> EARLIER =
      Map.of("one-router", DRIVER, "per-shard", ONEHOP);

  /** What a file left out is none. */
  public CopyBenchRun {
    tool = EARLIER.getOrDefault(tool, tool);
    read = read == null ? Map.of() : read;
    written = written == null ? Map.of() : written;
    perRouter = perRouter == null ? Map.of() : perRouter;
    series = series == null ? List.of() : List.copyOf(series);
  }

  /** {@link #FULL}, {@link #INCREMENTAL}, {@link #LAG} or {@link #VERIFY}. */
  @JsonIgnore
  public String kind() {
    return lag == null ? phase : LAG;
  }

  /** What it is one of several runs of, in words. */
  @JsonIgnore
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
   * How much more the busiest router had than the idlest, as a fraction of the mean; null of none.
   */
  @JsonIgnore
  public @Nullable Double routerSpread() {
    double mean = perRouter.values().stream().mapToDouble(rate -> rate).average().orElse(0);
    return mean == 0
        ? null
        : (Double)
            ((Collections.max(perRouter.values()) - Collections.min(perRouter.values())) / mean);
  }

  /**
   * Processors that the process, the routers and the servers used on average, from the command on.
   */
  @JsonProperty(access = JsonProperty.Access.READ_ONLY)
  public double cores() {
    double time = startSeconds + seconds;
    return time == 0 ? 0 : (toolCpuSeconds + routersCpuSeconds + serversCpuSeconds) / time;
  }

  /** Processor time of the process, the routers and the servers in all, per 1,000 documents. */
  @JsonIgnore
  public double cpuPer1000() {
    return documents == 0
        ? 0
        : (toolCpuSeconds + routersCpuSeconds + serversCpuSeconds) * 1_000 / documents;
  }
}
