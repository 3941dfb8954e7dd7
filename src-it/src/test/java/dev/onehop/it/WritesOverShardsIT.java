package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.Updates;
import dev.onehop.it.clients.Mode;
import dev.onehop.it.clients.RoutedModes;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.clients.Driver;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import dev.onehop.testbed.topology.Shard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.Document;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Writes to several shards: long ordered batches, and writes to many documents while ranges move.
 */
@ShardedCluster
@Tag("full")
class WritesOverShardsIT {
  private static final Duration TIMEOUT = Duration.ofMinutes(2);
  private static final Duration MOVING =
      Duration.ofSeconds(Integer.getInteger("onehop.it.stress.seconds", 5));
  private static final int DOCUMENTS = 300;

  private static SharedCluster cluster;

  /** How a write to many documents is sent. */
  enum Way {
    DIRECT,
    STAND_IN,
    /**
     * The write goes to each shard with the version that shards ignore. A mongos sends it in the
     * same way.
     */
    IGNORED_VERSION
  }

  @BeforeAll
  static void shard(SharedCluster shared) {
    cluster = shared;
    cluster
        .testbed()
        .shardHashedCollection(
            cluster.namespace("long"), new BsonDocument("_id", new BsonString("hashed")), 6);
    cluster.shardCollection("many", Numbered.KEY, Numbered.splitAt(100, 200));
  }

  /**
   * The statements of a batch alternate between the shards. A batch thus takes seconds, so the test
   * runs with one driver only.
   */
  @RoutedModes(
      mode = {RoutingMode.NONE, RoutingMode.DIRECT},
      driver = Driver.REACTIVE,
      pipelined = false)
  void executesLongOrderedBatches(MongoClient client) {
    MongoCollection<Document> collection = collection(client, "long");
    collection.deleteMany(new Document());

    assertThat(
            collection
                .insertMany(
                    IntStream.range(0, 8_000).mapToObj(i -> new Document("_id", i)).toList())
                .getInsertedIds())
        .hasSize(8_000);
    assertThat(
            collection
                .bulkWrite(
                    IntStream.range(0, 4_000)
                        .mapToObj(
                            i -> new UpdateOneModel<Document>(Filters.eq(i), Updates.inc("n", 1)))
                        .toList())
                .getModifiedCount())
        .isEqualTo(4_000);
    assertThat(collection.countDocuments()).isEqualTo(8_000);
    assertThat(collection.countDocuments(Filters.eq("n", 1))).isEqualTo(4_000);
  }

  /**
   * MongoDB guarantees only this: a document on a shard without a migration is changed once. On the
   * two shards of a migration, a document outside the moving range is changed once or more. The
   * reason: a shard that commits a migration may refuse a write that it has executed in part, even
   * with the ignored version. The whole write is then sent again, as a mongos does. A document of
   * the moving range may be missed. The test counts and prints all these cases.
   */
  @Test
  void multiUpdateChangesUnmovedDocumentsOnce() throws InterruptedException {
    try (MongoClient direct = Mode.DIRECT.client(cluster.url());
        MongoClient standIn = MongoClients.create(cluster.url())) {
      writeWhileARangeMoves(direct, standIn);
    }
  }

  private static void writeWhileARangeMoves(MongoClient direct, MongoClient standIn)
      throws InterruptedException {
    collection(standIn, "many")
        .insertMany(IntStream.range(0, DOCUMENTS).mapToObj(i -> new Document("_id", i)).toList());
    List<String> shards = cluster.shards();
    AtomicInteger moves = new AtomicInteger();
    long end = System.nanoTime() + MOVING.toNanos();
    Thread mover =
        new Thread(
            () -> {
              while (System.nanoTime() - end < 0 || moves.get() <= 3) {
                cluster.moveRange(
                    "many",
                    new BsonDocument("_id", new BsonInt32(100)),
                    shards.get(1 + moves.incrementAndGet() % 2));
              }
            });
    mover.start();
    List<Integer> modified = new ArrayList<>();
    Way[] ways = Way.values();
    while (mover.isAlive()) {
      int round = modified.size();
      modified.add(
          switch (ways[round % ways.length]) {
            case DIRECT -> push(direct, round);
            case STAND_IN -> push(standIn, round);
            case IGNORED_VERSION -> pushIgnoringVersions(round);
          });
    }
    mover.join(TIMEOUT.toMillis());

    Map<Way, int[]> seen = new EnumMap<>(Way.class);
    List<Document> documents = collection(standIn, "many").find().into(new ArrayList<>());
    assertThat(documents).hasSize(DOCUMENTS);
    for (int round = 0; round < modified.size(); round++) {
      int[] counts = seen.computeIfAbsent(ways[round % ways.length], way -> new int[6]);
      int changes = 0;
      for (Document document : documents) {
        int number = round;
        int times =
            (int)
                document.getList("log", Integer.class).stream()
                    .filter(each -> each == number)
                    .count();
        changes += times;
        counts[1] += times == 0 ? 1 : 0;
        counts[2] += times > 1 ? 1 : 0;
        if (document.getInteger("_id") < 100) {
          assertThat(times).as("round %d, %s", round, document.get("_id")).isEqualTo(1);
        } else if (document.getInteger("_id") >= 200) {
          assertThat(times).as("round %d, %s", round, document.get("_id")).isPositive();
          counts[5] += times - 1;
        }
      }
      counts[0]++;
      counts[3] += Math.max(0, changes - modified.get(round));
      counts[4] += Math.max(0, modified.get(round) - changes);
      assertThat(modified.get(round)).isGreaterThanOrEqualTo(200);
    }
    seen.forEach(
        (way, counts) ->
            System.out.printf(
                "MANY %s: %d writes during %d moves: %d documents missed, %d changed more than"
                    + " once, %d of them beside the range that moves; modifiedCount %d short, %d"
                    + " over%n",
                way,
                counts[0],
                moves.get(),
                counts[1],
                counts[2],
                counts[5],
                counts[3],
                counts[4]));
    assertThat(moves.get()).isGreaterThan(3);
    assertThat(seen).containsOnlyKeys(ways);
  }

  private static int push(MongoClient client, int round) {
    return (int)
        collection(client, "many")
            .updateMany(new Document(), Updates.push("log", round))
            .getModifiedCount();
  }

  private static int pushIgnoringVersions(int round) {
    List<Shard> shards = cluster.testbed().topology().shards();
    return InParallel.call(
            shards.size(),
            shards.size(),
            i ->
                pushIgnoringVersions(
                    "mongodb://%s:%d/?directConnection=true"
                        .formatted(shards.get(i).hosts().get(0).address(), shards.get(i).port()),
                    round))
        .stream()
        .mapToInt(each -> each)
        .sum();
  }

  private static int pushIgnoringVersions(String shard, int round) {
    BsonDocument command =
        BsonDocument.parse(
            """
            {update: 'many', updates: [{q: {}, u: {$push: {log: %d}}, multi: true}],
             writeConcern: {w: 'majority'}, shardVersion: {e: {$oid: '00000000ffffffffffffffff'},
               t: {$timestamp: {t: 4294967295, i: 4294967295}}, v: {$timestamp: {t: 0, i: 0}}}}\
            """
                .formatted(round));
    try (MongoClient client = MongoClients.create(shard)) {
      while (true) {
        BsonDocument reply =
            client.getDatabase(cluster.database()).runCommand(command, BsonDocument.class);
        if (reply.getArray("writeErrors", new BsonArray()).isEmpty()) {
          return reply.getInt32("nModified").getValue();
        }
      }
    }
  }

  private static MongoCollection<Document> collection(MongoClient client, String name) {
    return client.getDatabase(cluster.database()).getCollection(name);
  }
}
