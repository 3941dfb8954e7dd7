package dev.onehop.streams.internal.shard;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.HistoryLostException;
import dev.onehop.streams.internal.merge.Cluster;
import dev.onehop.streams.internal.merge.ReadFailure;
import dev.onehop.streams.internal.merge.ShardStream;
import dev.onehop.streams.internal.token.Tokens;
import java.time.Duration;
import java.util.Set;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * One shard of a cluster as a source of its own: its events are emitted without waiting for other
 * shards. The caller has to order them and to follow the set of shards. While the shard is idle,
 * its clock follows the cluster's.
 */
public final class ShardOfCluster implements Cluster {
  private final RoutedCluster whole;
  private final String shard;
  private final Checkpoint after;
  private final Runnable release;

  /**
   * @param whole the cluster, which stays open when this is closed
   * @param shard the shard's id
   * @param after the position after which its stream starts
   * @param release run when this object no longer needs the cluster
   */
  public ShardOfCluster(RoutedCluster whole, String shard, Checkpoint after, Runnable release) {
    this.whole = whole;
    this.shard = shard;
    this.after = after;
    this.release = release;
  }

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
   * The failure for a shard that was removed while it was not read: its events can no longer be
   * read.
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
    return Mono.error(new IllegalStateException("a shard alone has no placement"));
  }

  @Override
  public @Nullable BsonTimestamp now() {
    return whole.now();
  }

  @Override
  public ShardStream stream(String name) {
    ShardStream stream = whole.stream(name);
    return name.equals(RoutedCluster.ALONE) ? stream : new Following(stream);
  }

  @Override
  public void close() {
    release.run();
  }

  /**
   * A stream that first advances its shard's clock to the cluster's if the last batch was empty.
   */
  private final class Following implements ShardStream {
    private final ShardStream stream;
    private volatile boolean idle;

    Following(ShardStream stream) {
      this.stream = stream;
    }

    @Override
    public Mono<Batch> open(Place place, int batchSize) {
      return stream.open(place, batchSize).doOnNext(this::look);
    }

    @Override
    public Mono<Batch> next(Duration wait) {
      Mono<Batch> next = stream.next(wait).doOnNext(this::look);
      return idle
          ? whole.placement(false).onErrorComplete().then(stream.advance()).then(next)
          : next;
    }

    private void look(Batch batch) {
      idle = batch.events().isEmpty();
    }

    @Override
    public Mono<Large> large(Place place) {
      return stream.large(place);
    }

    @Override
    public Mono<BsonTimestamp> oldest() {
      return stream.oldest();
    }

    @Override
    public Mono<BsonTimestamp> oplogBegin() {
      return stream.oplogBegin();
    }

    @Override
    public Mono<Void> advance() {
      return stream.advance();
    }

    @Override
    public Mono<Void> close() {
      return stream.close();
    }
  }
}
