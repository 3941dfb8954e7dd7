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
 * @param processes the number of processes that shared the channels
 * @param kind {@link #DRAIN}, {@link #LIVE} or {@link #IDLE}
 * @param rows the number of rows that were written and acknowledged for this point
 * @param seconds the measured time; for a drain, the time from the opening of the stream to the
 *     last row
 * @param rowsPerSecond the rows that arrived per second of the measured time
 * @param millisPer1000 the milliseconds per 1,000 rows
 * @param cores the number of processors that consumers kept busy; null if unknown
 * @param rowsPerSecondAndCore the rows per second divided by {@code cores}
 * @param routerCores the number of processors that routers kept busy; null if unknown
 * @param mongodCores the number of processors that config servers and shards kept busy; null if
 *     unknown
 * @param memoryBytes the largest memory (RSS) of all consumers together; 0 if unknown
 * @param mbitPerSecond the events as BSON, without protocol, in 10^6 bits per second
 * @param writtenPerSecond the acknowledged rows of the writer per second; null for a drain
 * @param lag the time from the commit to the arrival of the row at the consumer, in microseconds;
 *     null for a drain, and if the servers do not report times by this machine's clock
 * @param sinceIssued the time from the issue of the write to the arrival of the row, in
 *     microseconds; null for a drain
 * @param lost the number of acknowledged rows that did not arrive
 * @param doubled the number of rows that arrived again
 * @param outOfOrder the number of rows that arrived after a later version of the row, or in another
 *     channel than an earlier version. With {@code total}, also the rows against the order of all
 *     events
 * @param unexpected the number of rows that arrived without an acknowledgement of their write
 * @param negativeLags the number of lags below zero, which histograms cannot record; they occur
 *     only if a clock was set
 * @param windows the rows per second in each interval of five seconds; the last interval may be
 *     shorter
 * @param folder the folder of the point's logs, relative to the results' folder
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

  /** The name of the HdrHistogram log of {@code lag} in the point's folder. */
  public static final String LAG_LOG = "LAG";

  /** The name of the HdrHistogram log of {@code sinceIssued} in the point's folder. */
  public static final String SINCE_ISSUED_LOG = "SINCE-ISSUED";

  /** The kind of a point that reads a finished backlog. */
  public static final String DRAIN = "drain";

  /** The kind of a point that reads while rows are written. */
  public static final String LIVE = "live";

  /**
   * The kind of a point that reads while rows are written at a low rate and one shard has no rows.
   */
  public static final String IDLE = "idle-shard";

  /** The number of rows that are lost, doubled, out of order or unexpected. */
  public long faults() {
    return lost + doubled + outOfOrder + unexpected;
  }
}
