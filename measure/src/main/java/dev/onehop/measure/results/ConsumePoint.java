package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A point of {@code onehop consume}.
 *
 * @param source {@code direct} or {@code mongos}
 * @param order {@code key} or {@code total}: the order of events of different keys
 * @param channels the number of channels of all processes
 * @param processes the number of processes that shared them
 * @param kind {@link #DRAIN}, {@link #LIVE} or {@link #IDLE}
 * @param rows rows that were written and acknowledged for this point
 * @param seconds the measured time: for a drain from opening the stream to the last row
 * @param rowsPerSecond rows that consumers took per second of it
 * @param millisPer1000 milliseconds per 1,000 rows
 * @param cores processors that consumers kept busy; null if unknown
 * @param rowsPerSecondAndCore rows per second divided by {@code cores}
 * @param routerCores processors that routers kept busy; null if unknown
 * @param mongodCores processors that the servers behind the routers kept busy; null if unknown
 * @param memoryBytes the most memory (RSS) of all consumers together; 0 if unknown
 * @param mbitPerSecond events as BSON, without protocol, in 10^6 bits per second
 * @param writtenPerSecond acknowledged rows of the writer per second; null for a drain
 * @param lag from the commit to the arrival of the row at the consumer, in microseconds; null for a
 *     drain, and without servers that report this machine's clock
 * @param sinceIssued from the issue of the write to the arrival of the row; null for a drain
 * @param lost acknowledged rows that did not arrive
 * @param doubled rows that arrived again
 * @param outOfOrder rows that arrived after a later version, in another channel than before, or
 *     against the order of all events if there is one
 * @param unexpected rows that arrived but were not acknowledged
 * @param negativeLags lags below zero, which histograms cannot record; none unless a clock was set
 * @param windows rows per second in each interval of five seconds; the last may be shorter
 * @param folder the folder of its logs, relative to the results' folder
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

  /** Reads while rows are written at a low rate and one shard has no rows. */
  public static final String IDLE = "idle-shard";

  /** Rows that are lost, doubled, out of order or unexpected. */
  public long faults() {
    return lost + doubled + outOfOrder + unexpected;
  }
}
