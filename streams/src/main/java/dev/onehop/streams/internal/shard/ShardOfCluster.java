package dev.onehop.streams.internal.shard;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.HistoryLostException;
import dev.onehop.streams.internal.merge.Cluster;
import dev.onehop.streams.internal.merge.ReadFailure;
import dev.onehop.streams.internal.merge.ShardStream;
import dev.onehop.streams.internal.token.Tokens;
import java.util.Set;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * One shard of a cluster as the only shard of a stream: its events are emitted without waiting for
 * other shards. The caller has to order the events of several shards, and has to notice new shards.
 * While the shard is idle, its clock is advanced to the cluster time.
 *
 * @param whole the cluster, which stays open when this object is closed
 * @param shard the shard's id
 * @param after the position after which the shard's stream starts
 * @param release called when this object no longer needs the cluster
 */
public record ShardOfCluster(RoutedCluster whole, String shard, Checkpoint after, Runnable release)
    implements Cluster {

  @Override
  public Mono<Opening> open() {
    return whole
        .open()
        .flatMap(
            opening ->
                opening.shards().contains(shard)
                    ? Mono.just(new Opening(Set.of(shard), null, after, true))
                    : Mono.error(isGone(opening)));
  }

  /**
   * The failure for a shard that was removed while it was not read. The shard's events after the
   * position can no longer be read.
   */
  private ReadFailure isGone(Opening opening) {
    Placement placement = opening.placement();
    BsonTimestamp from = Tokens.clusterTime(after.token(shard));
    return new ReadFailure(
        ReadFailure.Kind.FINAL,
        new HistoryLostException(shard, from, placement == null ? from : placement.through()));
  }

  @Override
  public Mono<Placement> placement(boolean awaited) {
    return Mono.error(new IllegalStateException("the stream of one shard has no placement"));
  }

  @Override
  public @Nullable BsonTimestamp now() {
    return whole.now();
  }

  @Override
  public ShardStream stream(String name) {
    return whole.following(name);
  }

  @Override
  public void close() {
    release.run();
  }
}
