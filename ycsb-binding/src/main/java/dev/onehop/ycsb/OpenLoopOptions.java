package dev.onehop.ycsb;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import site.ycsb.Client;

/**
 * The options of operations that are issued at intended times.
 *
 * @param rate operations per second
 * @param arrivals the distribution of the intended times
 * @param operations the largest number of operations; a read-modify-write counts as one
 * @param duration the time for which operations are issued; null for no limit
 * @param threads the largest number of operations in flight with the synchronous driver; not used
 *     with the reactive driver
 * @param latencies the file for the latencies of each second; null for no file
 * @param drain the longest wait for replies after the last operation was issued
 * @param byShard whether latencies are separated by the record's shard
 * @param burst the number of operations with the same intended time, on the same client
 * @param instances the number of clients of the cluster, which have their own pools and take turns
 */
record OpenLoopOptions(
    double rate,
    Arrivals arrivals,
    long operations,
    @Nullable Duration duration,
    int threads,
    @Nullable Path latencies,
    Duration drain,
    boolean byShard,
    int burst,
    int instances) {

  static final String RATE = "onehop.rate";
  static final String ARRIVALS = "onehop.arrivals";
  static final String LATENCIES = "onehop.latencies";
  static final String BY_SHARD = "onehop.byshard";
  static final String BURST = "onehop.burst";
  static final String INSTANCES = "onehop.instances";

  static final String DRAIN = "onehop.drain";

  private static final Duration DEFAULT_DRAIN = Duration.ofSeconds(30);

  /** The default size of the driver's pool. */
  private static final int DEFAULT_THREADS = 100;

  /** The distribution of intended times. */
  enum Arrivals {
    /** Equal gaps. */
    CONSTANT,
    /** As from many independent users: gaps are exponentially distributed. */
    POISSON
  }

  /**
   * Reads the options.
   *
   * @return null if no rate is given, so that the run is a closed loop
   * @throws InvalidPropertyException if a value is invalid
   */
  static @Nullable OpenLoopOptions of(Properties properties) {
    PropertyReader reader = new PropertyReader(properties);
    Double rate = reader.positiveDecimal(RATE);
    Arrivals arrivals =
        reader.oneOf(ARRIVALS, Map.of("constant", Arrivals.CONSTANT, "poisson", Arrivals.POISSON));
    String latencies = reader.text(LATENCIES);
    boolean byShard = reader.flag(BY_SHARD);
    String drain = reader.text(DRAIN);
    Integer burst = reader.positive(BURST);
    Integer instances = reader.positive(INSTANCES);
    if (rate == null) {
      if (arrivals != null
          || latencies != null
          || byShard
          || drain != null
          || burst != null
          || instances != null) {
        throw new InvalidPropertyException(
            "%s, %s, %s, %s, %s and %s require %s"
                .formatted(ARRIVALS, LATENCIES, BY_SHARD, DRAIN, BURST, INSTANCES, RATE));
      }
      return null;
    }
    if (properties.containsKey(Client.TARGET_PROPERTY)) {
      throw new InvalidPropertyException("%s and -target exclude each other".formatted(RATE));
    }
    Integer seconds = reader.positive(Client.MAX_EXECUTION_TIME);
    Integer operations = reader.positive(Client.OPERATION_COUNT_PROPERTY);
    Integer threads = reader.positive(Client.THREAD_COUNT_PROPERTY);
    return new OpenLoopOptions(
        rate,
        arrivals == null ? Arrivals.CONSTANT : arrivals,
        operations == null ? Long.MAX_VALUE : operations,
        seconds == null ? null : Duration.ofSeconds(seconds),
        threads == null ? DEFAULT_THREADS : threads,
        latencies == null ? null : Path.of(latencies),
        drain == null ? DEFAULT_DRAIN : reader.millis(DRAIN),
        byShard,
        burst == null ? 1 : burst,
        instances == null ? 1 : instances);
  }
}
