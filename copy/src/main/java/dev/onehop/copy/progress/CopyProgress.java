package dev.onehop.copy.progress;

import java.time.Duration;
import java.util.List;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * How far a copy is. Immutable and thread-safe.
 *
 * @param job its name
 * @param phase what it is doing
 * @param paused whether it rests
 * @param collections how many collections are copied; 0 while it is not known
 * @param ranges into how many ranges their documents are split; 0 while it is not known
 * @param rangesDone how many of these are at the destination
 * @param documents how many documents are to be copied, an estimate of the servers
 * @param documentsDone how many were copied, by this process and those before it
 * @param bytesDone how many bytes of BSON these were
 * @param documentsPerSecond over the last seconds
 * @param bytesPerSecond over the last seconds
 * @param rangesReadAgain how many ranges were read again because a process had ended with them
 * @param eventsApplied how many change events were applied
 * @param lag how far the destination is behind the source: in the full phase since the copy's start
 *     time, of which no event is applied; then since the last time up to which all are
 * @param lagOperations how many inserts, updates and deletes of documents happened at the source,
 *     in all its databases, after what is applied, as of a second ago; null if that is not known,
 *     and if changes are not applied at all
 * @param consistentFrom the cluster time of the source from which on the destination is as the
 *     source was at some later time; null before that
 * @param left an estimate of the time until the phase ends; null if there is none
 * @param notes what the person who started it should know, each said once
 */
public record CopyProgress(
    String job,
    CopyPhase phase,
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
    Duration lag,
    @Nullable Long lagOperations,
    @Nullable BsonTimestamp consistentFrom,
    @Nullable Duration left,
    List<String> notes) {
  /** Takes a copy of the list. */
  public CopyProgress {
    notes = List.copyOf(notes);
  }
}
