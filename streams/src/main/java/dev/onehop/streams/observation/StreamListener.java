package dev.onehop.streams.observation;

import dev.onehop.streams.event.Checkpoint;
import java.time.Duration;
import java.util.Set;
import org.bson.BsonTimestamp;

/**
 * Receives the state of a stream's subscriptions. The threads that read the stream call it, one at
 * a time per subscription. It MUST NOT block. An exception from a method of this interface ends the
 * subscription.
 */
public interface StreamListener {
  /** Ignores everything. */
  StreamListener NONE = new StreamListener() {};

  /**
   * Called once per subscription, when all events that happened before the subscription started are
   * emitted.
   *
   * @param place the position of the stream
   */
  default void live(Checkpoint place) {}

  /**
   * Called when the position has not moved for the time that is set with {@code stallAfter},
   * although the cluster time has advanced. Called once per stall: the next call can come only
   * after the position has moved again.
   */
  default void stalled(Stall stall) {}

  /**
   * Called when the position has moved after a stall.
   *
   * @param stall the stall that was reported to {@link #stalled}
   */
  default void resumed(Stall stall) {}

  /** The cause of a stall. */
  enum Cause {
    /**
     * Shards that have not reported a later cluster time, because they are frozen, unreachable or
     * idle.
     */
    SHARDS,
    /** The config servers, which have not returned the placement for a later cluster time. */
    CONFIG_SERVERS,
    /** The subscriber, which requests no events. */
    SUBSCRIBER
  }

  /**
   * A position that does not move.
   *
   * @param place the position
   * @param clusterTime the latest known cluster time
   * @param duration how long the position has not moved
   * @param cause the reason
   * @param shards the ids of the shards that the position waits for; empty if the cause is not
   *     {@link Cause#SHARDS}
   */
  record Stall(
      Checkpoint place,
      BsonTimestamp clusterTime,
      Duration duration,
      Cause cause,
      Set<String> shards) {
    /** Copies the set. */
    public Stall {
      shards = Set.copyOf(shards);
    }
  }
}
