package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A cell of the matrix of {@code onehop resync bench}: a method on data of one kind.
 *
 * @param method {@link #LOGICAL} or {@link #FILES}
 * @param indexes secondary indexes of each collection
 * @param collections the number of collections that share the data
 * @param bytes the size of all documents as BSON
 * @param documents the number of documents
 * @param seconds of each run, from the first step until the member had caught up
 * @param fixedSeconds the time at any size, by least squares over all runs with the same indexes
 *     and collections; null with a single size
 * @param secondsPerGibibyte the time for each further 2^30 bytes of documents, likewise
 * @param movedBytes the median of the moved bytes: the written bytes of files, or the documents'
 *     bytes that the server's initial sync reports
 * @param methodProved whether each run's server has logged this method
 * @param equal whether {@code dbHash} was equal on all three members after each run
 * @param lockedSeconds the median time of the source's lock; null if it was not locked
 * @param sharedBlocks whether copies shared their blocks with the source
 * @param written acknowledged documents of a writer during the runs
 * @param lost acknowledged documents that the new member lacks
 * @param sourceReads reads of one document on the source while it was not locked
 * @param sourceReadsLocked the same while it was locked; null if it was not
 * @param primaryWrites writes of one document on the primary while the source was not locked
 * @param primaryWritesLocked the same while it was locked; null if it was not
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

  /** The server's own initial sync. */
  public static final String LOGICAL = "logical";

  /** A copy of files. */
  public static final String FILES = "files";

  /** The median of its runs. */
  public double medianSeconds() {
    return median(seconds);
  }

  /**
   * The median of some values; the mean of the two middle values of an even number, 0 without
   * values.
   */
  public static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int n = sorted.size();
    return n == 0 ? 0 : (sorted.get((n - 1) / 2) + sorted.get(n / 2)) / 2;
  }

  /** Whether it has the same data, with any method. */
  @JsonIgnore
  public boolean isLike(int itsIndexes, int itsCollections) {
    return indexes == itsIndexes && collections == itsCollections;
  }

  /** This cell with the figures of a line over several sizes. */
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
