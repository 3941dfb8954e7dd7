package dev.onehop.flink.internal;

import dev.onehop.streams.event.Checkpoint;
import org.bson.BsonTimestamp;

/**
 * Converts resume tokens into Flink's event times: the cluster time's seconds as milliseconds, plus
 * the increment up to 999. A greater token has the same time or a later one.
 */
public final class EventTimes {
  private static final long MILLIS = 1_000;

  private EventTimes() {}

  /**
   * The time of a token, in milliseconds since 1970.
   *
   * @param token {@code _data} of the token
   */
  public static long of(String token) {
    BsonTimestamp time = Checkpoint.at(token).clusterTime();
    return Integer.toUnsignedLong(time.getTime()) * MILLIS
        + Math.min(Integer.toUnsignedLong(time.getInc()), MILLIS - 1);
  }

  /**
   * Returns the watermark after the arrival of all events up to a token. It is below the token's
   * time, because more events of that time may follow.
   */
  static long watermark(String token) {
    return of(token) - 1;
  }
}
