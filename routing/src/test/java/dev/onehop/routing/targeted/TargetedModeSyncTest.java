package dev.onehop.routing.targeted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.internal.direct.ScriptedCluster;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The synchronous driver on targeted mode's router, on the scripted mongoses of {@link
 * TargetedModeTest}.
 */
class TargetedModeSyncTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);

  @AfterEach
  void close() {
    cluster.release();
    cluster.close();
  }

  @Test
  void commandsGoToTheMongosBesideTheOwner() {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (MongoClient client = builder("").meterRegistry(meters).syncClient()) {
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
  }

  @Test
  void theCallersThreadReadsFromTheSocketOfTheMongos() throws Exception {
    try (MongoClient client = builder("").syncClient()) {
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

  @Test
  void sessionsEndAtEveryMongosThatWasUsed() {
    try (MongoClient client = builder("").syncClient()) {
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
  void clientsOfBothDriversShareARouter() {
    try (OneHop router = builder("").build();
        MongoClient first = MongoClients.create(router.syncClientSettings());
        com.mongodb.reactivestreams.client.MongoClient second =
            com.mongodb.reactivestreams.client.MongoClients.create(router.clientSettings())) {
      assertThat(find(first, 5)).containsEntry("from", "m1");
      assertThat(
              reactor.core.publisher.Mono.from(
                      second.getDatabase("it").getCollection("c").find(Filters.eq(-5)).first())
                  .block(TIMEOUT))
          .containsEntry("from", "m0");
    }
  }

  @Test
  void cursorsOfTwoMongosesWithOneIdStayApart() {
    for (String mongos : List.of("m0", "m1")) {
      cluster.script(mongos, command -> TargetedModeTest.cursors(mongos, command));
    }
    try (MongoClient client = builder("").syncClient()) {
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

  @Test
  void aTransactionStaysWhereItBegan() {
    for (String mongos : List.of("m0", "m1")) {
      cluster.script(mongos, TargetedModeTest::recoverable);
    }
    try (MongoClient client = builder("").syncClient();
        ClientSession session = client.startSession()) {
      session.startTransaction();
      in(client).insertOne(session, id(5));
      in(client).insertOne(session, id(-5));
      in(client).find(session, Filters.eq(-5)).first();
      session.commitTransaction();
    }
    assertThat(cluster.seen("m0", "insert")).isEmpty();
    assertThat(cluster.seen("m1", "insert")).hasSize(2);
    assertThat(cluster.seen("m1", "commitTransaction")).hasSize(1);
  }

  @Test
  void aTransactionIsCommittedElsewhereIfItsMongosIsDownOrSaysNothing() {
    for (String mongos : List.of("m0", "m1")) {
      cluster.script(mongos, TargetedModeTest::recoverable);
    }
    try (MongoClient client = builder("socketTimeoutMS=1000").syncClient();
        ClientSession session = client.startSession()) {
      session.startTransaction();
      in(client).insertOne(session, id(5));
      cluster.hold("m1", command -> command.containsKey("commitTransaction"));
      session.commitTransaction();
      assertThat(commits("m0")).hasSize(1);
      assertThat(commits("m1")).hasSize(1);

      session.startTransaction();
      in(client).insertOne(session, id(6));
      cluster.stop("m1");
      session.commitTransaction();
      assertThat(commits("m0")).hasSize(2);
    }
    assertThat(commits("m0"))
        .allSatisfy(commit -> assertThat(commit.containsKey("recoveryToken")).isTrue());
  }

  private List<BsonDocument> commits(String mongos) {
    return cluster.seen(mongos, "commitTransaction");
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
    try (MongoClient client = builder("").syncClient()) {
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
    assertThat(cluster.seen("m0", "update")).hasSize(1);
    assertThat(cluster.seen("m1", "update")).hasSize(1);
  }

  @Test
  void aLostMongosIsReplacedAndUsedAgain() {
    try (MongoClient client = builder("").syncClient()) {
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

  @Test
  void aMongosThatRefusesConnectionsWasNotSentAnything() {
    try (MongoClient client = builder("retryWrites=false&retryReads=false").syncClient()) {
      find(client, -5);
      cluster.stop("m1");
      for (int i = 0; i < 5; i++) {
        in(client).updateMany(Filters.eq(5), Updates.inc("n", 1));
      }
      assertThat(cluster.seen("m0", "update")).hasSize(5);
    }
  }

  @Test
  void whatMayHaveBeenCarriedOutIsTheDriversToRetry() throws Exception {
    try (MongoClient client = builder("").syncClient()) {
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
          .hasCauseInstanceOf(MongoCommandException.class)
          .hasMessageContaining(address);
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

  @Test
  void withoutAnyMongosTheDriverSaysWhichFailedAndWhy() {
    try (MongoClient client = builder("serverSelectionTimeoutMS=3000").syncClient()) {
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

  private OneHop.Builder builder(String options) {
    return Targeted.builder(cluster, options);
  }

  private static Document id(int id) {
    return new Document("_id", id);
  }

  private static Document find(MongoClient client, int id) {
    return in(client).find(Filters.eq(id)).first();
  }

  private static MongoCollection<Document> in(MongoClient client) {
    return client.getDatabase("it").getCollection("c");
  }
}
