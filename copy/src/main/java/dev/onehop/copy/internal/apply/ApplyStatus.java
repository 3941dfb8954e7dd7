package dev.onehop.copy.internal.apply;

import java.time.Duration;
import org.bson.BsonTimestamp;

/**
 * The progress of applied events.
 *
 * @param events the number of events that this process has applied
 * @param applied a cluster time of the source: all events before it are applied
 * @param source the source's current cluster time
 * @param exactFrom a cluster time of the source. When {@code applied} is after it, the destination
 *     equals the source at the time {@code applied}. Until then, some documents of the destination
 *     may be newer
 */
public record ApplyStatus(
    long events, BsonTimestamp applied, BsonTimestamp source, BsonTimestamp exactFrom) {
  /** How far the destination is behind the source, in whole seconds of cluster time. */
  public Duration lag() {
    return Duration.ofSeconds(Math.max(0L, (long) source.getTime() - applied.getTime()));
  }
}
