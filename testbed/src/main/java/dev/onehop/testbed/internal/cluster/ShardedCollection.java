package dev.onehop.testbed.internal.cluster;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Sorts;
import dev.onehop.core.table.InconsistentRoutingTableException;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.ShardId;
import dev.onehop.testbed.TestbedException;
import dev.onehop.wire.message.ErrorCodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * One sharded collection of a cluster: creates, splits, moves and drops it. Reads the chunks from
 * the config server each time and keeps no state. Thread-safe, but concurrent changes of one
 * collection make each other retry.
 */
public final class ShardedCollection {
  // Most of these error codes mean that another metadata change of the same collection is running
  // or has just ended. Codes 189 and 10107 mean that a primary has stepped down. Code 194 means
  // that the config servers have just started and their balancer does not run yet.
  private static final Set<Integer> RETRYABLE =
      Set.of(46, 117, ErrorCodes.STALE_CONFIG, 11601, 189, 10107, 194);
  private static final Duration RETRY_FOR = Duration.ofSeconds(60);

  // The number of refusals with StaleConfig after which the shard gets the command instead of the
  // mongos. A mongos with a stale table refuses once or twice. A mongos that is older than the
  // shards always refuses.
  private static final int STALE_ANSWERS_OF_MONGOS = 3;

  private final Cluster cluster;
  private final String namespace;
  private final String database;
  private final String collection;

  /**
   * @param namespace {@code database.collection}
   */
  public ShardedCollection(Cluster cluster, String namespace) {
    int dot = namespace.indexOf('.');
    if (dot <= 0 || dot == namespace.length() - 1) {
      throw new IllegalArgumentException(
          "'" + namespace + "' is not of the form database.collection");
    }
    this.cluster = cluster;
    this.namespace = namespace;
    this.database = namespace.substring(0, dot);
    this.collection = namespace.substring(dot + 1);
  }

  /**
   * Creates the database (on the first shard) and the collection. If they exist, they stay.
   *
   * @param initialChunks the number of chunks for a hashed key, which the server distributes over
   *     the shards; null for the server's default of two chunks per shard
   */
  public void create(BsonDocument key, @Nullable Integer initialChunks) {
    cluster
        .commands()
        .create(database, collection, cluster.shardNames().get(0), key, initialChunks);
  }

  /**
   * Splits the collection at the given points and moves ranges until the shards own equal,
   * contiguous shares. With k ranges and n shards, shard i * n / k owns range i.
   *
   * @param splitPoints the points in ascending order; at least n - 1 points for n shards
   * @throws TestbedException if a server refuses a step, or config.chunks differs from the request
   *     in the end
   */
  public void spread(List<BsonDocument> splitPoints) {
    List<String> shards = cluster.shardNames();
    int ranges = splitPoints.size() + 1;
    if (ranges < shards.size()) {
      throw new TestbedException(
          "%d split points make %d ranges; %d shards need at least one range each"
              .formatted(splitPoints.size(), ranges, shards.size()));
    }
    // First the collection is split into one chunk per share, and each chunk moves to its shard.
    // Then the chunks are split at the other points. This order needs the fewest migrations.
    List<BsonDocument> shareStarts = new ArrayList<>();
    for (int share = 1; share < shards.size(); share++) {
      int firstRange = (share * ranges + shards.size() - 1) / shards.size();
      shareStarts.add(splitPoints.get(firstRange - 1));
    }
    splitAt(shareStarts);
    for (int share = 0; share < shards.size(); share++) {
      for (ChunkRange chunk : share(shareStarts, share)) {
        if (!chunk.shard().equals(shards.get(share))) {
          moveRange(chunk.min(), chunk.max(), shards.get(share));
        }
      }
    }
    splitAt(splitPoints);
    verify(splitPoints, shareStarts);
  }

  /**
   * Makes the given keys chunk boundaries; existing boundaries stay. If the mongos refuses the
   * split three times with StaleConfig, the shard gets the command. A mongos 5.0 always refuses a
   * split after a migration if the shards have version 6.0.
   */
  public void splitAt(List<BsonDocument> points) {
    AtomicInteger refusals = new AtomicInteger();
    retrying(
        "split " + namespace,
        () -> {
          BsonDocument entry = entry();
          Set<BsonDocument> bounds = new HashSet<>();
          chunks(entry).forEach(chunk -> bounds.add(chunk.min()));
          Map<ChunkRange, BsonArray> pointsByChunk = new LinkedHashMap<>();
          for (BsonDocument point : points) {
            if (!bounds.contains(point)) {
              pointsByChunk.computeIfAbsent(chunkOf(entry, point), c -> new BsonArray()).add(point);
            }
          }
          ClusterCommands commands =
              refusals.get() < STALE_ANSWERS_OF_MONGOS
                  ? cluster.commands()
                  : cluster.commandsOfServers();
          try {
            pointsByChunk.forEach(
                (chunk, inside) -> commands.split(namespace, entry, chunk, inside));
          } catch (TestbedException e) {
            if (commands != cluster.commands()) {
              throw new TestbedException(
                  "%s can't be split: the mongos refused with StaleConfig, then the shard refused: %s"
                      .formatted(namespace, e.getMessage()),
                  e.getCause() == null ? e : e.getCause());
            }
            if (Admin.codeOf(e) == ErrorCodes.STALE_CONFIG) {
              refusals.incrementAndGet();
            }
            throw e;
          }
        });
  }

  /**
   * Moves a range to a shard and waits until the migration is done. Does nothing if the shard owns
   * the range.
   *
   * @param min lower bound of a chunk, or of a part of a chunk
   * @param max upper bound, or null for the chunk's upper bound
   */
  public void moveRange(BsonDocument min, @Nullable BsonDocument max, String toShard) {
    retrying(
        "move a range of " + namespace + " to " + toShard,
        () -> cluster.commands().move(namespace, min, max, toShard));
  }

  /** Drops the collection on every shard; does nothing if there is none. */
  public void drop() {
    cluster.commands().drop(database, collection);
  }

  /**
   * Returns the collection's routing table. It is built from the present content of
   * config.collections and config.chunks.
   *
   * @throws TestbedException if the collection is not sharded
   */
  public RoutingTable routingTable() {
    for (int attempt = 0; ; attempt++) {
      BsonDocument entry = entry();
      try {
        return RoutingTable.of(
            entry, config().collection("config", "chunks").find(ofCollection(entry)), shardNames());
      } catch (InconsistentRoutingTableException e) {
        // A migration during the read can make one attempt fail. If four attempts fail, there is
        // another reason.
        if (attempt == 3) {
          throw new TestbedException(
              "config.chunks can't be read for " + namespace + ": " + e.getMessage(), e);
        }
      }
    }
  }

  private void verify(List<BsonDocument> splitPoints, List<BsonDocument> shareStarts) {
    List<String> shards = cluster.shardNames();
    Set<BsonDocument> bounds = new HashSet<>();
    int seen = 0;
    for (int share = 0; share < shards.size(); share++) {
      for (ChunkRange chunk : share(shareStarts, share)) {
        bounds.add(chunk.min());
        seen++;
        if (!chunk.shard().equals(shards.get(share))) {
          throw new TestbedException(
              "%s: the chunk at %s is on %s and not on %s"
                  .formatted(namespace, chunk.min(), chunk.shard(), shards.get(share)));
        }
      }
    }
    if (!bounds.containsAll(splitPoints) || seen < splitPoints.size() + 1) {
      throw new TestbedException(namespace + " is not split at every requested point");
    }
  }

  /** The chunks of one share, in the servers' order of keys. */
  private List<ChunkRange> share(List<BsonDocument> shareStarts, int share) {
    List<ChunkRange> in = new ArrayList<>();
    boolean inside = share == 0;
    for (ChunkRange chunk : chunks(entry())) {
      inside |= share > 0 && chunk.min().equals(shareStarts.get(share - 1));
      if (share < shareStarts.size() && chunk.min().equals(shareStarts.get(share))) {
        break;
      }
      if (inside) {
        in.add(chunk);
      }
    }
    return in;
  }

  private ChunkRange chunkOf(BsonDocument entry, BsonDocument point) {
    BsonDocument chunk =
        config()
            .collection("config", "chunks")
            .find(
                Filters.and(
                    ofCollection(entry), Filters.lte("min", point), Filters.gt("max", point)))
            .first();
    if (chunk == null) {
      throw new TestbedException("%s has no chunk for %s".formatted(namespace, point));
    }
    return range(chunk, shardNames());
  }

  private List<ChunkRange> chunks(BsonDocument entry) {
    List<ChunkRange> chunks = new ArrayList<>();
    Map<ShardId, String> names = shardNames();
    config()
        .collection("config", "chunks")
        .find(ofCollection(entry))
        .sort(Sorts.ascending("min"))
        .forEach(chunk -> chunks.add(range(chunk, names)));
    return chunks;
  }

  private Map<ShardId, String> shardNames() {
    return ShardId.names(config().collection("config", "shards").find());
  }

  private static ChunkRange range(BsonDocument chunk, Map<ShardId, String> names) {
    return new ChunkRange(
        chunk.getDocument("min"),
        chunk.getDocument("max"),
        ShardId.of(chunk, "shard", "config.chunks").name(names));
  }

  private org.bson.conversions.Bson ofCollection(BsonDocument entry) {
    return Cluster.chunksOf(namespace, entry);
  }

  private BsonDocument entry() {
    return cluster.collectionEntry(namespace);
  }

  private Admin config() {
    return cluster.catalog();
  }

  private static void retrying(String what, Runnable change) {
    TestbedException[] last = {new TestbedException(what)};
    long deadline = System.nanoTime() + RETRY_FOR.toNanos();
    do {
      try {
        change.run();
        return;
      } catch (TestbedException e) {
        if (!RETRYABLE.contains(Admin.codeOf(e))) {
          throw e;
        }
        last[0] = e;
        Waiting.pause(50);
      }
    } while (System.nanoTime() - deadline < 0);
    throw last[0];
  }
}
