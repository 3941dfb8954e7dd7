package dev.onehop.copy.progress;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a copy. Immutable and thread-safe.
 *
 * @param job the name of the job
 * @param phase the current phase
 * @param doing the current step of the phase in words, such as {@code building indexes of
 *     shop.orders}; null if the phase has no steps
 * @param paused whether the copy is paused
 * @param collections the number of collections; 0 while unknown
 * @param ranges the number of ranges of all collections; 0 while unknown
 * @param rangesDone the number of ranges whose documents are all copied
 * @param documents the number of documents to copy, as the servers estimate it
 * @param documentsDone the number of documents that this process and earlier processes have copied
 * @param bytesDone the number of bytes of BSON of these documents
 * @param documentsPerSecond the copied documents per second in the last 10 seconds. After the end
 *     of the copy, the mean of the full phase
 * @param bytesPerSecond the copied bytes of BSON per second in the same time
 * @param rangesReadAgain the number of ranges that were read again, because a process had ended
 *     while it read them
 * @param eventsApplied the number of applied change events
 * @param eventsPerSecond the applied change events per second in the last 10 seconds; 0 after the
 *     end of the copy
 * @param lag how far the destination is behind the source. Before the first event is applied, this
 *     is the time since the start of the copy. Later, all events up to some cluster time are
 *     applied, and the lag is the time since then
 * @param lagOperations the number of inserts, updates and deletes in all databases of the source
 *     since the last applied event; the number may be about one second old. Null if it is unknown,
 *     or if changes are not applied at all
 * @param lagAtFinish the lag at the beginning of the phase {@code FINISH}; null before that phase
 * @param oplogLeft how long the source's oplogs will keep the changes that are not applied, at the
 *     current rate of writes; negative if such changes are lost; null if unknown
 * @param consistentFrom a cluster time of the source. Once all events up to it are applied, the
 *     destination equals a state of the source. Null before that
 * @param left an estimate of the time until the end of the phase; in the incremental phase, until
 *     the lag is about 0. Always above 0; null if there is no estimate
 * @param times the time that each phase has taken so far, in all processes, with pauses
 * @param notes notes for the person who started the copy, without repetitions
 */
public record CopyProgress(
    String job,
    CopyPhase phase,
    @Nullable String doing,
    boolean paused,
    int collections,
    long ranges,
    long rangesDone,
    long documents,
    long documentsDone,
    long bytesDone,
    double documentsPerSecond,
    double bytesPerSecond,
    long rangesReadAgain,
    long eventsApplied,
    double eventsPerSecond,
    Duration lag,
    @Nullable Long lagOperations,
    @Nullable Duration lagAtFinish,
    @Nullable Duration oplogLeft,
    @Nullable BsonTimestamp consistentFrom,
    @Nullable Duration left,
    Map<CopyPhase, Duration> times,
    List<String> notes) {
  /** Copies the list and the map. */
  public CopyProgress {
    times = Collections.unmodifiableMap(new TreeMap<>(times));
    notes = List.copyOf(notes);
  }
}
