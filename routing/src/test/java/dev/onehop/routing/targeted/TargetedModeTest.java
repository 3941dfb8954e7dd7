package dev.onehop.routing.targeted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.WriteConcern;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.internal.direct.ScriptedCluster;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * Targeted mode on scripted mongoses: {@code m0} is beside s0, which owns the negative ids, {@code
 * m1} beside s1, which owns the others.
 */
class TargetedModeTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void commandsGoToTheMongosBesideTheOwner() {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (MongoClient client = builder("").meterRegistry(meters).reactiveClient()) {
      for (int id : new int[] {5, -5, 6}) {
        assertThat(run(in(client).find(Filters.eq(id)).first()))
            .containsEntry("from", id < 0 ? "m0" : "m1");
      }
      run(in(client).updateOne(Filters.eq(5), Updates.set("x", 1)));
      run(in(client).withWriteConcern(WriteConcern.UNACKNOWLEDGED).insertOne(id(7)));
      await().untilAsserted(() -> assertThat(cluster.seen("m1", "insert")).hasSize(1));
      run(in(client).find().first());
    }
    assertThat(cluster.seen("m1", "update")).hasSize(1);
    assertThat(meters.get("onehop.operations").tags("operation", "find").timers())
        .extracting(timer -> timer.getId().getTag("decision") + " " + timer.getId().getTag("shard"))
        .containsExactlyInAnyOrder("owner s0", "owner s1", "several-shards none");
    assertThat(meters.get("onehop.operations").tag("operation", "find").timers())
        .allSatisfy(timer -> assertThat(timer.getId().getTag("mode")).isEqualTo("targeted"));
  }

  @Test
  void anExplainGoesWhereTheCommandWould() {
    for (String mongos : List.of("m0", "m1")) {
      cluster.script(
          mongos,
          command ->
              command.containsKey("explain")
                  ? new BsonDocument("ok", new BsonInt64(1)).append("at", new BsonString(mongos))
                  : null);
    }
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (MongoClient client = builder("").meterRegistry(meters).reactiveClient()) {
      assertThat(run(in(client).find(Filters.eq(5)).explain())).containsEntry("at", "m1");
      assertThat(run(in(client).find(Filters.eq(-5)).explain())).containsEntry("at", "m0");
      assertThat(
              run(
                  in(client)
                      .aggregate(List.of(new Document("$match", new Document("_id", 5))))
                      .explain()))
          .containsEntry("at", "m1");
      for (String update :
          List.of(
              "{update: 'c', updates: [{q: {_id: 5}, u: {$set: {x: 1}}}]}",
              "{delete: 'c', deletes: [{q: {_id: 5}, limit: 1}]}",
              "{findAndModify: 'c', query: {_id: 5}, remove: true}")) {
        Document explain = new Document("explain", Document.parse(update));
        assertThat(run(client.getDatabase("it").runCommand(explain))).containsEntry("at", "m1");
      }
      // No mongos takes that; which one says so does not matter, but it gets the whole.
      run(
          client
              .getDatabase("it")
              .runCommand(
                  Document.parse(
                      "{explain: {delete: 'c', deletes:"
                          + " [{q: {_id: 5}, limit: 1}, {q: {_id: -5}, limit: 1}]}}")));
    }
    assertThat(cluster.seen("m0", "explain").size() + cluster.seen("m1", "explain").size())
        .isEqualTo(7);
    assertThat(meters.find("onehop.operations").timers()).isEmpty();
  }

  @Test
  void cursorsOfTwoMongosesWithOneIdStayApart() {
    for (String mongos : List.of("m0", "m1")) {
      cluster.script(mongos, command -> cursors(mongos, command));
    }
    try (MongoClient client = builder("").reactiveClient()) {
      MongoDatabase database = client.getDatabase("it");
      long first = open(database, 5);
      long second = open(database, -5);
      long third = open(database, 6);

      assertThat(first).isEqualTo(7);
      assertThat(Stream.of(first, second, third).distinct()).hasSize(3);
      Document more = run(database.runCommand(getMore(second)));
      assertThat(more.get("cursor", Document.class).getList("nextBatch", Document.class))
          .containsExactly(new Document("from", "m0"));
      assertThat(more.get("cursor", Document.class).getLong("id")).isEqualTo(second);

      Document killed =
          run(
              database.runCommand(
                  new Document("killCursors", "c")
                      .append("cursors", List.of(second, third, 12345L))));
      assertThat(killed.getList("cursorsKilled", Long.class))
          .containsExactlyInAnyOrder(second, third);
      assertThat(killed.getList("cursorsNotFound", Long.class)).containsExactly(12345L);
      assertThatThrownBy(() -> run(database.runCommand(getMore(second))))
          .isInstanceOfSatisfying(
              MongoCommandException.class, e -> assertThat(e.getErrorCode()).isEqualTo(43));
    }
    for (String mongos : List.of("m0", "m1")) {
      assertThat(cluster.seen(mongos, "killCursors"))
          .extracting(command -> command.getArray("cursors"))
          .containsExactly(new BsonArray(List.of(new BsonInt64(7))));
    }
  }

  @Test
  void aTransactionStaysWhereItBeganAndIsCommittedElsewhereIfThatIsDown() {
    for (String mongos : List.of("m0", "m1")) {
      cluster.script(mongos, TargetedModeTest::recoverable);
    }
    try (MongoClient client = builder("").reactiveClient();
        ClientSession session = run(client.startSession())) {
      session.startTransaction();
      run(in(client).insertOne(session, id(5)));
      run(in(client).insertOne(session, id(-5)));
      run(in(client).find(session, Filters.eq(-5)).first());
      run(session.commitTransaction());

      session.startTransaction();
      run(in(client).insertOne(session, id(6)));
      run(in(client).insertOne(session, id(-6)));
      cluster.stop("m1");
      run(session.commitTransaction());
    }
    assertThat(cluster.seen("m0", "insert")).isEmpty();
    assertThat(cluster.seen("m1", "insert")).hasSize(4);
    assertThat(cluster.seen("m1", "commitTransaction")).hasSize(1);
    assertThat(cluster.seen("m0", "commitTransaction"))
        .singleElement()
        .satisfies(commit -> assertThat(commit.containsKey("recoveryToken")).isTrue());
  }

  @Test
  void aBulkIsSplitAndItsAnswersAreOne() {
    cluster.script(
        "m0",
        command ->
            command.containsKey("update")
                ? BsonDocument.parse(
                    "{ok: 1, n: 1, nModified: 0, upserted: [{index: 1, _id: -9}],"
                        + " writeErrors: [{index: 0, code: 11000, errmsg: 'twice'}]}")
                : null);
    try (MongoClient client = builder("").reactiveClient()) {
      UpdateOptions upsert = new UpdateOptions().upsert(true);
      MongoBulkWriteException failure =
          catchThrowableOfType(
              MongoBulkWriteException.class,
              () ->
                  run(
                      in(client)
                          .bulkWrite(
                              List.of(
                                  new UpdateOneModel<>(Filters.eq(5), Updates.set("x", 1)),
                                  new UpdateOneModel<>(Filters.eq(-8), Updates.set("x", 1)),
                                  new InsertOneModel<>(id(6)),
                                  new InsertOneModel<>(id(-6)),
                                  new UpdateOneModel<>(
                                      Filters.eq(-9), Updates.set("x", 1), upsert)),
                              new BulkWriteOptions().ordered(false))));

      assertThat(failure.getWriteErrors())
          .singleElement()
          .satisfies(error -> assertThat(error.getIndex()).isEqualTo(1));
      assertThat(failure.getWriteResult().getInsertedCount()).isEqualTo(2);
      assertThat(failure.getWriteResult().getUpserts())
          .singleElement()
          .satisfies(each -> assertThat(each.getIndex()).isEqualTo(4));
    }
    assertThat(statementIds("m0", "update")).isEqualTo("[1, 2]");
    assertThat(statementIds("m1", "update")).isEqualTo("[0]");
    assertThat(statementIds("m0", "insert")).isEqualTo("[1]");
    assertThat(cluster.seen("m0", "update").get(0).getInt64("txnNumber"))
        .isEqualTo(cluster.seen("m1", "update").get(0).getInt64("txnNumber"));
  }

  @Test
  void whatWasNotSentForCertainGoesToAnotherMongos() {
    try (MongoClient client = builder("retryWrites=false&retryReads=false").reactiveClient()) {
      run(in(client).find(Filters.eq(5)).first());
      run(in(client).find(Filters.eq(-5)).first());
      cluster.stop("m1");

      for (int i = 0; i < 20; i++) {
        run(in(client).updateMany(Filters.eq(5), Updates.inc("n", 1)));
        assertThat(run(in(client).find(Filters.eq(5)).first())).containsEntry("from", "m0");
      }
      assertThat(cluster.seen("m0", "update")).hasSize(20);
    }
  }

  @Test
  void whatMayHaveBeenCarriedOutIsTheDriversToRetry() {
    try (MongoClient client = builder("").reactiveClient()) {
      run(in(client).find(Filters.eq(5)).first());
      cluster.hold("m1", command -> command.containsKey("update"));
      Mono<?> once = Mono.from(in(client).updateMany(Filters.eq(5), Updates.inc("n", 1))).cache();
      Mono<?> again = Mono.from(in(client).updateOne(Filters.eq(6), Updates.inc("n", 1))).cache();
      once.onErrorComplete().subscribe();
      again.onErrorComplete().subscribe();
      await().until(() -> cluster.seen("m1", "update").size() == 2);
      String address = cluster.address("m1").toString();
      cluster.stop("m1");

      assertThatThrownBy(() -> once.block(TIMEOUT))
          .isInstanceOf(MongoCommandException.class)
          .hasMessageContaining(address);
      assertThat(again.block(TIMEOUT)).isNotNull();
      assertThat(cluster.seen("m0", "update"))
          .singleElement()
          .satisfies(
              update ->
                  assertThat(cluster.seen("m1", "update"))
                      .extracting(each -> each.get("txnNumber"))
                      .contains((BsonValue) update.getInt64("txnNumber")));
    }
  }

  @Test
  void withoutAnyMongosTheDriverSaysWhichFailedAndWhy() {
    try (MongoClient client = builder("serverSelectionTimeoutMS=3000").reactiveClient()) {
      run(in(client).find(Filters.eq(5)).first());
      List<String> addresses =
          List.of(cluster.address("m0").toString(), cluster.address("m1").toString());
      cluster.stop("m0");
      cluster.stop("m1");
      await()
          .atMost(TIMEOUT)
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> run(in(client).find(Filters.eq(5)).first()))
                      .isInstanceOf(MongoTimeoutException.class)
                      .satisfies(e -> assertThat(e.getMessage()).contains(addresses))
                      .hasMessageContaining("Connection refused"));

      cluster.start("m0");
      assertThat(run(in(client).find(Filters.eq(5)).first())).containsEntry("from", "m0");
    }
  }

  @Test
  void whereNoMongosEverWasTheDriverSaysSo() {
    String nowhere = "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=2000";
    try (MongoClient client = OneHop.builder(nowhere).reactiveClient()) {
      assertThatThrownBy(() -> run(in(client).find(Filters.eq(5)).first()))
          .isInstanceOf(MongoTimeoutException.class)
          .hasMessageContaining("127.0.0.1:1: ")
          .hasMessageContaining("Connection refused");
    }
  }

  private String statementIds(String mongos, String command) {
    BsonArray ids = cluster.seen(mongos, command).get(0).getArray("stmtIds");
    return ids.stream().map(id -> id.asInt32().getValue()).toList().toString();
  }

  private OneHop.Builder builder(String options) {
    return Targeted.builder(cluster, options);
  }

  static BsonDocument cursors(String mongos, BsonDocument command) {
    if (command.getString("$db").getValue().equals("config")) {
      return null;
    }
    return switch (command.getFirstKey()) {
      case "find", "getMore" ->
          BsonDocument.parse(
              "{ok: 1, cursor: {id: {$numberLong: '7'}, ns: 'it.c', %s: [{from: '%s'}]}}"
                  .formatted(command.containsKey("find") ? "firstBatch" : "nextBatch", mongos));
      case "killCursors" ->
          new BsonDocument("ok", new BsonInt64(1))
              .append("cursorsKilled", command.getArray("cursors"));
      default -> null;
    };
  }

  static BsonDocument recoverable(BsonDocument command) {
    return command.containsKey("autocommit")
        ? (command.containsKey("find")
                ? ScriptedCluster.cursor(new BsonArray())
                : BsonDocument.parse("{ok: 1, n: 1}"))
            .append("recoveryToken", new BsonDocument("recoveryShardId", new BsonString("s1")))
        : null;
  }

  private static long open(MongoDatabase database, int id) {
    return run(database.runCommand(
            new Document("find", "c").append("filter", id(id)).append("batchSize", 1)))
        .get("cursor", Document.class)
        .getLong("id");
  }

  private static Document getMore(long cursor) {
    return new Document("getMore", cursor).append("collection", "c");
  }

  private static Document id(int id) {
    return new Document("_id", id);
  }

  private static MongoCollection<Document> in(MongoClient client) {
    return client.getDatabase("it").getCollection("c");
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
