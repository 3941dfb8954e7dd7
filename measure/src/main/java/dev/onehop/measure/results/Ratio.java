package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import org.jspecify.annotations.Nullable;

/**
 * A client compared with the best configuration of the official drivers, at the same number of
 * threads or the same rate.
 *
 * @param metric the figure to compare: {@link #THROUGHPUT}, or {@link #P99} of the latency
 * @param client the client
 * @param peer the best official client, which has the highest throughput or the lowest p99
 * @param threads the number of threads of each client; null at a rate
 * @param rate the operations per second of each client; null in a closed loop
 * @param ratio the figure of {@code client} divided by the figure of {@code peer}: the geometric
 *     mean over the rounds
 * @param low the lower end of the 95 % interval of the ratio; null with too few rounds
 * @param high the upper end of the interval; null with too few rounds
 * @param rounds the number of rounds in which both clients were measured
 * @param claim the conclusion from the interval
 */
public record Ratio(
    String metric,
    Client client,
    Client peer,
    @JsonInclude(Include.NON_NULL) @Nullable Integer threads,
    @JsonInclude(Include.NON_NULL) @Nullable Double rate,
    double ratio,
    @Nullable Double low,
    @Nullable Double high,
    int rounds,
    Claim claim) {

  /** The {@link #metric} of operations per second in a closed loop. */
  public static final String THROUGHPUT = "throughput";

  /** The {@link #metric} of the 99th percentile of the latency from the intended time. */
  public static final String P99 = "p99";

  /** The conclusion from an interval. */
  public enum Claim {
    /** The whole interval is above 1. */
    HIGHER,
    /** The whole interval is below 1. */
    LOWER,
    /** The interval includes 1. */
    NO_DIFFERENCE_SHOWN,
    /** There is no interval. */
    TOO_FEW_ROUNDS
  }
}
