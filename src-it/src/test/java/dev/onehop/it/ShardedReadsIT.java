package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.ServerApi;
import com.mongodb.ServerApiVersion;
import com.mongodb.client.MongoClients;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.CountOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Sorts;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Reads over several shards, and what they leave behind there, in direct mode and the stand-in. */
class ShardedReadsIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int DOCUMENTS = 300;

  private static Testbed testbed;
  private static final Map<String, com.mongodb.client.MongoClient> shards = new TreeMap<>();

  /** How an application reaches the shards. */
  enum Way {
    DIRECT {
      @Override
      MongoClient client(Consumer<MongoClientSettings.Builder> change) {
        return OneHop.builder("mongodb://" + testbed.configServers().replaceFirst(".*/", ""))
            .applyToClientSettings(change)
            .routing(RoutingMode.DIRECT)
            .reactiveClient();
      }
    },
    STAND_IN {
      @Override
      MongoClient client(Consumer<MongoClientSettings.Builder> change) {
        MongoClientSettings.Builder settings =
            MongoClientSettings.builder()
                .applyConnectionString(new ConnectionString(testbed.url()));
        change.accept(settings);
        return com.mongodb.reactivestreams.client.MongoClients.create(settings.build());
      }
    };

    MongoClient client() {
      return client(settings -> {});
    }

    abstract MongoClient client(Consumer<MongoClientSettings.Builder> change);
  }

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(Topology.named("single-host")).start();
    testbed.shardCollection("it.reads", Numbered.KEY, Numbered.splitAt(100, 200));
    try (MongoClient client = Way.STAND_IN.client()) {
      run(
          client
              .getDatabase("it")
              .getCollection("reads")
              .insertMany(Numbered.documents(DOCUMENTS)));
    }
    testbed
        .shardHosts()
        .forEach(
            (name, set) ->
                shards.put(name, MongoClients.create("mongodb://" + set.replaceFirst(".*/", ""))));
  }

  @AfterAll
  static void stop() {
    shards.values().forEach(com.mongodb.client.MongoClient::close);
    if (testbed != null) {
      testbed.close();
    }
  }

  /** All commands that a read takes, those of ours too, say the same of the Stable API. */
  @ParameterizedTest
  @EnumSource
  void strictStableApi(Way way) {
    ServerApi strict =
        ServerApi.builder()
            .version(ServerApiVersion.V1)
            .strict(true)
            .deprecationErrors(true)
            .build();
    try (MongoClient client = way.client(settings -> settings.serverApi(strict))) {
      MongoCollection<Document> reads = reads(client);

      assertThat(all(reads.find().batchSize(7))).hasSize(DOCUMENTS);
      assertThat(all(reads.find().sort(Sorts.descending("n")).batchSize(7)))
          .isEqualTo(all(reads.find().sort(Sorts.descending("n"))))
          .hasSize(DOCUMENTS);
      assertThat(all(reads.aggregate(List.of(Aggregates.match(Filters.gte("n", 5)))).batchSize(7)))
          .hasSize(DOCUMENTS - 5);
      assertThat(run(reads.countDocuments(Filters.gte("n", 5), new CountOptions().skip(5))))
          .isEqualTo(DOCUMENTS - 10);
      assertThat(run(reads.estimatedDocumentCount())).isEqualTo(DOCUMENTS);
      // Left while there is more.
      assertThat(Flux.from(reads.find().batchSize(7)).take(30).collectList().block(TIMEOUT))
          .hasSize(30);
    }
  }

  /** Reads that are answered whole, or were ended, have no cursor at any shard. */
  @ParameterizedTest
  @EnumSource
  void noCursorIsLeft(Way way) {
    try (MongoClient client = way.client()) {
      MongoDatabase it = client.getDatabase("it");
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
            readToItsEnd(it, cursor);
          }
        }
        assertThat(onShards(ShardedReadsIT::openCursors)).as(read).isEqualTo(before);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void anEmptyFirstBatchIsTheBeginning(Way way) {
    try (MongoClient client = way.client()) {
      MongoDatabase it = client.getDatabase("it");
      Document cursor =
          command(
                  it,
                  "{aggregate: 'reads', pipeline: [{$match: {n: {$gte: 5}}}, {$group: {_id: 1, n:"
                      + " {$sum: 1}}}], cursor: {batchSize: 0}}")
              .get("cursor", Document.class);

      assertThat(cursor.getList("firstBatch", Document.class)).isEmpty();
      assertThat(cursor.getLong("id")).isNotZero();
      assertThat(readToItsEnd(it, cursor))
          .singleElement()
          .satisfies(
              counted ->
                  assertThat(((Number) counted.get("n")).intValue()).isEqualTo(DOCUMENTS - 5));
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatIsLeftEarlyIsEndedAtTheShards(Way way) {
    try (MongoClient client = way.client()) {
      Map<String, Long> before = onShards(ShardedReadsIT::openCursors);
      for (int i = 0; i < 5; i++) {
        assertThat(
                Flux.from(reads(client).find().batchSize(7)).take(10).collectList().block(TIMEOUT))
            .hasSize(10);
      }
      await()
          .untilAsserted(() -> assertThat(onShards(ShardedReadsIT::openCursors)).isEqualTo(before));
    }
  }

  /** What a client says at its end reaches all shards that have seen its sessions. */
  @ParameterizedTest
  @EnumSource
  void sessionsEndAtTheShards(Way way) {
    Map<String, Long> before = onShards(shard -> commands(shard, "endSessions"));
    MongoClient client = way.client();
    assertThat(all(reads(client).find())).hasSize(DOCUMENTS);

    client.close();

    Map<String, Long> after = onShards(shard -> commands(shard, "endSessions"));
    assertThat(after)
        .allSatisfy((shard, ended) -> assertThat(ended).isGreaterThan(before.get(shard)));
  }

  /** A session takes its cursors with it, as those of a mongos do. */
  @ParameterizedTest
  @EnumSource
  void killedSessionsLeaveNoCursor(Way way) {
    try (MongoClient client = way.client()) {
      MongoDatabase it = client.getDatabase("it");
      Map<String, Long> before = onShards(ShardedReadsIT::openCursors);
      ClientSession session = run(client.startSession());
      BsonDocument lsid = session.getServerSession().getIdentifier();
      Document cursor =
          run(it.runCommand(session, BsonDocument.parse("{find: 'reads', batchSize: 2}")))
              .get("cursor", Document.class);
      assertThat(onShards(ShardedReadsIT::openCursors)).isNotEqualTo(before);

      run(client.getDatabase("admin").runCommand(new Document("killSessions", List.of(lsid))));

      assertThat(onShards(ShardedReadsIT::openCursors)).isEqualTo(before);
      assertThat(
              Mono.from(
                      it.runCommand(
                          session,
                          new Document("getMore", cursor.getLong("id"))
                              .append("collection", "reads")))
                  .map(reply -> 0)
                  .onErrorResume(MongoCommandException.class, e -> Mono.just(e.getErrorCode()))
                  .block(TIMEOUT))
          .isEqualTo(43);
      session.close();
    }
  }

  private static List<Document> readToItsEnd(MongoDatabase database, Document first) {
    List<Document> read = new ArrayList<>();
    String collection = first.getString("ns").replaceFirst("[^.]*\\.", "");
    for (long id = first.getLong("id"); id != 0; ) {
      Document cursor =
          run(database.runCommand(new Document("getMore", id).append("collection", collection)))
              .get("cursor", Document.class);
      read.addAll(cursor.getList("nextBatch", Document.class));
      id = cursor.getLong("id");
    }
    return read;
  }

  private static Map<String, Long> onShards(ToLongFunction<com.mongodb.client.MongoClient> asked) {
    Map<String, Long> told = new TreeMap<>();
    shards.forEach((name, shard) -> told.put(name, asked.applyAsLong(shard)));
    return told;
  }

  private static long openCursors(com.mongodb.client.MongoClient shard) {
    return metrics(shard)
        .get("cursor", Document.class)
        .get("open", Document.class)
        .getLong("total");
  }

  private static long commands(com.mongodb.client.MongoClient shard, String command) {
    return metrics(shard)
        .get("commands", Document.class)
        .get(command, Document.class)
        .getLong("total");
  }

  private static Document metrics(com.mongodb.client.MongoClient shard) {
    return shard
        .getDatabase("admin")
        .runCommand(new Document("serverStatus", 1))
        .get("metrics", Document.class);
  }

  private static MongoCollection<Document> reads(MongoClient client) {
    return client.getDatabase("it").getCollection("reads");
  }

  private static Document command(MongoDatabase database, String json) {
    return run(database.runCommand(BsonDocument.parse(json)));
  }

  private static List<Document> all(Publisher<Document> documents) {
    return Flux.from(documents).collectList().block(TIMEOUT);
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
