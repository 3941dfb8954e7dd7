package dev.onehop.streams;

import dev.onehop.shards.ClusterServers;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.HistoryLostException;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.merge.Cluster;
import dev.onehop.streams.internal.merge.MergeSettings;
import dev.onehop.streams.internal.merge.MergedStream;
import dev.onehop.streams.internal.merge.ReadFailure;
import dev.onehop.streams.internal.shard.RoutedCluster;
import dev.onehop.streams.internal.shard.StreamCommand;
import dev.onehop.streams.internal.token.Tokens;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

/**
 * A change stream in parts, one or more for each shard. It is for a framework that distributes the
 * parts over processes and orders the events itself. The events of one part are in the order of
 * their tokens. The events of different parts have no common order. After a migration, the events
 * of a document come from a part of another shard. All events up to a token have arrived when two
 * conditions hold: every part has passed the token, and {@link Shards#through} is not before the
 * token.
 *
 * <p>All parts use the same connections. Thread-safe.
 */
public final class ShardParts implements AutoCloseable {
  private static final int THREADS = 2;

  /** The interval of progress events of an idle part. */
  private static final Duration PROGRESS = Duration.ofMillis(100);

  private final StreamSettings settings;
  private final ClusterServers servers;
  private final RoutedCluster cluster;
  private final AtomicBoolean closed = new AtomicBoolean();

  // The number of users of the connections: this object and its parts. A part counts until its
  // cursor is closed, which may be a while after the part has ended.
  private final AtomicInteger users = new AtomicInteger(1);

  ShardParts(StreamSettings settings) {
    this.settings = settings;
    this.servers = ClusterServers.connect(settings.client(), settings.hostMapping(), THREADS);
    this.cluster = cluster(settings.command(), settings.start(), null, () -> {});
  }

  private RoutedCluster cluster(
      StreamCommand command,
      @Nullable Checkpoint start,
      RoutedCluster.@Nullable Part part,
      Runnable release) {
    // No heartbeats are sent. They are useful only while events wait for an idle shard. Because the
    // framework orders the events, this object does not see whether events wait. It would have to
    // send heartbeats all the time, and they would fill the oplogs.
    return new RoutedCluster(
        servers, command, settings.source(), Order.TOTAL, start, part, false, release);
  }

  /**
   * The shards of the cluster.
   *
   * @param ids the ids of the shards; a single empty id if the source is a replica set or a mongos
   * @param through {@code _data} of a high-water token. Up to this token, only the shards {@code
   *     ids} have events. Null if the set of shards cannot change
   */
  public record Shards(Set<String> ids, @Nullable String through) {
    private static Shards of(Set<String> ids, Cluster.@Nullable Placement placement) {
      return new Shards(
          Set.copyOf(ids), placement == null ? null : Tokens.after(placement.through()));
    }
  }

  /**
   * The start of the stream.
   *
   * @param start the position where the stream starts, for all shards
   * @param shards the shards at the start
   */
  public record Opening(Checkpoint start, Shards shards) {}

  /**
   * Returns the start of the stream and the shards. The start is the position that was set in the
   * builder, or the current position if none was set. Fails with a {@link HistoryLostException} if
   * a shard was removed after the start.
   */
  public Publisher<Opening> open() {
    return cluster.open().map(ShardParts::complete).onErrorMap(ReadFailure::cause);
  }

  private static Opening complete(Cluster.Opening opening) {
    opening
        .removed()
        .forEach(
            (shard, time) -> {
              throw new HistoryLostException(shard, opening.start().clusterTime(), time);
            });
    return new Opening(opening.start(), Shards.of(opening.shards(), opening.placement()));
  }

  /**
   * Returns the current shards. Call this method only after {@link #open}, and only if {@link
   * Shards#through} is not null in the result of {@code open}.
   */
  public Publisher<Shards> shards() {
    return cluster
        .placement(false)
        .map(placement -> Shards.of(placement.shards(), placement))
        .onErrorMap(ReadFailure::cause);
  }

  /**
   * The events of a part. The hashes of {@code _id} are divided into ranges of the same size, one
   * range per part. An event belongs to the part whose range contains the hash of its document
   * key's {@code _id}. For each part, the shard reads its whole oplog. An event without a document
   * key is in one part only. An {@code invalidate} event is in each part, and each part completes
   * after it.
   *
   * @param shard one of the {@link Shards#ids}
   * @param after the position after which the part starts
   * @param part the part's number, from 0
   * @param parts the number of parts of this shard, 1 or more
   * @return a cold publisher; an idle part emits a {@link StreamEvent.Progress} ten times a second
   */
  public Publisher<StreamEvent> events(String shard, Checkpoint after, int part, int parts) {
    if (part < 0 || part >= parts) {
      throw new IllegalArgumentException("part " + part + " of " + parts);
    }
    MergeSettings merge = settings.merge();
    Duration await = merge.maxAwaitTime();
    MergeSettings often =
        merge.ungrouped(await.compareTo(PROGRESS) < 0 ? await : PROGRESS, PROGRESS);
    StreamCommand command = parts == 1 ? settings.command() : ranged(part, parts);
    RoutedCluster.Part only = new RoutedCluster.Part(shard, after);
    return new MergedStream(
        () -> cluster(command, null, only, use()), often, settings.observation());
  }

  private StreamCommand ranged(int part, int parts) {
    StreamCommand command = settings.command();
    List<BsonDocument> stages = new ArrayList<>();
    stages.add(HashRange.of(part, parts).stage());
    stages.addAll(command.pipeline());
    return new StreamCommand(
        command.database(), command.collection(), command.options(), stages, command.batchSize());
  }

  /** Closes all connections as soon as all parts have ended and have closed their cursors. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      release();
    }
  }

  /** Counts a user. The result is called once, because a subscription closes its cluster once. */
  private Runnable use() {
    users.incrementAndGet();
    return this::release;
  }

  private void release() {
    if (users.decrementAndGet() == 0) {
      servers.close();
    }
  }

  /**
   * A range of the hashes of {@code _id}. A part has a range of hashes, and not the hashes with the
   * same remainder, because the remainder of a negative hash is negative.
   */
  private record HashRange(long from, long to) {
    static HashRange of(int part, int parts) {
      return new HashRange(bound(part, parts), bound(part + 1, parts) - 1);
    }

    /**
     * The first hash of a part. For {@code part == parts}, the result overflows to the lowest hash.
     * The caller subtracts 1, which overflows again and gives the highest hash.
     */
    private static long bound(int part, int parts) {
      long upper = ((long) part << Integer.SIZE) / parts;
      return (upper << Integer.SIZE) ^ Long.MIN_VALUE;
    }

    BsonDocument stage() {
      return BsonDocument.parse(
          """
          {$match: {$or: [{operationType: 'invalidate'}, {$expr: {$and: [
            {$gte: [{$toHashedIndexKey: '$documentKey._id'}, {$numberLong: '%d'}]},
            {$lte: [{$toHashedIndexKey: '$documentKey._id'}, {$numberLong: '%d'}]}]}}]}}
          """
              .formatted(from, to));
    }
  }
}
