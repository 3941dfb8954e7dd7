package dev.onehop.copy.progress;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * How far a copy is. Immutable and thread-safe.
 *
 * @param job its name
 * @param phase what it is doing
 * @param doing the step of the phase, such as the index that is built; null if it has none
 * @param paused whether it rests
 * @param collections how many collections are copied; 0 while it is not known
 * @param ranges into how many ranges their documents are split; 0 while it is not known
 * @param rangesDone how many of these are at the destination
 * @param documents how many documents are to be copied, an estimate of the servers
 * @param documentsDone how many were copied, by this process and those before it
 * @param bytesDone how many bytes of BSON these were
 * @param documentsPerSecond over the last seconds; when it is done, over the full phase
 * @param bytesPerSecond the same in bytes
 * @param rangesReadAgain how many ranges were read again because a process had ended with them
 * @param eventsApplied how many change events were applied
 * @param eventsPerSecond over the last seconds
 * @param lag how far the destination is behind the source: in the full phase since the copy's start
 *     time, of which no event is applied; then since the last time up to which all are
 * @param lagOperations how many inserts, updates and deletes of documents happened at the source,
 *     in all its databases, after what is applied, as of a second ago; null if that is not known,
 *     and if changes are not applied at all
 * @param lagAtFinish the lag when it began to finish; null before that
 * @param oplogLeft how long the source's oplogs will still have the changes that are not applied,
 *     at the present rate of writes, negative if they are gone; null if that is not known
 * @param consistentFrom the cluster time of the source from which on the destination is as the
 *     source was at some later time; null before that
 * @param left an estimate, above 0, of the time until the phase ends, of the incremental phase
 *     until it has caught up; null if there is none
 * @param times how long each phase took until now, in all processes, rests included
 * @param notes what the person who started it should know, each said once
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
