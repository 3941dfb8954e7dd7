package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoWriteException;
import com.mongodb.bulk.BulkWriteError;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.FindOneAndReplaceOptions;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.Projections;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.result.UpdateResult;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonMinKey;
import org.bson.BsonString;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Updates of a shard key that move the document to another shard. Direct mode sends them to a
 * mongos of the URI. In these tests, the mongos is the stand-in router, which executes them itself.
 */
@ShardedCluster
@Tag("full")
class ShardKeyChangeIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private static SharedCluster cluster;
  private static Testbed testbed;
  private static final Map<Way, MongoClient> clients = new TreeMap<>();
  private static int collections;

  enum Way {
    DIRECT,
    STAND_IN
  }

  @BeforeAll
  static void start(SharedCluster shared) {
    cluster = shared;
    testbed = cluster.testbed();
    clients.put(
        Way.DIRECT,
        OneHop.builder(testbed.url()).routing(RoutingMode.DIRECT).client(MongoClient.class));
    clients.put(Way.STAND_IN, MongoClients.create(testbed.url()));
  }

  @AfterAll
  static void stop() {
    clients.values().forEach(MongoClient::close);
  }

  @ParameterizedTest
  @EnumSource
  void updateMovesDocument(Way way) {
    MongoCollection<Document> collection = loaded(way);

    UpdateResult result =
        run(
            collection.updateOne(
                Filters.and(Filters.eq("k", 5), Filters.eq("n", 5)),
                Updates.combine(Updates.set("k", 250), Updates.inc("n", 1000))));

    assertThat(result.getMatchedCount()).isEqualTo(1);
    assertThat(result.getModifiedCount()).isEqualTo(1);
    assertThat(result.getUpsertedId()).isNull();
    assertMoved(collection, new Document("_id", 5).append("k", 250).append("n", 1005));
  }

  @ParameterizedTest
  @EnumSource
  void replacementMovesDocument(Way way) {
    MongoCollection<Document> collection = loaded(way);

    assertThat(
            run(collection.replaceOne(Filters.eq("k", 5), new Document("k", 150).append("n", -1)))
                .getModifiedCount())
        .isEqualTo(1);
    assertMoved(collection, new Document("_id", 5).append("k", 150).append("n", -1));
  }

  @ParameterizedTest
  @EnumSource
  void upsertInsertsOnOwningShard(Way way) {
    MongoCollection<Document> collection = loaded(way);

    UpdateResult result =
        run(
            collection.updateOne(
                Filters.and(Filters.eq("k", 50), Filters.eq("n", -7)),
                Updates.combine(Updates.set("k", 260), Updates.setOnInsert("_id", 1_000)),
                new UpdateOptions().upsert(true)));

    assertThat(result.getMatchedCount()).isZero();
    assertThat(result.getModifiedCount()).isZero();
    assertThat(result.getUpsertedId()).isEqualTo(new BsonInt32(1_000));
    assertThat(run(collection.find(Filters.eq("k", 50)).first())).containsEntry("_id", 50);
    assertThat(all(collection.find(Filters.eq("_id", 1_000))))
        .containsExactly(new Document("_id", 1_000).append("k", 260).append("n", -7));
    assertOwnedDocuments(collection, 301);
  }

  @ParameterizedTest
  @EnumSource
  void findAndModifyMovesDocument(Way way) {
    MongoCollection<Document> collection = loaded(way);

    assertThat(
            run(
                collection.findOneAndUpdate(
                    Filters.eq("k", 5),
                    Updates.set("k", 250),
                    new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER))))
        .isEqualTo(new Document("_id", 5).append("k", 250).append("n", 5));
    assertThat(run(collection.findOneAndUpdate(Filters.eq("k", 6), Updates.set("k", 251))))
        .isEqualTo(new Document("_id", 6).append("k", 6).append("n", 6));
    assertThat(
            run(
                collection.findOneAndReplace(
                    Filters.eq("k", 7),
                    new Document("k", 252).append("n", -1),
                    new FindOneAndReplaceOptions()
                        .projection(Projections.include("n"))
                        .returnDocument(ReturnDocument.AFTER))))
        .isEqualTo(new Document("_id", 7).append("n", -1));
    assertThat(
            run(
                collection.findOneAndUpdate(
                    Filters.eq("k", 8),
                    Updates.set("k", 253),
                    new FindOneAndUpdateOptions().projection(Projections.include("n")))))
        .isEqualTo(new Document("_id", 8).append("n", 8));
    assertThat(
            run(
                collection.findOneAndUpdate(
                    Filters.and(Filters.eq("k", 9), Filters.eq("n", -9)),
                    Updates.combine(Updates.set("k", 254), Updates.setOnInsert("_id", 1_001)),
                    new FindOneAndUpdateOptions()
                        .upsert(true)
                        .returnDocument(ReturnDocument.AFTER))))
        .isEqualTo(new Document("_id", 1_001).append("k", 254).append("n", -9));
    assertOwnedDocuments(collection, 301);
  }

  /** A mongos, too, executes such a change only if it is the single statement of its command. */
  @ParameterizedTest
  @MethodSource("waysAndOrders")
  void bulkWriteKeepsResultsOfOtherStatements(Way way, boolean ordered) {
    MongoCollection<Document> collection = loaded(way);
    List<UpdateOneModel<Document>> updates = new ArrayList<>();
    for (int k : List.of(1, 2, 3, 101, 4, 5, 6)) {
      updates.add(
          new UpdateOneModel<>(
              Filters.eq("k", k), k == 3 ? Updates.set("k", 250) : Updates.inc("n", 1000)));
    }

    assertThatThrownBy(
            () -> run(collection.bulkWrite(updates, new BulkWriteOptions().ordered(ordered))))
        .isInstanceOfSatisfying(
            MongoBulkWriteException.class,
            e -> {
              assertThat(e.getWriteErrors())
                  .extracting(BulkWriteError::getIndex)
                  .containsExactly(2);
              assertThat(e.getWriteErrors())
                  .extracting(BulkWriteError::getCode)
                  .containsExactly(72);
              assertThat(e.getWriteResult().getModifiedCount()).isEqualTo(ordered ? 2 : 6);
            });
    assertThat(all(collection.find(Filters.gte("n", 1000)))).hasSize(ordered ? 2 : 6);
    assertThat(run(collection.find(Filters.eq("k", 3)).first())).containsEntry("n", 3);
    assertOwnedDocuments(collection, 300);
  }

  static List<Object[]> waysAndOrders() {
    List<Object[]> all = new ArrayList<>();
    for (Way way : Way.values()) {
      all.add(new Object[] {way, true});
      all.add(new Object[] {way, false});
    }
    return all;
  }

  @ParameterizedTest
  @EnumSource
  void duplicateIdFailsWithoutMovingDocument(Way way) {
    MongoCollection<Document> collection = loaded(way);
    run(collection.insertOne(new Document("_id", 5).append("k", 250).append("n", -5)));

    assertThatThrownBy(() -> run(collection.updateOne(Filters.eq("k", 5), Updates.set("k", 260))))
        .isInstanceOf(MongoWriteException.class)
        .hasMessageContaining("duplicate key")
        .hasMessageContaining("_id for this collection is not globally unique");
    assertThat(all(collection.find(Filters.eq("_id", 5))))
        .containsExactlyInAnyOrder(
            new Document("_id", 5).append("k", 250).append("n", -5),
            new Document("_id", 5).append("k", 5).append("n", 5));
    // The next operation must find the session usable and no document locked.
    assertThat(
            run(collection.updateOne(Filters.eq("k", 5), Updates.inc("n", 1))).getModifiedCount())
        .isEqualTo(1);
  }

  /** After a lost reply, the driver sends the command again, but it must not run twice. */
  @ParameterizedTest
  @EnumSource
  void repeatedCommandRunsOnce(Way way) {
    MongoCollection<Document> collection = loaded(way);
    String name = collection.getNamespace().getCollectionName();
    BsonDocument command =
        new BsonDocument("update", new BsonString(name))
            .append(
                "updates",
                new BsonArray(
                    List.of(
                        BsonDocument.parse("{q: {k: 5}, u: {$set: {k: 250}, $inc: {n: 1000}}}"))));

    try (ClientSession session = run(clients.get(way).startSession())) {
      command.append(
          "txnNumber", new BsonInt64(session.getServerSession().advanceTransactionNumber()));
      assertThat(run(way, session, command)).containsEntry("n", new BsonInt32(1));
      // Inserts a document with the old key. If the command ran again, it would change this
      // document.
      run(collection.insertOne(new Document("_id", 2_000).append("k", 5).append("n", 0)));
      BsonDocument again = run(way, session, command);
      assertThat(again.getNumber("ok").intValue()).as("%s", again).isZero();
      assertThat(again).containsEntry("code", new BsonInt32(217));

      // After a migration, the new owner must also refuse the repeated command.
      testbed.moveRange(
          collection.getNamespace().getFullName(),
          new BsonDocument("k", new BsonMinKey()),
          List.copyOf(testbed.shardHosts().keySet()).get(2));
      BsonDocument elsewhere = run(way, session, command);
      assertThat(elsewhere.getNumber("ok").intValue()).as("%s", elsewhere).isZero();
    }
    assertThat(all(collection.find(Filters.gte("n", 1000))))
        .containsExactly(new Document("_id", 5).append("k", 250).append("n", 1005));
  }

  @Test
  void rejectsChangeWithoutMongos() {
    MongoCollection<Document> loaded = loaded(Way.STAND_IN);
    try (MongoClient client =
        OneHop.builder("mongodb://" + testbed.configServers().replaceFirst(".*/", ""))
            .routing(RoutingMode.DIRECT)
            .client(MongoClient.class)) {
      MongoCollection<Document> collection =
          client
              .getDatabase(cluster.database())
              .getCollection(loaded.getNamespace().getCollectionName());

      assertThatThrownBy(() -> run(collection.updateOne(Filters.eq("k", 5), Updates.set("k", 250))))
          .isInstanceOfSatisfying(MongoException.class, e -> assertThat(e.getCode()).isEqualTo(115))
          .hasMessageContaining("an update that moves its document to another shard")
          .hasMessageContaining(
              "needs a mongos in direct mode, but the URI names config servers" + " only");
    }
    assertThat(run(loaded.find(Filters.eq("k", 5)).first())).isNotNull();
  }

  @ParameterizedTest
  @EnumSource
  void rejectsChangeWithoutRetryableWrites(Way way) {
    MongoCollection<Document> collection = loaded(way);
    String name = collection.getNamespace().getCollectionName();

    try (ClientSession session = run(clients.get(way).startSession())) {
      BsonDocument reply =
          run(
              way,
              session,
              new BsonDocument("update", new BsonString(name))
                  .append(
                      "updates",
                      new BsonArray(
                          List.of(BsonDocument.parse("{q: {k: 5}, u: {$set: {k: 250}}}")))));
      assertThat(reply.getArray("writeErrors").get(0).asDocument().getString("errmsg").getValue())
          .contains("retryWrites");
    }
    assertThat(run(collection.find(Filters.eq("k", 5)).first())).isNotNull();
  }

  @ParameterizedTest
  @EnumSource(names = {"DIRECT", "STAND_IN"})
  void commitsChangeInTransaction(Way way) {
    MongoCollection<Document> collection = loaded(way);

    inTransaction(
        way,
        session ->
            Flux.concat(
                collection.updateOne(session, Filters.eq("k", 1), Updates.inc("n", 1000)),
                Mono.from(
                        collection.updateOne(
                            session,
                            Filters.eq("k", 5),
                            Updates.combine(Updates.set("k", 250), Updates.inc("n", 1000))))
                    .doOnNext(result -> assertThat(result.getModifiedCount()).isEqualTo(1)),
                collection.findOneAndUpdate(
                    session,
                    Filters.eq("k", 150),
                    Updates.combine(Updates.set("k", 10), Updates.inc("n", 1000)))),
        true);

    assertThat(all(collection.find(Filters.gte("n", 1000)))).hasSize(3);
    assertMoved(collection, new Document("_id", 5).append("k", 250).append("n", 1005));
  }

  @ParameterizedTest
  @EnumSource(names = {"DIRECT", "STAND_IN"})
  void abortsChangeInTransaction(Way way) {
    MongoCollection<Document> collection = loaded(way);

    inTransaction(
        way,
        session ->
            Flux.concat(
                collection.updateOne(session, Filters.eq("k", 5), Updates.set("k", 250)),
                collection.updateOne(session, Filters.eq("k", 1), Updates.inc("n", 1000))),
        false);

    assertThat(all(collection.find(Filters.gte("n", 1000)))).isEmpty();
    assertMoved(collection, new Document("_id", 5).append("k", 5).append("n", 5));
  }

  /** Ranges move while the documents change their shard keys. */
  @ParameterizedTest
  @EnumSource
  void changesDuringMigrationsLoseOrDuplicateNothing(Way way) throws InterruptedException {
    MongoCollection<Document> collection = loaded(way);
    String namespace = collection.getNamespace().getFullName();
    List<String> shards = List.copyOf(testbed.shardHosts().keySet());
    int documents = 20;
    int[] done = new int[documents];
    Thread mover =
        new Thread(
            () -> {
              for (int i = 0; i < 12; i++) {
                testbed.moveRange(
                    namespace,
                    new BsonDocument("k", new BsonInt32(i % 2 == 0 ? 100 : 200)),
                    shards.get(i % shards.size()));
              }
            });
    mover.start();
    int changes = 0;
    for (int i = 0; mover.isAlive() || i < 2 * documents; i++) {
      // Moves one document after another to the next range by a change of its shard key.
      int id = i % documents;
      try {
        UpdateResult result =
            run(
                collection.updateOne(
                    Filters.and(Filters.eq("k", shardKey(id, done[id])), Filters.eq("_id", id)),
                    Updates.combine(
                        Updates.set("k", shardKey(id, done[id] + 1)), Updates.inc("n", 1000))));
        assertThat(result.getModifiedCount()).isEqualTo(1);
        done[id]++;
        changes++;
      } catch (MongoWriteException e) {
        // As with a mongos, the write may fail with one of two errors. 11000: a shard still has an
        // orphan of the document, which it keeps for a second after a migration. 251: a shard that
        // commits a migration, or is too slow, has aborted the transaction. The reads below show
        // that a failed write has no effect.
        assertThat(e.getCode()).as("%s", e.getMessage()).isIn(11000, 251);
      }
    }
    assertThat(changes).isGreaterThanOrEqualTo(documents);
    mover.join(TIMEOUT.toMillis());

    for (int id = 0; id < documents; id++) {
      assertThat(all(collection.find(Filters.eq("_id", id))))
          .singleElement()
          .isEqualTo(
              new Document("_id", id)
                  .append("k", shardKey(id, done[id]))
                  .append("n", id + 1000 * done[id]));
    }
    assertThat(all(collection.find())).hasSize(300);
  }

  private static int shardKey(int id, int changes) {
    return id + changes % 3 * 100;
  }

  /** Runs a raw command in a session, and returns its reply even if it is an error. */
  private static BsonDocument run(Way way, ClientSession session, BsonDocument command) {
    try {
      return run(
          clients
              .get(way)
              .getDatabase(cluster.database())
              .runCommand(session, command, BsonDocument.class));
    } catch (MongoCommandException e) {
      return e.getResponse();
    }
  }

  private static void assertMoved(MongoCollection<Document> collection, Document expected) {
    assertThat(all(collection.find(Filters.eq("_id", 5)))).containsExactly(expected);
    assertThat(run(collection.find(Filters.eq("k", expected.get("k"))).first())).isNotNull();
    assertOwnedDocuments(collection, 300);
  }

  /** Each shard counts the documents that it owns. Checks the sum of these counts. */
  private static void assertOwnedDocuments(MongoCollection<Document> collection, int documents) {
    assertThat(
            testbed
                .evidence(collection.getNamespace().getFullName())
                .placement()
                .owned()
                .values()
                .stream()
                .mapToLong(Long::longValue)
                .sum())
        .isEqualTo(documents);
  }

  private static void inTransaction(
      Way way, Function<ClientSession, Publisher<?>> statements, boolean commit) {
    Mono.usingWhen(
            clients.get(way).startSession(),
            session -> {
              session.startTransaction();
              return Flux.from(statements.apply(session))
                  .then(
                      Mono.defer(
                          () ->
                              Mono.from(
                                  commit
                                      ? session.commitTransaction()
                                      : session.abortTransaction())));
            },
            session -> Mono.fromRunnable(session::close))
        .block(TIMEOUT);
  }

  /** A new collection that is sharded by {@code k}, with a third of its documents on each shard. */
  private static MongoCollection<Document> loaded(Way way) {
    String name = "keychange" + ++collections;
    testbed.shardCollection(
        cluster.namespace(name),
        new BsonDocument("k", new BsonInt32(1)),
        IntStream.of(100, 200).mapToObj(i -> new BsonDocument("k", new BsonInt32(i))).toList());
    MongoCollection<Document> collection =
        clients.get(way).getDatabase(cluster.database()).getCollection(name);
    run(
        collection.insertMany(
            IntStream.range(0, 300)
                .mapToObj(i -> new Document("_id", i).append("k", i).append("n", i))
                .toList()));
    return collection;
  }

  private static <T> List<T> all(Publisher<T> operation) {
    return Flux.from(operation).collectList().block(TIMEOUT);
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
