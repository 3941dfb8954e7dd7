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
 * @param collections how many collections share the data
 * @param bytes all documents' size as BSON
 * @param documents how many they are
 * @param seconds of each run, from the first step until the member had caught up
 * @param fixedSeconds what the method takes at any size, by least squares over all runs with as
 *     many indexes and collections; null with a single size
 * @param secondsPerGibibyte what each further 2^30 bytes of documents take, likewise
 * @param movedBytes what was moved, the median of the runs: of files what was written, of an
 *     initial sync what the server says it has copied of documents
 * @param methodProved whether each run's server has logged that this method has run
 * @param equal whether after each run {@code dbHash} was equal on all three members
 * @param lockedSeconds how long the source was locked, the median of the runs; null if it was not
 * @param sharedBlocks whether copies shared their blocks with the source
 * @param written documents that were acknowledged to a writer while runs were going on
 * @param lost those of them that the new member does not have
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

  /** Copies the list. */
  public ResyncCell {
    seconds = seconds == null ? List.of() : List.copyOf(seconds);
  }

  /** The median of its runs. */
  @JsonIgnore
  public double medianSeconds() {
    return median(seconds);
  }

  /** The median of some values; the mean of the middle ones of an even count, 0 of none. */
  public static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int n = sorted.size();
    return n == 0 ? 0 : (sorted.get((n - 1) / 2) + sorted.get(n / 2)) / 2;
  }

  /** Whether it is of the same data, by whichever method. */
  @JsonIgnore
  public boolean isLike(int itsIndexes, int itsCollections) {
    return indexes == itsIndexes && collections == itsCollections;
  }

  /** The same with what a line over several sizes says. */
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
