package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A point of {@code onehop consume}.
 *
 * @param source {@code direct} or {@code mongos}
 * @param order {@code key} or {@code total}: in which order events of different keys came
 * @param channels how many channels, over all processes
 * @param processes how many processes shared them
 * @param kind {@link #DRAIN}, {@link #LIVE} or {@link #IDLE}
 * @param rows rows that were written and acknowledged for this point
 * @param seconds how long it was measured: a drain from opening the stream to the last row
 * @param rowsPerSecond rows that consumers took per second of it
 * @param millisPer1000 milliseconds per 1,000 rows
 * @param cores processors that consumers kept busy; null where that is not told
 * @param rowsPerSecondAndCore rows per second divided by these
 * @param routerCores processors that routers kept busy; null where that is not told
 * @param mongodCores the same of all servers behind them
 * @param memoryBytes the most memory (RSS) of all consumers together; 0 where that is not told
 * @param mbitPerSecond events as BSON, without protocol, in 10^6 bits per second
 * @param writtenPerSecond rows that were acknowledged to the writer per second; null for a drain
 * @param lag from the commit to when the consumer has the row, in microseconds; null for a drain,
 *     and where servers don't tell their clock or have another one
 * @param sinceIssued from when the write was issued, the write included; null for a drain
 * @param lost rows that were acknowledged and never came
 * @param doubled rows that came again
 * @param outOfOrder rows that came after a later version of themselves, in another channel than
 *     before, or against the order of all events where they have one
 * @param unexpected rows that came and were never acknowledged
 * @param negativeLags lags below zero, which no histogram can hold; none unless a clock was set
 * @param windows rows per second of each five seconds; the last may be shorter
 * @param folder where its logs are, relative to the results' folder
 */
public record ConsumePoint(
    String source,
    String order,
    int channels,
    int processes,
    String kind,
    long rows,
    double seconds,
    double rowsPerSecond,
    double millisPer1000,
    @Nullable Double cores,
    @Nullable Double rowsPerSecondAndCore,
    @Nullable Double routerCores,
    @Nullable Double mongodCores,
    long memoryBytes,
    double mbitPerSecond,
    @JsonInclude(Include.NON_NULL) @Nullable Double writtenPerSecond,
    @JsonInclude(Include.NON_NULL) @Nullable LatencySummary lag,
    @JsonInclude(Include.NON_NULL) @Nullable LatencySummary sinceIssued,
    long lost,
    long doubled,
    long outOfOrder,
    long unexpected,
    @JsonInclude(Include.NON_DEFAULT) long negativeLags,
    List<Double> windows,
    String folder) {

  /** The HdrHistogram log of {@code lag} in the point's folder. */
  public static final String LAG_LOG = "LAG";

  /** The HdrHistogram log of {@code sinceIssued} in the point's folder. */
  public static final String SINCE_ISSUED_LOG = "SINCE-ISSUED";

  /** Reads a finished backlog. */
  public static final String DRAIN = "drain";

  /** Reads while rows are written. */
  public static final String LIVE = "live";

  /** The same, while one shard has no rows, and at a low rate. */
  public static final String IDLE = "idle-shard";

  /** Windows that a file left out are none. */
  public ConsumePoint {
    windows = windows == null ? List.of() : List.copyOf(windows);
  }

  /** Rows that are lost, doubled, out of order or unexpected. */
  @JsonIgnore
  public long faults() {
    return lost + doubled + outOfOrder + unexpected;
  }
}
