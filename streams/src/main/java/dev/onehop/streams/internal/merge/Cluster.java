package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.Checkpoint;
import java.util.Map;
import java.util.Set;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** What the streams are read from. What fails, fails with a {@link ReadFailure}. */
public interface Cluster {

  /**
   * The placement, as the config servers have it: which shards there are, and something that is
   * another as soon as a shard may own something else.
   *
   * @param through the cluster time up to which it is complete
   * @param latest a cluster time after which no change is in it
   * @param shards their ids
   * @param state to be compared
   */
  record Placement(BsonTimestamp through, BsonTimestamp latest, Set<String> shards, Object state) {}

  /**
   * How a stream begins.
   *
   * @param shards the ids of those to read
   * @param placement null if it can't change
   * @param start where to begin
   * @param resumed whether that was before the placement was read
   * @param removed shards that were removed after the start, and when
   */
  record Opening(
      Set<String> shards,
      @Nullable Placement placement,
      Checkpoint start,
      boolean resumed,
      Map<String, BsonTimestamp> removed) {

    /** Without shards that were removed. */
    public Opening(
        Set<String> shards, @Nullable Placement placement, Checkpoint start, boolean resumed) {
      this(shards, placement, start, resumed, Map.of());
    }
  }

  /** Looks at the cluster for the first time. */
  Mono<Opening> open();

  /**
   * Reads the placement again, complete up to the latest cluster time that is known.
   *
   * @param awaited whether events wait for it
   */
  Mono<Placement> placement(boolean awaited);

  /** The stream of a shard. */
  ShardStream stream(String shard);

  /** Ends all connections. */
  void close();
}
