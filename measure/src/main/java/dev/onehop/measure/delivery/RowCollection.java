package dev.onehop.measure.delivery;

import com.mongodb.MongoException;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.core.table.Chunk;
import dev.onehop.core.table.ChunkVersion;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.TargetExplanation;
import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import dev.onehop.routing.OneHop;
import dev.onehop.streams.ShardedChangeStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A collection of rows in the database of a cluster's URL. It uses the official driver.
 * Thread-safe.
 */
public final class RowCollection implements AutoCloseable {

  private final ClusterUrl url;
  private final String name;
  private final MongoClient client;
  private com.mongodb.reactivestreams.client.@Nullable MongoClient
      reactive; // accessed only with this object locked

  /**
   * The distribution of a collection's rows over the shards. Immutable.
   *
   * @param shards the names of the cluster's shards
   * @param version the highest chunk version, which changes with each migration or split
   * @param ranges the hashes that each shard owns, by the shard's name; a shard without hashes is
   *     missing
   */
  record Placement(Set<String> shards, ChunkVersion version, SortedMap<String, HashRanges> ranges) {

    /** The hashes of each shard. */
    List<HashRanges> hashes() {
      return List.copyOf(ranges.values());
    }

    /**
     * Returns the hashes of all shards except the last shard by name.
     *
     * @throws Failure if all rows are on one shard
     */
    HashRanges withoutOneShard() {
      List<HashRanges.Range> others = new ArrayList<>();
      ranges.headMap(ranges.lastKey()).values().forEach(each -> others.addAll(each.ranges()));
      if (others.isEmpty()) {
        throw Failure.run(
            "all ranges of the collection are on one shard; idle-shard needs ranges on two", null);
      }
      return new HashRanges(others);
    }
  }

  /**
   * Connects.
   *
   * @param name the collection's name
   */
  RowCollection(ClusterUrl url, String name) {
    this.url = url;
    this.name = name;
    this.client = Clients.plain(url);
  }

  /**
   * Waits until a change stream can start on the collection, which need not exist. Then shards the
   * collection.
   *
   * @param chunksPerShard the number of chunks of each shard; more than one makes routing tables
   *     realistic
   * @throws IllegalArgumentException if the servers are too old for change streams of a missing
   *     collection
   */
  static void prepare(BenchCluster cluster, String name, int chunksPerShard) {
    ShardedChangeStream stream =
        ShardedChangeStream.builder(Clients.settings(cluster.url()))
            .collection(cluster.url().database(), name)
            .build();
    var unused = Mono.from(stream.start()).block();
    cluster.shard(name, bounds(cluster.shardHosts().size() * chunksPerShard));
  }

  /** Returns the bounds that split the collection into a number of equal chunks. */
  public static List<BsonDocument> bounds(int chunks) {
    return HashRanges.splitPoints(chunks).stream().map(Row::bound).toList();
  }

  /**
   * Returns the collection of this object's client. Its writes have write concern majority, because
   * an event arrives only after the majority commit.
   */
  MongoCollection<RawBsonDocument> rows() {
    return rows(client);
  }

  /** Returns the collection of another client. */
  MongoCollection<RawBsonDocument> rows(MongoClient by) {
    return by.getDatabase(url.database())
        .getCollection(name, RawBsonDocument.class)
        .withWriteConcern(WriteConcern.MAJORITY);
  }

  /** Returns the client for snapshots. It closes with this object. */
  synchronized com.mongodb.reactivestreams.client.MongoClient reactiveClient() {
    if (reactive == null) {
      reactive = MongoClients.create(Clients.settings(url));
    }
    return reactive;
  }

  /** Returns the collection of the client for snapshots. */
  com.mongodb.reactivestreams.client.MongoCollection<Document> reactiveRows() {
    return reactiveClient().getDatabase(url.database()).getCollection(name);
  }

  /** Deletes all rows. */
  void clear() {
    var unused = rows().deleteMany(new BsonDocument());
  }

  /** Returns a request for all events of the collection, without channels. */
  StreamRequest events(BsonTimestamp start, Duration await, boolean total) {
    return new StreamRequest(url, name, start, List.of(), await, total, 0);
  }

  /** Returns a cluster time. Every later write has this time or a later time. */
  BsonTimestamp now() {
    BsonDocument ping = new BsonDocument("ping", new BsonInt32(1));
    BsonValue time =
        client.getDatabase("admin").runCommand(ping, BsonDocument.class).get("operationTime");
    if (time == null) {
      throw Failure.run("the mongos returns no cluster time", null);
    }
    return time.asTimestamp();
  }

  /**
   * Reads the present distribution of the rows.
   *
   * @throws Failure if the collection is not sharded, or the metadata can't be read
   */
  Placement placement() {
    String namespace = url.database() + "." + name;
    try (OneHop router = OneHop.builder(url.secret()).applyToClientSettings(url::trust).build()) {
      Target all = router.explain(namespace, new BsonDocument()).target();
      TargetExplanation table = all == null ? null : all.explain(Integer.MAX_VALUE);
      if (table == null || table.version() == null) {
        throw Failure.run(namespace + " is not sharded", null);
      }
      SortedMap<String, List<HashRanges.Range>> ranges = new TreeMap<>();
      for (Chunk chunk : table.chunks()) {
        HashRanges.Range range = new HashRanges.Range(hash(chunk.min()), hash(chunk.max()));
        if (range.from() < range.to()) {
          ranges.computeIfAbsent(chunk.shard(), shard -> new ArrayList<>()).add(range);
        }
      }
      SortedMap<String, HashRanges> placed = new TreeMap<>();
      ranges.forEach((shard, its) -> placed.put(shard, new HashRanges(its)));
      return new Placement(shards().keySet(), table.version(), placed);
    } catch (MongoException e) {
      throw Failure.run("the routing metadata can't be read: " + Failure.firstLine(e), e);
    }
  }

  /** The members of each shard, as {@code name/host:port[,host:port...]}, by the shard's name. */
  SortedMap<String, String> shards() {
    SortedMap<String, String> shards = new TreeMap<>();
    for (BsonDocument shard :
        client.getDatabase("config").getCollection("shards", BsonDocument.class).find()) {
      shards.put(shard.getString("_id").getValue(), shard.getString("host").getValue());
    }
    return shards;
  }

  /** Returns the hash in a bound of a chunk. */
  static long hash(BsonDocument bound) {
    BsonValue id = bound.get("_id");
    if (id != null && id.isDocument() && id.asDocument().isInt32("h")) {
      return id.asDocument().getInt32("h").getValue();
    }
    // The bound is MinKey or MaxKey, an end of the key range.
    return id != null && id.getBsonType() == BsonType.MIN_KEY
        ? Integer.MIN_VALUE
        : Integer.MAX_VALUE + 1L;
  }

  @Override
  public synchronized void close() {
    client.close();
    if (reactive != null) {
      reactive.close();
    }
  }
}
