package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import org.jspecify.annotations.Nullable;

/**
 * A client compared with the best configuration of the official drivers, at the same threads or the
 * same rate.
 *
 * @param metric the figure to compare: {@link #THROUGHPUT}, or {@link #P99} of the latency
 * @param client the client
 * @param peer the best official client: with the highest throughput, or with the lowest p99
 * @param threads threads of both; null at a rate
 * @param rate operations per second of both; null in a closed loop
 * @param ratio the client's figure divided by the peer's: the geometric mean over the rounds
 * @param low the lower end of the 95 % interval of the ratio; null with too few rounds
 * @param high its upper end; null likewise
 * @param rounds the number of rounds in which both were measured
 * @param claim the conclusion from the interval
 */
@JsonInclude(Include.ALWAYS)
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

  /** {@link #metric}: operations per second of a closed loop. */
  public static final String THROUGHPUT = "throughput";

  /** {@link #metric}: 99th percentile of the latency from the intended time. */
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
