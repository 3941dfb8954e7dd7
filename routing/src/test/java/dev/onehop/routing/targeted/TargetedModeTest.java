package dev.onehop.routing.targeted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoSocketReadException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.clients.Driver;
import dev.onehop.shards.command.ScriptedCluster;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/**
 * Targeted mode with scripted mongoses. {@code m0} is near s0, which owns the negative ids. {@code
 * m1} is near s1, which owns the other ids.
 */
class TargetedModeTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);

  @AfterEach
  void close() {
    cluster.release();
    cluster.close();
  }

  @ParameterizedTest
  @EnumSource
  void sendsCommandsToMongosBesideOwner(Driver driver) {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (MongoClient client = driver.client(builder("").meterRegistry(meters))) {
      for (int id : new int[] {5, -5, 6}) {
        assertThat(find(client, id)).containsEntry("from", id < 0 ? "m0" : "m1");
      }
      in(client).updateOne(Filters.eq(5), Updates.set("x", 1));
      in(client).deleteOne(Filters.eq(-5));
      in(client).withWriteConcern(WriteConcern.UNACKNOWLEDGED).insertOne(id(7));
      await().untilAsserted(() -> assertThat(cluster.seen("m1", "insert")).hasSize(1));
      in(client).find().first();
    }
    assertThat(cluster.seen("m1", "update")).hasSize(1);
    assertThat(cluster.seen("m0", "delete")).hasSize(1);
    assertThat(meters.get("onehop.operations").tags("operation", "find").timers())
        .extracting(timer -> timer.getId().getTag("decision") + " " + timer.getId().getTag("shard"))
        .containsExactlyInAnyOrder("owner s0", "owner s1", "several-shards none");
    assertThat(meters.get("onehop.operations").tag("operation", "find").timers())
        .allSatisfy(timer -> assertThat(timer.getId().getTag("mode")).isEqualTo("targeted"));
  }

  @Test
  void callingThreadReadsFromSocketOfMongos() throws Exception {
    try (MongoClient client = builder("").client(MongoClient.class)) {
      find(client, 5);
      cluster.hold("m1", command -> command.containsKey("find"));
      FutureTask<Document> call = new FutureTask<>(() -> find(client, 5));
      Thread caller = new Thread(call, "caller");
      caller.setDaemon(true);
      caller.start();
      await()
          .until(
              () ->
                  Arrays.stream(caller.getStackTrace())
                      .anyMatch(each -> each.getClassName().endsWith(".BlockingConnection")));
      cluster.release();
      assertThat(call.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).containsEntry("from", "m1");
    }
  }

  @ParameterizedTest
  @EnumSource
  void endsSessionOnEveryUsedMongos(Driver driver) {
    try (MongoClient client = driver.client(builder(""))) {
      find(client, -5);
      find(client, 5);
    }
    BsonDocument session =
        cluster.seen("m1", "find").stream()
            .filter(find -> find.getString("$db").getValue().equals("it"))
            .findFirst()
            .orElseThrow()
            .getDocument("lsid");
    for (String mongos : List.of("m0", "m1")) {
      await()
          .untilAsserted(
              () ->
                  assertThat(cluster.seen(mongos, "endSessions"))
                      .flatExtracting(command -> command.getArray("endSessions"))
                      .contains(session));
    }
  }

  @Test
  void clientsOfBothDriversShareRouter() {
    try (OneHop router = builder("").build();
        MongoClient first = MongoClients.create(router.syncClientSettings());
        com.mongodb.reactivestreams.client.MongoClient second =
            com.mongodb.reactivestreams.client.MongoClients.create(router.clientSettings())) {
      assertThat(find(first, 5)).containsEntry("from", "m1");
      assertThat(
              Mono.from(second.getDatabase("it").getCollection("c").find(Filters.eq(-5)).first())
                  .block(TIMEOUT))
          .containsEntry("from", "m0");
    }
  }

  @ParameterizedTest
  @EnumSource
  void explainFollowsRouteOfCommand(Driver driver) {
    for (String mongos : List.of("m0", "m1")) {
      cluster.script(
          mongos,
          command ->
              command.containsKey("explain")
                  ? new BsonDocument("ok", new BsonInt64(1)).append("at", new BsonString(mongos))
                  : null);
    }
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (MongoClient client = driver.client(builder("").meterRegistry(meters))) {
      assertThat(in(client).find(Filters.eq(5)).explain()).containsEntry("at", "m1");
      assertThat(in(client).find(Filters.eq(-5)).explain()).containsEntry("at", "m0");
      assertThat(
              in(client)
                  .aggregate(List.of(new Document("$match", new Document("_id", 5))))
                  .explain())
          .containsEntry("at", "m1");
      for (String update :
          List.of(
              "{update: 'c', updates: [{q: {_id: 5}, u: {$set: {x: 1}}}]}",
              "{delete: 'c', deletes: [{q: {_id: 5}, limit: 1}]}",
              "{findAndModify: 'c', query: {_id: 5}, remove: true}")) {
        Document explain = new Document("explain", Document.parse(update));
        assertThat(client.getDatabase("it").runCommand(explain)).containsEntry("at", "m1");
      }
      // Every mongos refuses this command. It may go to any mongos, but must not be split.
      client
          .getDatabase("it")
          .runCommand(
              Document.parse(
                  "{explain: {delete: 'c', deletes:"
                      + " [{q: {_id: 5}, limit: 1}, {q: {_id: -5}, limit: 1}]}}"));
    }
    assertThat(cluster.seen("m0", "explain").size() + cluster.seen("m1", "explain").size())
        .isEqualTo(7);
    assertThat(meters.find("onehop.operations").timers()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void separatesCursorsWithSameId(Driver driver) {
    for (String mongos : List.of("m0", "m1")) {
      cluster.script(mongos, command -> cursors(mongos, command));
    }
    try (MongoClient client = driver.client(builder(""))) {
      MongoDatabase database = client.getDatabase("it");
      long first = open(database, 5);
      long second = open(database, -5);
      long third = open(database, 6);

      assertThat(first).isEqualTo(7);
      assertThat(Stream.of(first, second, third).distinct()).hasSize(3);
      Document more = database.runCommand(getMore(second));
      assertThat(more.get("cursor", Document.class).getList("nextBatch", Document.class))
          .containsExactly(new Document("from", "m0"));
      assertThat(more.get("cursor", Document.class).getLong("id")).isEqualTo(second);

      Document killed =
          database.runCommand(
              new Document("killCursors", "c").append("cursors", List.of(second, third, 12345L)));
      assertThat(killed.getList("cursorsKilled", Long.class))
          .containsExactlyInAnyOrder(second, third);
      assertThat(killed.getList("cursorsNotFound", Long.class)).containsExactly(12345L);
      assertThatThrownBy(() -> database.runCommand(getMore(second)))
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
  void separatesSynchronousCursorsWithSameId() {
    for (String mongos : List.of("m0", "m1")) {
      cluster.script(mongos, command -> cursors(mongos, command));
    }
    try (MongoClient client = builder("").client(MongoClient.class)) {
      try (MongoCursor<Document> first = in(client).find(Filters.eq(5)).batchSize(1).cursor();
          MongoCursor<Document> second = in(client).find(Filters.eq(-5)).batchSize(1).cursor()) {
        for (int i = 0; i < 3; i++) {
          assertThat(first.next()).containsEntry("from", "m1");
          assertThat(second.next()).containsEntry("from", "m0");
        }
        assertThat(second.getServerCursor().getId()).isNotEqualTo(first.getServerCursor().getId());
      }
    }
    for (String mongos : List.of("m0", "m1")) {
      assertThat(cluster.seen(mongos, "killCursors"))
          .extracting(command -> command.getArray("cursors"))
          .containsExactly(new BsonArray(List.of(new BsonInt64(7))));
    }
  }

  @ParameterizedTest
  @EnumSource
  void transactionIsPinnedAndCommitMovesFromStoppedMongos(Driver driver) {
    for (String mongos : List.of("m0", "m1")) {
      cluster.script(mongos, TargetedModeTest::recoverable);
    }
    try (MongoClient client = driver.client(builder(""));
        ClientSession session = client.startSession()) {
      session.startTransaction();
      in(client).insertOne(session, id(5));
      in(client).insertOne(session, id(-5));
      in(client).find(session, Filters.eq(-5)).first();
      session.commitTransaction();

      session.startTransaction();
      in(client).insertOne(session, id(6));
      in(client).insertOne(session, id(-6));
      cluster.stop("m1");
      session.commitTransaction();
    }
    assertThat(cluster.seen("m0", "insert")).isEmpty();
    assertThat(cluster.seen("m1", "insert")).hasSize(4);
    assertThat(cluster.seen("m1", "commitTransaction")).hasSize(1);
    assertThat(cluster.seen("m0", "commitTransaction"))
        .singleElement()
        .satisfies(commit -> assertThat(commit.containsKey("recoveryToken")).isTrue());
  }

  @ParameterizedTest
  @EnumSource
  void commitMovesFromSilentMongos(Driver driver) {
    for (String mongos : List.of("m0", "m1")) {
      cluster.script(mongos, TargetedModeTest::recoverable);
    }
    try (MongoClient client = driver.client(builder("socketTimeoutMS=1000"));
        ClientSession session = client.startSession()) {
      session.startTransaction();
      in(client).insertOne(session, id(5));
      cluster.hold("m1", command -> command.containsKey("commitTransaction"));
      session.commitTransaction();
      assertThat(commits("m0")).hasSize(1);
      assertThat(commits("m1")).hasSize(1);
    }
    assertThat(commits("m0"))
        .allSatisfy(commit -> assertThat(commit.containsKey("recoveryToken")).isTrue());
  }

  private List<BsonDocument> commits(String mongos) {
    return cluster.seen(mongos, "commitTransaction");
  }

  @ParameterizedTest
  @EnumSource
  void splitsBulkWriteAndMergesReplies(Driver driver) {
    cluster.script(
        "m0",
        command ->
            command.containsKey("update")
                ? BsonDocument.parse(
                    "{ok: 1, n: 1, nModified: 0, upserted: [{index: 1, _id: -9}],"
                        + " writeErrors: [{index: 0, code: 11000, errmsg: 'twice'}]}")
                : null);
    try (MongoClient client = driver.client(builder(""))) {
      UpdateOptions upsert = new UpdateOptions().upsert(true);
      MongoBulkWriteException failure =
          catchThrowableOfType(
              MongoBulkWriteException.class,
              () ->
                  in(client)
                      .bulkWrite(
                          List.of(
                              new UpdateOneModel<>(Filters.eq(5), Updates.set("x", 1)),
                              new UpdateOneModel<>(Filters.eq(-8), Updates.set("x", 1)),
                              new InsertOneModel<>(id(6)),
                              new InsertOneModel<>(id(-6)),
                              new UpdateOneModel<>(Filters.eq(-9), Updates.set("x", 1), upsert)),
                          new BulkWriteOptions().ordered(false)));

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

  /**
   * The test is only for reactive clients. With the synchronous driver, a write on a connection
   * that has just closed may already have been sent.
   */
  @Test
  void unsentOperationsMoveToAnotherMongos() {
    try (MongoClient client =
        Driver.REACTIVE.client(builder("retryWrites=false&retryReads=false"))) {
      in(client).find(Filters.eq(5)).first();
      in(client).find(Filters.eq(-5)).first();
      cluster.stop("m1");

      for (int i = 0; i < 20; i++) {
        in(client).updateMany(Filters.eq(5), Updates.inc("n", 1));
        assertThat(in(client).find(Filters.eq(5)).first()).containsEntry("from", "m0");
      }
      assertThat(cluster.seen("m0", "update")).hasSize(20);
    }
  }

  @ParameterizedTest
  @EnumSource
  void refusedConnectionMovesWriteToAnotherMongos(Driver driver) {
    try (MongoClient client = driver.client(builder("retryWrites=false&retryReads=false"))) {
      find(client, -5);
      cluster.stop("m1");
      for (int i = 0; i < 5; i++) {
        in(client).updateMany(Filters.eq(5), Updates.inc("n", 1));
      }
      assertThat(cluster.seen("m0", "update")).hasSize(5);
    }
  }

  @ParameterizedTest
  @EnumSource
  void replacesLostMongosUntilRestart(Driver driver) {
    try (MongoClient client = driver.client(builder(""))) {
      find(client, 5);
      find(client, -5);
      cluster.stop("m1");
      for (int i = 0; i < 20; i++) {
        in(client).updateOne(Filters.eq(5), Updates.inc("n", 1));
        assertThat(find(client, 5)).containsEntry("from", "m0");
      }
      assertThat(cluster.seen("m0", "update")).hasSize(20);

      cluster.start("m1");
      await()
          .atMost(TIMEOUT)
          .untilAsserted(() -> assertThat(find(client, 5)).containsEntry("from", "m1"));
    }
  }

  @ParameterizedTest
  @EnumSource
  void driverRetriesPossiblyExecutedWrites(Driver driver) throws Exception {
    try (MongoClient client = driver.client(builder(""))) {
      find(client, 5);
      cluster.hold("m1", command -> command.containsKey("update"));
      String address = cluster.address("m1").toString();
      FutureTask<?> once =
          new FutureTask<>(() -> in(client).updateMany(Filters.eq(5), Updates.inc("n", 1)));
      FutureTask<?> again =
          new FutureTask<>(() -> in(client).updateOne(Filters.eq(6), Updates.inc("n", 1)));
      for (FutureTask<?> each : List.of(once, again)) {
        Thread caller = new Thread(each, "caller");
        caller.setDaemon(true);
        caller.start();
      }
      await().until(() -> cluster.seen("m1", "update").size() == 2);
      cluster.stop("m1");

      assertThatThrownBy(() -> once.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS))
          .hasCauseInstanceOf(MongoSocketReadException.class)
          .hasStackTraceContaining(address)
          .satisfies(
              failure -> {
                if (driver == Driver.REACTIVE) {
                  assertThat(failure).hasRootCauseMessage(address + " closed the connection");
                }
              });
      assertThat(again.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isNotNull();
      assertThat(cluster.seen("m0", "update"))
          .singleElement()
          .satisfies(
              update ->
                  assertThat(cluster.seen("m1", "update"))
                      .extracting(each -> each.get("txnNumber"))
                      .contains(update.get("txnNumber")));
    }
  }

  @ParameterizedTest
  @EnumSource
  void errorNamesFailedMongoses(Driver driver) {
    try (MongoClient client = driver.client(builder("serverSelectionTimeoutMS=3000"))) {
      find(client, 5);
      List<String> addresses =
          List.of(cluster.address("m0").toString(), cluster.address("m1").toString());
      cluster.stop("m0");
      cluster.stop("m1");
      await()
          .atMost(TIMEOUT)
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> find(client, 5))
                      .isInstanceOf(MongoTimeoutException.class)
                      .satisfies(e -> assertThat(e.getMessage()).contains(addresses))
                      .hasMessageContaining("Connection refused"));

      cluster.start("m0");
      assertThat(find(client, 5)).containsEntry("from", "m0");
    }
  }

  @ParameterizedTest
  @EnumSource
  void errorNamesUnreachableSeed(Driver driver) {
    String unreachable = "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=2000";
    try (MongoClient client = driver.client(OneHop.builder(unreachable))) {
      assertThatThrownBy(() -> in(client).find(Filters.eq(5)).first())
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
    return database
        .runCommand(new Document("find", "c").append("filter", id(id)).append("batchSize", 1))
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

  private static Document find(MongoClient client, int id) {
    return in(client).find(Filters.eq(id)).first();
  }
}
