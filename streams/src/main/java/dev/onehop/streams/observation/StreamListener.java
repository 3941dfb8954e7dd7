package dev.onehop.streams.observation;

import dev.onehop.streams.event.Checkpoint;
import java.time.Duration;
import java.util.Set;
import org.bson.BsonTimestamp;

/**
 * Receives the state of a stream's subscriptions. It is called by the threads that read, one at a
 * time per subscription, and MUST NOT block. An exception that it throws ends the subscription.
 */
public interface StreamListener {
  /** Ignores everything. */
  StreamListener NONE = new StreamListener() {};

  /**
   * Called once per subscription, when all events that happened before it was opened are emitted.
   *
   * @param place the position of the stream
   */
  default void live(Checkpoint place) {}

  /**
   * Called when the position has not moved for a time although the cluster's clock has. Called once
   * until the position moves again.
   */
  default void stalled(Stall stall) {}

  /**
   * Called when the position has moved after a stall.
   *
   * @param stall the last argument of {@link #stalled}
   */
  default void resumed(Stall stall) {}

  /** The cause of a stall. */
  enum Cause {
    /** Shards that have not reported a later time: they are frozen, away, or idle. */
    SHARDS,
    /** The config servers, which have not confirmed a later time. */
    CONFIG_SERVERS,
    /** The subscriber, which requests no more events. */
    SUBSCRIBER
  }

  /**
   * A position that does not move.
   *
   * @param place the position
   * @param clusterTime the latest known cluster time
   * @param duration how long the position has not moved
   * @param cause the reason
   * @param shards the ids of the shards it waits for; empty for another cause
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
