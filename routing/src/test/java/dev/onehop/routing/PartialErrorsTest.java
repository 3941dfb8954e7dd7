package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.event.CommandFailedEvent;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandSucceededEvent;
import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Errors of parts of an operation, of which others have written. */
class PartialErrorsTest {
  private static final BsonString RETRYABLE = new BsonString("RetryableError");
  private final ScriptedCluster cluster = new ScriptedCluster(25);
  private final List<BsonDocument> failures = Collections.synchronizedList(new ArrayList<>());
  private final List<BsonDocument> replies = Collections.synchronizedList(new ArrayList<>());

  @AfterEach
  void close() {
    cluster.close();
  }

  private MongoClient direct(String options) {
    return OneHop.builder("mongodb://%s/?%s".formatted(cluster.address("config"), options))
        .routing(RoutingMode.DIRECT)
        .applyToClientSettings(
            (MongoClientSettings.Builder settings) ->
                settings.addCommandListener(
                    new CommandListener() {
                      @Override
                      public void commandFailed(CommandFailedEvent event) {
                        if (event.getThrowable() instanceof MongoCommandException refused) {
                          failures.add(refused.getResponse());
                        }
                      }

                      @Override
                      public void commandSucceeded(CommandSucceededEvent event) {
                        replies.add(event.getResponse());
                      }
                    }))
        .syncClient();
  }

  private static MongoCollection<Document> collection(MongoClient client) {
    return client.getDatabase("it").getCollection("c");
  }

  /** s0 has changed documents, refuses the rest to the end; s1 can't be reached. */
  @Test
  void aMultiUpdateThatOneShardHasPartlyDoneMayNotBeSentAgain() throws InterruptedException {
    try (MongoClient client = direct("retryReads=false&maxIdleTimeMS=50")) {
      collection(client).find(Filters.eq(-5)).first();
      cluster.script(
          "s0",
          command ->
              command.containsKey("update")
                  ? BsonDocument.parse(
                      "{ok: 1, n: 3, nModified: 3, writeErrors: [{index: 0, code: 13388, codeName:"
                          + " 'StaleConfig', errmsg: 'moves'}]}")
                  : null);
      // Connections that are opened from now on break at once.
      cluster.script(
          "s1",
          command ->
              command.getFirstKey().equals("hello") && command.containsKey("backpressure")
                  ? ScriptedCluster.HANG_UP
                  : null);
      // The connection of the start has been idle for too long then.
      RealTime.pass(Duration.ofMillis(500));
      failures.clear();
      replies.clear();

      var unused =
          catchThrowable(
              () -> collection(client).updateMany(Filters.gt("n", 5), Updates.inc("n", 1)));

      assertThat(cluster.seen("s0", "update")).isNotEmpty();
      assertThat(cluster.seen("s1", "update")).isEmpty();
      assertThat(failures)
          .allSatisfy(
              reply ->
                  assertThat(reply.getArray("errorLabels", new BsonArray()))
                      .doesNotContain(RETRYABLE));
    }
  }

  /** The transaction that moves a document meets an overloaded shard: nothing was written. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anOverloadedShardThatAMovedDocumentGoesTo(boolean find) {
    try (MongoClient client = direct("retryWrites=true")) {
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
          "s0",
          command ->
              command.containsKey("insert")
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

  /** findandmodify is an old name that servers take. */
  @Test
  void theOldNameOfFindAndModifyKeepsItsValue() {
    try (MongoClient client = direct("retryWrites=false")) {
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

  /** One mongos ends; the driver would send the whole again, numbered as it is. */
  @Test
  void aNumberedBatchIsSentAgainAlthoughAnotherPartHasADuplicateKey() {
    AtomicInteger ends = new AtomicInteger(1);
    for (String mongos : List.of("m0", "m1")) {
      cluster.script(
          mongos,
          command -> {
            if (!command.containsKey("insert")) {
              return null;
            }
            if (mongos.equals("m1") && ends.getAndDecrement() > 0) {
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
    try (MongoClient client =
        OneHop.builder("mongodb://%s/?retryWrites=true".formatted(cluster.address("m0")))
            .shardRouters("s0", cluster.address("m0").toString())
            .shardRouters("s1", cluster.address("m1").toString())
            .syncClient()) {
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
