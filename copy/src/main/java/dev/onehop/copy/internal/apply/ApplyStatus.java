package dev.onehop.copy.internal.apply;

import java.time.Duration;
import org.bson.BsonTimestamp;

/**
 * The progress of applied events.
 *
 * @param events how many were applied by this process
 * @param documentsRead how many documents were read from the source for them
 * @param applied all events before this cluster time of the source are applied
 * @param source the source's present cluster time
 * @param exactFrom once {@code applied} is after it, the destination equals the source at the time
 *     of {@code applied}; until then some documents may be newer
 */
public record ApplyStatus(
    long events,
    long documentsRead,
    BsonTimestamp applied,
    BsonTimestamp source,
    BsonTimestamp exactFrom) {

  /** Whether the destination equals a state that the source had. */
  public boolean isExact() {
    return applied.compareTo(exactFrom) > 0;
  }

  /** How far the destination is behind, in whole seconds of cluster time. */
  public Duration lag() {
    return Duration.ofSeconds(Math.max(0L, (long) source.getTime() - applied.getTime()));
  }
}
