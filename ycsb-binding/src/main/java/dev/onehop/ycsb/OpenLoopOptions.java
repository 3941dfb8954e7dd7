package dev.onehop.ycsb;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import site.ycsb.Client;

/**
 * What a run's properties say of operations that are issued at intended times.
 *
 * @param rate operations per second
 * @param arrivals how the times are spread
 * @param operations how many are issued at most; a read-modify-write is one
 * @param duration how long operations are issued, or null until there are enough
 * @param threads for the synchronous driver: how many operations may be under way
 * @param latencies the file for the latencies of each second, or null for none
 * @param byShard whether latencies are told apart by the shard that has the record
 */
record OpenLoopOptions(
    double rate,
    Arrivals arrivals,
    long operations,
    @Nullable Duration duration,
    int threads,
    @Nullable Path latencies,
    boolean byShard) {

  static final String RATE = "onehop.rate";
  static final String ARRIVALS = "onehop.arrivals";
  static final String LATENCIES = "onehop.latencies";
  static final String BY_SHARD = "onehop.byshard";

  /** As many as the driver's pool has connections by default. */
  private static final int DEFAULT_THREADS = 100;

  /** How intended times are spread. */
  enum Arrivals {
    /** Evenly. */
    CONSTANT,
    /** As of many independent users: gaps are exponentially distributed. */
    POISSON
  }

  /**
   * Reads the options.
   *
   * @return null if no rate is given: the run is a closed loop
   * @throws InvalidPropertyException if a value can't be taken
   */
  static @Nullable OpenLoopOptions of(Properties properties) {
    PropertyReader reader = new PropertyReader(properties);
    Double rate = reader.positiveDecimal(RATE);
    Arrivals arrivals =
        reader.oneOf(ARRIVALS, Map.of("constant", Arrivals.CONSTANT, "poisson", Arrivals.POISSON));
    String latencies = reader.text(LATENCIES);
    boolean byShard = reader.flag(BY_SHARD);
    if (rate == null) {
      if (arrivals != null || latencies != null || byShard) {
        throw new InvalidPropertyException(
            "%s, %s and %s go with %s".formatted(ARRIVALS, LATENCIES, BY_SHARD, RATE));
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
        byShard);
  }
}
