package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoNamespace;
import com.mongodb.MongoWriteConcernException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.bulk.ClientNamespacedWriteModel;
import com.mongodb.event.CommandFailedEvent;
import com.mongodb.event.CommandListener;
import com.mongodb.event.ConnectionPoolClearedEvent;
import com.mongodb.event.ConnectionPoolListener;
import dev.onehop.shards.command.ScriptedCluster;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The errors of servers that an application receives. */
class ServerErrorsTest {
  private static final int WIRE_8_0 = 25;
  private static final String OVERLOADED =
      "{ok: 0, code: %d, codeName: 'Overloaded', errmsg: 'too much', baseBackoffMS: 7,"
          + " errorLabels: ['SystemOverloadedError', 'RetryableError', 'NoWritesPerformed']}";

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_8_0);
  private final List<BsonDocument> failures = Collections.synchronizedList(new ArrayList<>());

  private final AtomicInteger clearedPools = new AtomicInteger();

  /** The modes that route, and the servers to which they send. */
  private enum Mode {
    TARGETED("m"),
    DIRECT("s");

    private final String servers;

    Mode(String servers) {
      this.servers = servers;
    }

    String of(String shard) {
      return servers + shard.charAt(1);
    }
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  private MongoClient client(Mode mode, String credential, String options) {
    OneHop.Builder builder =
        mode == Mode.DIRECT
            ? OneHop.builder(
                    "mongodb://%s%s/?%s".formatted(credential, cluster.address("m0"), options))
                .routing(RoutingMode.DIRECT)
            : OneHop.builder(
                    "mongodb://%s%s/?%s".formatted(credential, cluster.address("m0"), options))
                .shardRouters("s0", cluster.address("m0").toString())
                .shardRouters("s1", cluster.address("m1").toString());
    return builder
        .applyToClientSettings(
            (MongoClientSettings.Builder settings) ->
                settings
                    .applyToConnectionPoolSettings(
                        pool ->
                            pool.addConnectionPoolListener(
                                new ConnectionPoolListener() {
                                  @Override
                                  public void connectionPoolCleared(
                                      ConnectionPoolClearedEvent event) {
                                    clearedPools.incrementAndGet();
                                  }
                                }))
                    .addCommandListener(
                        new CommandListener() {
                          @Override
                          public void commandFailed(CommandFailedEvent event) {
                            if (event.getThrowable() instanceof MongoCommandException refused) {
                              failures.add(refused.getResponse());
                            }
                          }
                        }))
        .client(MongoClient.class);
  }

  private static MongoCollection<Document> collection(MongoClient client) {
    return client.getDatabase("it").getCollection("c");
  }

  /** Makes a server return an error for operations on data, and only for these. */
  private void fail(String server, String error) {
    cluster.script(
        server,
        command ->
            command.getString("$db", new BsonString("")).getValue().equals("it")
                ? BsonDocument.parse(error)
                : null);
  }

  @ParameterizedTest
  @EnumSource
  void forwardsOverloadRepliesUnchanged(Mode mode) {
    try (MongoClient client = client(mode, "", "retryReads=false&retryWrites=false")) {
      collection(client).find(Filters.eq(5)).first();
      for (int code : new int[] {462, 463, 473}) {
        fail(mode.of("s1"), OVERLOADED.formatted(code));
        fail(mode.of("s0"), OVERLOADED.formatted(code));
        fail("m0", OVERLOADED.formatted(code));
        List<Runnable> operations =
            List.of(
                () -> collection(client).find(Filters.eq(5)).first(),
                () -> collection(client).find(Filters.gt("n", 5)).first(),
                () -> collection(client).insertOne(new Document("_id", 5)),
                () -> collection(client).updateOne(Filters.eq(5), Updates.set("n", 1)),
                () -> collection(client).updateMany(Filters.gt("n", 5), Updates.set("n", 1)),
                () -> collection(client).findOneAndDelete(Filters.eq(5)),
                () -> collection(client).countDocuments(Filters.eq(5)));
        for (Runnable operation : operations) {
          failures.clear();
          assertThatThrownBy(operation::run).isInstanceOf(MongoException.class);
          assertThat(failures)
              .singleElement()
              .satisfies(
                  reply ->
                      assertThat(reply)
                          .containsEntry("code", new BsonInt32(code))
                          .containsEntry("baseBackoffMS", new BsonInt32(7))
                          .containsEntry("errmsg", new BsonString("too much"))
                          .containsEntry(
                              "errorLabels",
                              BsonDocument.parse(OVERLOADED.formatted(code)).get("errorLabels")));
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void reportsOverloadOfPartOfWrite(Mode mode) {
    try (MongoClient client = client(mode, "", "retryWrites=true")) {
      collection(client).find(Filters.eq(5)).first();
      fail(mode.of("s1"), OVERLOADED.formatted(462));

      assertThatThrownBy(
              () ->
                  collection(client)
                      .insertMany(
                          List.of(new Document("_id", -5), new Document("_id", 5)),
                          new InsertManyOptions().ordered(false)))
          .isInstanceOf(MongoException.class);

      assertThat(failures.get(0))
          .containsEntry("code", new BsonInt32(462))
          .containsEntry("baseBackoffMS", new BsonInt32(7))
          .containsEntry(
              "errorLabels",
              new BsonArray(
                  List.of(
                      new BsonString("SystemOverloadedError"), new BsonString("RetryableError"))));
    }
  }

  /**
   * The driver has one pool for all shards. If an unreachable shard cleared it, operations on other
   * shards would lose their connections.
   */
  @Test
  void unreachableShardDoesNotClearPool() {
    try (MongoClient client = client(Mode.DIRECT, "", "retryWrites=false&retryReads=false")) {
      collection(client).find(Filters.eq(-5)).first();
      collection(client).find(Filters.eq(5)).first();
      cluster.stop("s1");
      // These inserts do not count: the first ones may use connections that the stop has broken.
      await()
          .until(
              () ->
                  catchThrowable(() -> collection(client).insertOne(new Document("_id", 5)))
                          instanceof MongoException failure
                      && failure.getCode() == 6);
      clearedPools.set(0);
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> collection(client).insertOne(new Document("_id", 5)))
            .isInstanceOfSatisfying(
                MongoException.class, e -> assertThat(e.getCode()).isEqualTo(6));
        collection(client).insertOne(new Document("_id", -5));
      }
      // The close of the client may clear the pool.
      assertThat(clearedPools).hasValue(0);
    }
  }

  @ParameterizedTest
  @EnumSource
  void rejectedLoginHasCode18(Mode mode) {
    for (String server : List.of("config", "m0", "m1", "s0", "s1")) {
      cluster.script(server, ServerErrorsTest::acceptLogin);
    }
    try (MongoClient client = client(mode, "u:p@", "authMechanism=PLAIN")) {
      collection(client).find(Filters.eq(5)).first();
      String server = mode.of("s1");
      cluster.script(
          server,
          command ->
              command.containsKey("saslStart")
                  ? BsonDocument.parse("{ok: 0, code: 18, errmsg: 'Authentication failed.'}")
                  : null);
      cluster.stop(server);
      cluster.start(server);

      assertThatThrownBy(() -> collection(client).find(Filters.eq(5)).first())
          .isInstanceOfSatisfying(
              MongoException.class,
              e -> {
                assertThat(e.getCode()).isEqualTo(18);
                assertThat(e.getMessage())
                    .contains(cluster.address(server).toString(), "Authentication failed.")
                    .doesNotContain("Exception");
              });
    }
  }

  private static @Nullable BsonDocument acceptLogin(BsonDocument command) {
    return command.containsKey("saslStart")
        ? new BsonDocument("ok", new BsonInt32(1))
            .append("conversationId", new BsonInt32(1))
            .append("done", BsonBoolean.TRUE)
            .append("payload", new BsonBinary(new byte[0]))
        : null;
  }

  @ParameterizedTest
  @EnumSource
  void writesWithoutStatementsAreRejected(Mode mode) {
    cluster.script("m0", command -> command.containsKey("insert") ? TOO_SHORT : null);
    try (MongoClient client = client(mode, "", "")) {
      collection(client).find(Filters.eq(5)).first();
      assertThatThrownBy(
              () ->
                  client
                      .getDatabase("it")
                      .runCommand(BsonDocument.parse("{insert: 'c', documents: []}")))
          .isInstanceOfSatisfying(
              MongoCommandException.class, e -> assertThat(e.getErrorCode()).isEqualTo(16));
    }
  }

  private static final BsonDocument TOO_SHORT =
      BsonDocument.parse(
          "{ok: 0, code: 16, codeName: 'InvalidLength', errmsg: 'Write batch sizes must be'}");

  @Test
  void directModeNamesTheShardsOfWriteConcernErrors() {
    try (MongoClient client = client(Mode.DIRECT, "", "retryWrites=false")) {
      collection(client).find(Filters.eq(5)).first();
      for (String shard : List.of("s0", "s1")) {
        cluster.script(
            shard,
            command ->
                command.containsKey("insert") || command.containsKey("findAndModify")
                    ? BsonDocument.parse(
                        "{ok: 1, n: 1, value: {_id: 5}, writeConcernError: {code: 100, codeName:"
                            + " 'UnsatisfiableWriteConcern', errmsg: 'Not enough nodes'}}")
                    : null);
      }
      assertThat(
              catchThrowableOfType(
                      MongoWriteConcernException.class,
                      () -> collection(client).insertOne(new Document("_id", 5)))
                  .getWriteConcernError()
                  .getMessage())
          .isEqualTo("Not enough nodes at s1");
      assertThat(
              catchThrowableOfType(
                      MongoWriteConcernException.class,
                      () -> collection(client).findOneAndDelete(Filters.eq(5)))
                  .getWriteConcernError()
                  .getMessage())
          .isEqualTo("Not enough nodes at s1");
      assertThat(
              catchThrowableOfType(
                      MongoBulkWriteException.class,
                      () ->
                          collection(client)
                              .insertMany(List.of(new Document("_id", -5), new Document("_id", 5))))
                  .getWriteConcernError())
          .satisfies(
              error -> {
                assertThat(error.getCode()).isEqualTo(64);
                assertThat(error.getMessage())
                    .isEqualTo(
                        "multiple errors reported : UnsatisfiableWriteConcern: Not enough nodes at"
                            + " s0 :: and :: UnsatisfiableWriteConcern: Not enough nodes at s1");
              });
    }
  }

  @Test
  void clientBulkWriteNeedsMongos() {
    List<ClientNamespacedWriteModel> writes =
        List.of(
            ClientNamespacedWriteModel.insertOne(
                new MongoNamespace("it.c"), new Document("_id", 5)));
    try (MongoClient client =
        OneHop.builder("mongodb://" + cluster.address("config") + "/")
            .routing(RoutingMode.DIRECT)
            .client(MongoClient.class)) {
      assertThatThrownBy(() -> client.bulkWrite(writes))
          .isInstanceOf(MongoException.class)
          .hasMessageContaining(
              "the command bulkWrite on admin needs a mongos in direct mode, but the URI names"
                  + " config servers only");
    }
    try (MongoClient client = client(Mode.DIRECT, "", "")) {
      cluster.script(
          "m0",
          command ->
              command.containsKey("bulkWrite")
                  ? BsonDocument.parse(
                      "{ok: 1, nErrors: 0, nInserted: 1, nUpserted: 0, nMatched: 0, nModified: 0,"
                          + " nDeleted: 0, cursor: {id: {$numberLong: '0'}, firstBatch: [], ns:"
                          + " 'admin.$cmd.bulkWrite'}}")
                  : null);
      assertThat(client.bulkWrite(writes).getInsertedCount()).isEqualTo(1);
    }
    assertThat(cluster.seen("m0", "bulkWrite")).hasSize(1);
    assertThat(cluster.seen("s1", "bulkWrite")).isEmpty();
  }

  @Test
  void helloReportsBackpressureSupport() {
    try (MongoClient client = client(Mode.DIRECT, "", "")) {
      collection(client).find(Filters.eq(5)).first();
    }
    assertThat(cluster.seen("s1", "hello"))
        .anySatisfy(
            hello ->
                assertThat(hello)
                    .containsEntry("backpressure", BsonBoolean.TRUE)
                    .containsKey("client"));
  }

  /** A mongos moves a document to an overloaded shard, which refuses it. Nothing is written. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void reportsOverloadDuringMoveOfDocument(boolean find) {
    try (MongoClient client = client(Mode.DIRECT, "", "retryWrites=true")) {
      collection(client).find(Filters.eq(5)).first();
      cluster.script(
          "s1",
          command ->
              command.containsKey("update") || command.containsKey("findAndModify")
                  ? BsonDocument.parse(
                      "{ok: 0, code: 283, codeName: 'WouldChangeOwningShard', errmsg: 'moves',"
                          + " preImage: {_id: 5}, postImage: {_id: -5}, shouldUpsert: false}")
                  : null);
      cluster.script(
          "m0",
          command ->
              command.containsKey("update") || command.containsKey("findAndModify")
                  ? BsonDocument.parse(
                      "{ok: 0, code: 462, codeName: 'IngressRequestRateLimitExceeded', errmsg: 'too"
                          + " much', baseBackoffMS: 7, errorLabels: ['SystemOverloadedError',"
                          + " 'RetryableError', 'NoWritesPerformed']}")
                  : null);
      failures.clear();
      Throwable failure =
          catchThrowable(
              () -> {
                if (find) {
                  collection(client)
                      .findOneAndUpdate(
                          Filters.eq(5), Updates.set("_id", -5), new FindOneAndUpdateOptions());
                } else {
                  collection(client).updateOne(Filters.eq(5), Updates.set("_id", -5));
                }
              });
      assertThat(failure).isInstanceOf(MongoException.class);
      assertThat(((MongoException) failure).getCode()).isEqualTo(462);
      assertThat(((MongoException) failure).hasErrorLabel("SystemOverloadedError")).isTrue();
    }
  }

  /** Applications may use the old name findandmodify, which servers still accept. */
  @Test
  void acceptsOldNameOfFindAndModify() {
    try (MongoClient client = client(Mode.DIRECT, "", "retryWrites=false")) {
      collection(client).find(Filters.eq(5)).first();
      cluster.script(
          "s1",
          command ->
              command.containsKey("findandmodify")
                  ? BsonDocument.parse(
                      "{ok: 1, value: {_id: 5}, lastErrorObject: {n: 1}, writeConcernError: {code:"
                          + " 100, errmsg: 'w'}}")
                  : null);
      BsonDocument reply =
          client
              .getDatabase("it")
              .runCommand(
                  BsonDocument.parse(
                      "{findandmodify: 'c', query: {_id: 5}, update: {$set: {a: 1}}}"),
                  BsonDocument.class);
      assertThat(reply).containsKey("value");
      assertThat(reply.getDocument("writeConcernError").getString("errmsg").getValue())
          .isEqualTo("w at s1");
    }
  }

  /**
   * One mongos shuts down during its part of a batch. The driver sends the whole batch again,
   * because the batch has a transaction number.
   */
  @Test
  void retriesBatchDespiteDuplicateKeyInOtherPart() {
    AtomicInteger shutdowns = new AtomicInteger(1);
    for (String mongos : List.of("m0", "m1")) {
      cluster.script(
          mongos,
          command -> {
            if (!command.containsKey("insert")) {
              return null;
            }
            if (mongos.equals("m1") && shutdowns.getAndDecrement() > 0) {
              return BsonDocument.parse(
                  "{ok: 0, code: 11600, codeName: 'InterruptedAtShutdown', errmsg: 'ends',"
                      + " errorLabels: ['RetryableWriteError']}");
            }
            BsonArray errors = new BsonArray();
            int n = 0;
            for (int i = 0; i < command.getArray("documents").size(); i++) {
              int id = command.getArray("documents").get(i).asDocument().getInt32("_id").getValue();
              if (id < 0) {
                errors.add(
                    BsonDocument.parse(
                        "{index: %d, code: 11000, errmsg: 'E11000 duplicate key'}".formatted(i)));
              } else {
                n++;
              }
            }
            BsonDocument reply =
                new BsonDocument("ok", new BsonInt32(1)).append("n", new BsonInt32(n));
            return errors.isEmpty() ? reply : reply.append("writeErrors", errors);
          });
    }
    try (MongoClient client = client(Mode.TARGETED, "", "retryWrites=true")) {
      collection(client).find(Filters.eq(5)).first();
      Throwable failure =
          catchThrowable(
              () ->
                  collection(client)
                      .insertMany(
                          List.of(new Document("_id", -5), new Document("_id", 5)),
                          new InsertManyOptions().ordered(false)));
      assertThat(failure)
          .isInstanceOfSatisfying(
              MongoBulkWriteException.class,
              e -> {
                assertThat(e.getWriteErrors()).singleElement().extracting("code").isEqualTo(11000);
                assertThat(e.getWriteResult().getInsertedCount()).isEqualTo(1);
              });
    }
  }
}
