package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import dev.onehop.measure.results.ResyncResults.Kind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A cell of the matrix of {@code onehop resync bench}: a method on data of one kind.
 *
 * @param method {@link #LOGICAL} or {@link #FILES}
 * @param indexes the number of secondary indexes of each collection
 * @param collections the number of collections that share the data
 * @param bytes the size of all documents as BSON
 * @param documents the number of documents
 * @param seconds the time of each run, from the first step until the member had caught up
 * @param fixedSeconds the part of the time that does not depend on the size, by least squares over
 *     all runs with the same indexes and collections; null with a single size
 * @param secondsPerGibibyte the additional time for each 2^30 bytes of documents, from the same
 *     line; null with a single size
 * @param movedBytes the median of the bytes that a run moved. For files: the bytes that were
 *     written. For an initial sync: the bytes of documents that the server reports
 * @param methodProved whether in each run the new member's log names this method
 * @param equal whether {@code dbHash} was equal on all three members after each run
 * @param lockedSeconds the median time for which the source was locked; null if it was not locked
 * @param sharedBlocks whether copies shared their blocks with the source
 * @param written the number of documents that a writer inserted during the runs and that were
 *     acknowledged
 * @param lost the number of acknowledged documents that are missing on the new member
 * @param sourceReads the latencies of reads of one document at the source while it was not locked
 * @param sourceReadsLocked the latencies of reads of one document at the source while it was
 *     locked; null if it was not locked
 * @param primaryWrites the latencies of writes of one document at the primary while the source was
 *     not locked
 * @param primaryWritesLocked the latencies of writes of one document at the primary while the
 *     source was locked; null if it was not locked
 */
public record ResyncCell(
    String method,
    int indexes,
    int collections,
    long bytes,
    long documents,
    List<Double> seconds,
    @Nullable Double fixedSeconds,
    @Nullable Double secondsPerGibibyte,
    long movedBytes,
    boolean methodProved,
    boolean equal,
    @Nullable Double lockedSeconds,
    @JsonInclude(Include.NON_DEFAULT) boolean sharedBlocks,
    long written,
    long lost,
    LatencySummary sourceReads,
    @JsonInclude(Include.NON_NULL) @Nullable LatencySummary sourceReadsLocked,
    LatencySummary primaryWrites,
    @JsonInclude(Include.NON_NULL) @Nullable LatencySummary primaryWritesLocked) {

  /** The {@link #method} for the server's own initial sync. */
  public static final String LOGICAL = "logical";

  /** The {@link #method} for a copy of another member's files. */
  public static final String FILES = "files";

  /** The median of the runs' times. */
  public double medianSeconds() {
    return median(seconds);
  }

  /**
   * Returns the median of values. It is the mean of the two middle values if their number is even,
   * and 0 without values.
   */
  public static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int n = sorted.size();
    return n == 0 ? 0 : (sorted.get((n - 1) / 2) + sorted.get(n / 2)) / 2;
  }

  /** The kind of data of the cell. */
  public Kind kind() {
    return new Kind(indexes, collections);
  }

  /** Returns this cell with the fixed time and the time per size that a fitted line gives. */
  ResyncCell withLine(@Nullable StraightLine line) {
    return new ResyncCell(
        method,
        indexes,
        collections,
        bytes,
        documents,
        seconds,
        line == null ? null : (Double) line.fixed(),
        line == null ? null : (Double) (line.slope() * (1L << 30)),
        movedBytes,
        methodProved,
        equal,
        lockedSeconds,
        sharedBlocks,
        written,
        lost,
        sourceReads,
        sourceReadsLocked,
        primaryWrites,
        primaryWritesLocked);
  }
}
