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
 * @param job its name
 * @param phase its phase
 * @param doing the step of the phase, such as the index that is built; null if it has none
 * @param paused whether it is paused
 * @param collections the number of collections; 0 while unknown
 * @param ranges the number of ranges of their documents; 0 while unknown
 * @param rangesDone how many ranges are at the destination
 * @param documents how many documents there are to copy, an estimate of the servers
 * @param documentsDone how many documents were copied, by this process and earlier ones
 * @param bytesDone how many bytes of BSON these had
 * @param documentsPerSecond over the last seconds; when it is done, over the full phase
 * @param bytesPerSecond the same in bytes
 * @param rangesReadAgain how many ranges were read again, because a process had ended during their
 *     read
 * @param eventsApplied how many change events were applied
 * @param eventsPerSecond over the last seconds
 * @param lag how far the destination is behind the source: in the full phase since the copy's start
 *     time, because no event is applied; later since the last time up to which all events are
 *     applied
 * @param lagOperations how many inserts, updates and deletes of documents the source has had in all
 *     its databases since the last applied event, as of a second ago; null if unknown, or if
 *     changes are not applied at all
 * @param lagAtFinish the lag at the beginning of the phase {@code FINISH}; null before
 * @param oplogLeft how long the source's oplogs will still have the changes that are not applied,
 *     at the present rate of writes, negative if they are lost; null if unknown
 * @param consistentFrom the cluster time of the source from which on the destination equals a state
 *     of the source; null before events have passed it
 * @param left an estimate, above 0, of the time until the end of the phase, or until the
 *     incremental phase has caught up; null if there is none
 * @param times how long each phase took so far, in all processes, with pauses
 * @param notes notes for the person who started the copy, each one once
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
  /** Takes a copy of the list and of the map. */
  public CopyProgress {
    times = Collections.unmodifiableMap(new TreeMap<>(times));
    notes = List.copyOf(notes);
  }
}
