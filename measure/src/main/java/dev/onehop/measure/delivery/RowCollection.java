package dev.onehop.measure.delivery;

import com.mongodb.ClientSessionOptions;
import com.mongodb.MongoException;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import dev.onehop.core.table.ShardId;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.conversions.Bson;

/** A collection whose key begins with a hash, through the official driver and a mongos. */
public final class RowCollection implements AutoCloseable {

  /** What {@code onehop consume} calls it, in the database of the cluster's URL. */
  static final String NAME = "onehop_consume";

  private final MongoClient client;
  private final String database;
  private final String name;

  /**
   * Connects.
   *
   * @param name of the collection, in the database of the URL
   */
  public RowCollection(ClusterUrl url, String name) {
    this.client = MongoClients.create(Connections.settings(url.secret(), url.authority()));
    this.database = url.database();
    this.name = name;
  }

  /** Where ranges of hashes begin, as the bounds of so many chunks of the same size. */
  public static List<BsonDocument> bounds(int chunks) {
    return HashRanges.splitPoints(chunks).stream().map(Row::bound).toList();
  }

  /** With write concern majority: an event comes after that only, and it flushes the journal. */
  public MongoCollection<RawBsonDocument> rows() {
    return client
        .getDatabase(database)
        .getCollection(name, RawBsonDocument.class)
        .withWriteConcern(WriteConcern.MAJORITY);
  }

  /** A cluster time that is not later than any write that follows. */
  public BsonTimestamp now() {
    try (ClientSession session =
        client.startSession(ClientSessionOptions.builder().causallyConsistent(true).build())) {
      client.getDatabase("admin").runCommand(session, new BsonDocument("ping", new BsonInt32(1)));
      BsonTimestamp time = session.getOperationTime();
      if (time == null) {
        throw Failure.run("the mongos returns no cluster time", null);
      }
      return time;
    }
  }

  /**
   * The hashes whose rows do not lie on one shard, the last by name.
   *
   * @throws Failure if the ranges can't be read, or all lie on one shard
   */
  HashRanges withoutOneShard() {
    List<BsonDocument> chunks = chunks();
    Set<String> shards = new TreeSet<>();
    chunks.forEach(chunk -> shards.add(chunk.getString("shard").getValue()));
    if (shards.size() < 2) {
      throw Failure.run("all ranges of " + namespace() + " lie on one shard: none can idle", null);
    }
    String idle = new TreeSet<>(shards).last();
    return HashRanges.of(ranges(chunks, shard -> !shard.equals(idle)));
  }

  /**
   * The hashes whose rows lie on each shard, by its name; without shards that have none.
   *
   * @throws Failure if the ranges can't be read
   */
  public SortedMap<String, HashRanges> byShard() {
    List<BsonDocument> chunks = chunks();
    SortedMap<String, HashRanges> all = new TreeMap<>();
    for (BsonDocument chunk : chunks) {
      String shard = chunk.getString("shard").getValue();
      List<HashRanges.Range> its = ranges(chunks, shard::equals);
      if (!its.isEmpty()) {
        all.put(shard, HashRanges.of(its));
      }
    }
    return all;
  }

  private static List<HashRanges.Range> ranges(List<BsonDocument> chunks, Predicate<String> shard) {
    List<HashRanges.Range> ranges = new ArrayList<>();
    for (BsonDocument chunk : chunks) {
      if (shard.test(chunk.getString("shard").getValue())) {
        long from = hash(chunk.getDocument("min"));
        long to = hash(chunk.getDocument("max"));
        if (from < to) {
          ranges.add(new HashRanges.Range(from, to));
        }
      }
    }
    return ranges;
  }

  /** The names of the cluster's shards. */
  public Set<String> shards() {
    Set<String> names = new TreeSet<>();
    client
        .getDatabase("config")
        .getCollection("shards", BsonDocument.class)
        .find()
        .forEach(shard -> names.add(shard.getString("_id").getValue()));
    return names;
  }

  /**
   * The version of its chunks, which changes whenever one of them moves or is split.
   *
   * @throws Failure if it can't be read
   */
  public BsonTimestamp version() {
    return chunks().stream()
        .map(chunk -> chunk.getTimestamp("lastmod"))
        .max(Comparator.naturalOrder())
        .orElseThrow();
  }

  private List<BsonDocument> chunks() {
    try {
      MongoDatabase config = client.getDatabase("config");
      BsonDocument entry =
          config
              .getCollection("collections", BsonDocument.class)
              .find(Filters.eq("_id", namespace()))
              .first();
      if (entry == null) {
        throw Failure.run(namespace() + " is not sharded", null);
      }
      // Up to 4.4 chunks name their collection, later its UUID.
      Bson ofCollection =
          entry.containsKey("timestamp")
              ? Filters.eq("uuid", entry.get("uuid"))
              : Filters.eq("ns", namespace());
      Map<ShardId, String> names =
          ShardId.names(config.getCollection("shards", BsonDocument.class).find());
      List<BsonDocument> chunks =
          config
              .getCollection("chunks", BsonDocument.class)
              .find(ofCollection)
              .into(new ArrayList<>());
      chunks.forEach(
          chunk ->
              chunk.put(
                  "shard",
                  new BsonString(ShardId.of(chunk, "shard", "config.chunks").name(names))));
      return chunks;
    } catch (MongoException e) {
      throw Failure.run("config.chunks can't be read: " + Failure.firstLine(e), e);
    }
  }

  /** The hash that a bound of a chunk stands for. */
  static long hash(BsonDocument bound) {
    BsonValue id = bound.get("_id");
    if (id != null && id.isDocument() && id.asDocument().isInt32("h")) {
      return id.asDocument().getInt32("h").getValue();
    }
    // MinKey or MaxKey, the ends of all.
    return id != null && id.getBsonType() == BsonType.MIN_KEY
        ? Integer.MIN_VALUE
        : Integer.MAX_VALUE + 1L;
  }

  private String namespace() {
    return database + "." + name;
  }

  @Override
  public void close() {
    client.close();
  }
}
