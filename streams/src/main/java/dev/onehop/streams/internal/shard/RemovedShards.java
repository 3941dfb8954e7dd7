package dev.onehop.streams.internal.shard;

import dev.onehop.core.table.ShardId;
import dev.onehop.shards.cluster.ClusterClock;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.internal.merge.Cluster.Placement;
import dev.onehop.streams.internal.merge.ReadFailure;
import dev.onehop.streams.internal.merge.ShardStream.Batch;
import dev.onehop.streams.internal.merge.ShardStream.Place;
import dev.onehop.streams.internal.token.Tokens;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Finds the shards that were removed after a position. The events of these shards after the
 * position can no longer be read. The removals are read with a change stream of {@code
 * config.changelog}, because a change stream of {@code config.shards} does not contain them.
 */
final class RemovedShards {
  private static final Logger log = LoggerFactory.getLogger(RemovedShards.class);
  private static final Duration WAIT = Duration.ofMillis(10);
  private static final StreamCommand REMOVALS =
      new StreamCommand(
          "config",
          "changelog",
          new BsonDocument("allowToRunOnConfigDB", BsonBoolean.TRUE),
          List.of(BsonDocument.parse("{$match: {'fullDocument.what': 'removeShard'}}")),
          0);

  private final ServerStream removals;

  RemovedShards(ReplicaSet configServers, ClusterClock clock, Heartbeats heartbeats) {
    this.removals = new ServerStream(configServers, clock, heartbeats, REMOVALS, null, null);
  }

  /**
   * Reads the shards that were removed after a position, with the times of their removals.
   *
   * @param found the current placement
   */
  Mono<Map<String, BsonTimestamp>> since(Checkpoint place, Placement found) {
    return Mono.usingWhen(Mono.just(removals), stream -> read(place, found), ServerStream::close);
  }

  private Mono<Map<String, BsonTimestamp>> read(Checkpoint place, Placement found) {
    return removals
        .open(new Place(place.low(), null), 0)
        .expand(
            batch ->
                isPast(batch, found.latest())
                    ? Mono.empty()
                    : removals.advance().then(removals.next(WAIT)))
        .flatMapIterable(Batch::events)
        .filter(event -> !found.shards().contains(id(event)))
        .collectMap(RemovedShards::id, event -> event.getTimestamp("clusterTime"))
        .onErrorResume(
            failure -> Failures.of(failure).kind() != ReadFailure.Kind.PASSING,
            failure -> {
              log.warn(
                  "it is not known whether shards were removed since {}: {}",
                  place.clusterTime(),
                  failure.getMessage());
              return Mono.just(Map.of());
            });
  }

  private static boolean isPast(Batch batch, BsonTimestamp time) {
    String token = batch.token();
    return token != null && Tokens.clusterTime(token).compareTo(time) >= 0;
  }

  static String id(BsonDocument event) {
    BsonDocument details = event.getDocument("fullDocument").getDocument("details");
    return ShardId.of(details, "shard", "config.changelog").toString();
  }
}
