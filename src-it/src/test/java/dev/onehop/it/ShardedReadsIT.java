package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoCommandException;
import com.mongodb.ServerApi;
import com.mongodb.ServerApiVersion;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.MongoIterable;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.CountOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Sorts;
import dev.onehop.it.clients.Mode;
import dev.onehop.it.clients.RoutedModes;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Reads over several shards in direct mode and over the stand-in router, and the cursors and
 * sessions that they leave.
 */
@ShardedCluster
class ShardedReadsIT {
  private static final int DOCUMENTS = 300;

  private static SharedCluster cluster;
  private static final Map<String, MongoClient> shards = new TreeMap<>();

  @BeforeAll
  static void start(SharedCluster shared) {
    cluster = shared;
    cluster.shardCollection("reads", Numbered.KEY, Numbered.splitAt(100, 200));
    try (MongoClient client = MongoClients.create(cluster.url())) {
      reads(client).insertMany(Numbered.documents(DOCUMENTS));
    }
    cluster
        .testbed()
        .shardHosts()
        .forEach(
            (name, set) ->
                shards.put(name, MongoClients.create("mongodb://" + set.replaceFirst(".*/", ""))));
  }

  @AfterAll
  static void stop() {
    shards.values().forEach(MongoClient::close);
  }

  /** All commands of a read, including OneHop's, must carry the same options of the Stable API. */
  @RoutedModes(mode = {RoutingMode.NONE, RoutingMode.DIRECT})
  void readsWithStrictStableApi(Mode mode) {
    ServerApi strict =
        ServerApi.builder()
            .version(ServerApiVersion.V1)
            .strict(true)
            .deprecationErrors(true)
            .build();
    try (MongoClient client = mode.client(cluster.url(), settings -> settings.serverApi(strict))) {
      MongoCollection<Document> reads = reads(client);

      assertThat(all(reads.find().batchSize(7))).hasSize(DOCUMENTS);
      assertThat(all(reads.find().sort(Sorts.descending("n")).batchSize(7)))
          .isEqualTo(all(reads.find().sort(Sorts.descending("n"))))
          .hasSize(DOCUMENTS);
      assertThat(all(reads.aggregate(List.of(Aggregates.match(Filters.gte("n", 5)))).batchSize(7)))
          .hasSize(DOCUMENTS - 5);
      assertThat(reads.countDocuments(Filters.gte("n", 5), new CountOptions().skip(5)))
          .isEqualTo(DOCUMENTS - 10);
      assertThat(reads.estimatedDocumentCount()).isEqualTo(DOCUMENTS);
      // Ends the read before its last document.
      readPartly(reads, 30);
    }
  }

  /**
   * Like a mongos, the stand-in router returns one document of each shard. Clients have to sum
   * them.
   */
  @Test
  void returnsStatisticsOfEachShard() {
    try (MongoClient client = MongoClients.create(cluster.url())) {
      assertThat(
              all(
                  reads(client)
                      .aggregate(
                          List.of(
                              Document.parse("{$collStats: {storageStats: {}}}"),
                              Document.parse("{$project: {count: '$storageStats.count'}}")))))
          .extracting(shard -> shard.getInteger("count"))
          .hasSize(3)
          .satisfies(
              counts ->
                  assertThat(counts.stream().mapToInt(Integer::intValue).sum())
                      .isEqualTo(DOCUMENTS));
      assertThat(all(reads(client).aggregate(List.of(Document.parse("{$indexStats: {}}")))))
          .filteredOn("name", "_id_")
          .hasSize(3);
    }
  }

  /** A read that is complete leaves no cursor on any shard. */
  @RoutedModes(mode = {RoutingMode.NONE, RoutingMode.DIRECT})
  void completeReadsLeaveNoCursor(Mode mode) {
    try (MongoClient client = mode.client(cluster.url())) {
      MongoDatabase it = client.getDatabase(cluster.database());
      for (String read :
          List.of(
              "{aggregate: 'reads', pipeline: [{$match: {n: {$gte: 5}}}, {$group: {_id: 1, n: {$sum:"
                  + " 1}}}], cursor: {batchSize: 1000}}",
              "{aggregate: 'reads', pipeline: [{$match: {n: {$gte: 5}}}, {$group: {_id: 1, n: {$sum:"
                  + " 1}}}], cursor: {batchSize: 1}}",
              "{aggregate: 'reads', pipeline: [{$match: {n: {$gte: 5}}}, {$group: {_id: 1, n: {$sum:"
                  + " 1}}}], cursor: {batchSize: 0}}",
              "{aggregate: 'reads', pipeline: [{$match: {n: {$gte: 5}}}], cursor: {batchSize: 0}}",
              "{aggregate: 'reads', pipeline: [{$match: {n: {$gte: 5}}}], cursor: {batchSize: 7}}",
              "{aggregate: 'reads', pipeline: [{$match: {n: {$gte: 999}}}], cursor: {}}",
              "{find: 'reads', batchSize: 0}",
              "{find: 'reads', batchSize: 7, singleBatch: true}",
              "{find: 'reads', batchSize: 1, limit: 1}",
              "{find: 'reads', batchSize: 7, limit: 20, sort: {n: -1}}",
              "{find: 'reads', batchSize: 7, limit: 7, skip: 20}",
              "{find: 'reads', batchSize: 7, sort: {n: 1}, skip: 1000}",
              "{find: 'reads', batchSize: 7, filter: {_id: 7}}",
              "{count: 'reads', query: {n: {$gte: 5}}, skip: 3, limit: 200}",
              "{distinct: 'reads', key: 'n'}",
              "{listIndexes: 'reads', cursor: {batchSize: 0}}",
              "{listIndexes: 'reads', cursor: {batchSize: 1}}",
              "{listCollections: 1, cursor: {batchSize: 0}}",
              "{explain: {find: 'reads', batchSize: 7}}")) {
        Map<String, Long> before = onShards(ShardedReadsIT::openCursors);
        for (int i = 0; i < 3; i++) {
          Document cursor = command(it, read).get("cursor", Document.class);
          if (cursor != null && cursor.getLong("id") != 0) {
            readToEnd(it, cursor);
          }
        }
        assertThat(onShards(ShardedReadsIT::openCursors)).as(read).isEqualTo(before);
      }
    }
  }

  @RoutedModes(mode = {RoutingMode.NONE, RoutingMode.DIRECT})
  void emptyFirstBatchIsFollowedByResults(Mode mode) {
    try (MongoClient client = mode.client(cluster.url())) {
      MongoDatabase it = client.getDatabase(cluster.database());
      Document cursor =
          command(
                  it,
                  "{aggregate: 'reads', pipeline: [{$match: {n: {$gte: 5}}}, {$group: {_id: 1, n:"
                      + " {$sum: 1}}}], cursor: {batchSize: 0}}")
              .get("cursor", Document.class);

      assertThat(cursor.getList("firstBatch", Document.class)).isEmpty();
      assertThat(cursor.getLong("id")).isNotZero();
      assertThat(readToEnd(it, cursor))
          .singleElement()
          .satisfies(
              counted ->
                  assertThat(((Number) counted.get("n")).intValue()).isEqualTo(DOCUMENTS - 5));
    }
  }

  @RoutedModes(mode = {RoutingMode.NONE, RoutingMode.DIRECT})
  void abandonedReadsEndOnShards(Mode mode) {
    try (MongoClient client = mode.client(cluster.url())) {
      Map<String, Long> before = onShards(ShardedReadsIT::openCursors);
      for (int i = 0; i < 5; i++) {
        readPartly(reads(client), 10);
      }
      await()
          .untilAsserted(() -> assertThat(onShards(ShardedReadsIT::openCursors)).isEqualTo(before));
    }
  }

  /** The {@code endSessions} of a client must reach all shards that its sessions have used. */
  @RoutedModes(mode = {RoutingMode.NONE, RoutingMode.DIRECT})
  void sessionsEndOnShards(Mode mode) {
    Map<String, Long> before = onShards(shard -> commands(shard, "endSessions"));
    MongoClient client = mode.client(cluster.url());
    for (int id : List.of(5, 150, 250)) {
      assertThat(reads(client).find(Filters.eq(id)).first()).containsEntry("n", id);
    }

    client.close();

    // Waits, because a mongos forwards the command in the background.
    await()
        .untilAsserted(
            () ->
                assertThat(onShards(shard -> commands(shard, "endSessions")))
                    .allSatisfy(
                        (shard, ended) -> assertThat(ended).isGreaterThan(before.get(shard))));
  }

  /** When a session is killed, its cursors are closed, as on a mongos. */
  @RoutedModes(mode = {RoutingMode.NONE, RoutingMode.DIRECT})
  void killedSessionsLeaveNoCursor(Mode mode) {
    try (MongoClient client = mode.client(cluster.url())) {
      MongoDatabase it = client.getDatabase(cluster.database());
      Map<String, Long> before = onShards(ShardedReadsIT::openCursors);
      ClientSession session = client.startSession();
      BsonDocument lsid = session.getServerSession().getIdentifier();
      Document cursor =
          it.runCommand(session, BsonDocument.parse("{find: 'reads', batchSize: 2}"))
              .get("cursor", Document.class);
      assertThat(onShards(ShardedReadsIT::openCursors)).isNotEqualTo(before);

      client.getDatabase("admin").runCommand(new Document("killSessions", List.of(lsid)));

      assertThat(onShards(ShardedReadsIT::openCursors)).isEqualTo(before);
      Document getMore =
          new Document("getMore", cursor.getLong("id")).append("collection", "reads");
      assertThat(
              catchThrowableOfType(
                      MongoCommandException.class, () -> it.runCommand(session, getMore))
                  .getErrorCode())
          .isEqualTo(43);
      session.close();
    }
  }

  private static List<Document> readToEnd(MongoDatabase database, Document first) {
    List<Document> read = new ArrayList<>();
    String collection = first.getString("ns").replaceFirst("[^.]*\\.", "");
    for (long id = first.getLong("id"); id != 0; ) {
      Document cursor =
          database
              .runCommand(new Document("getMore", id).append("collection", collection))
              .get("cursor", Document.class);
      read.addAll(cursor.getList("nextBatch", Document.class));
      id = cursor.getLong("id");
    }
    return read;
  }

  private static Map<String, Long> onShards(ToLongFunction<MongoClient> metric) {
    Map<String, Long> values = new TreeMap<>();
    shards.forEach((name, shard) -> values.put(name, metric.applyAsLong(shard)));
    return values;
  }

  private static long openCursors(MongoClient shard) {
    return metrics(shard)
        .get("cursor", Document.class)
        .get("open", Document.class)
        .getLong("total");
  }

  private static long commands(MongoClient shard, String command) {
    return metrics(shard)
        .get("commands", Document.class)
        .get(command, Document.class)
        .getLong("total");
  }

  private static Document metrics(MongoClient shard) {
    return shard
        .getDatabase("admin")
        .runCommand(new Document("serverStatus", 1))
        .get("metrics", Document.class);
  }

  private static MongoCollection<Document> reads(MongoClient client) {
    return client.getDatabase(cluster.database()).getCollection("reads");
  }

  private static void readPartly(MongoCollection<Document> reads, int documents) {
    try (MongoCursor<Document> cursor = reads.find().batchSize(7).cursor()) {
      for (int i = 0; i < documents; i++) {
        assertThat(cursor.next()).isNotNull();
      }
    }
  }

  private static Document command(MongoDatabase database, String json) {
    return database.runCommand(BsonDocument.parse(json));
  }

  private static List<Document> all(MongoIterable<Document> documents) {
    return documents.into(new ArrayList<>());
  }
}
