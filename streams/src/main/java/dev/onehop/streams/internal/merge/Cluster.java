package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.Checkpoint;
import java.util.Map;
import java.util.Set;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The servers that a merged stream reads. The methods fail with a {@link ReadFailure}. */
public interface Cluster {

  /**
   * The placement of data as the config servers report it: the shards, and a state of the owners.
   *
   * @param through the cluster time up to which the placement is complete
   * @param latest a cluster time that is not before the latest change in this placement
   * @param shards the shards' ids
   * @param state a value that changes whenever a range, a collection or a database may have another
   *     owner; only compared with {@code equals}
   */
  record Placement(BsonTimestamp through, BsonTimestamp latest, Set<String> shards, Object state) {}

  /**
   * The start of a stream.
   *
   * @param shards the ids of the shards to read
   * @param placement the placement; null if it cannot change
   * @param start the position to start at
   * @param resumed whether the stream starts before the time of the placement. Changes of the
   *     placement between these two times are then unknown
   * @param removed the shards that were removed after the start, with the times of their removals
   */
  record Opening(
      Set<String> shards,
      @Nullable Placement placement,
      Checkpoint start,
      boolean resumed,
      Map<String, BsonTimestamp> removed) {

    /** A start without removed shards. */
    public Opening(
        Set<String> shards, @Nullable Placement placement, Checkpoint start, boolean resumed) {
      this(shards, placement, start, resumed, Map.of());
    }
  }

  /** Reads the shards and the placement for the first time. */
  Mono<Opening> open();

  /**
   * Reads the placement again, complete up to the latest known cluster time.
   *
   * @param awaited whether events wait for the placement
   */
  Mono<Placement> placement(boolean awaited);

  /** The latest known cluster time; null before the first reply of a server. */
  @Nullable BsonTimestamp now();

  /** The stream of a shard. */
  ShardStream stream(String shard);

  /** Closes all connections. */
  void close();
}
