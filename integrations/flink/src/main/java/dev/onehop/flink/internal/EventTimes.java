package dev.onehop.flink.internal;

import dev.onehop.streams.event.Checkpoint;
import org.bson.BsonTimestamp;

/**
 * Flink's event times of resume tokens: the cluster time's seconds as milliseconds, and the
 * increment as far as it fits. A greater token has the same time or a greater one.
 */
public final class EventTimes {
  private static final long MILLIS = 1_000;

  private EventTimes() {}

  /**
   * The time of a token, in milliseconds since 1970.
   *
   * @param token {@code _data} of it
   */
  public static long of(String token) {
    BsonTimestamp time = Checkpoint.at(token).clusterTime();
    return Integer.toUnsignedLong(time.getTime()) * MILLIS
        + Math.min(Integer.toUnsignedLong(time.getInc()), MILLIS - 1);
  }

  /** The watermark when everything up to a token has come; there may be more of the same time. */
  static long watermark(String token) {
    return of(token) - 1;
  }
}
