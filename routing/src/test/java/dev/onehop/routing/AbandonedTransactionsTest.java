package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.shards.command.ScriptedCluster;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.bson.BsonString;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** A subscriber cancels a statement of a transaction before its reply. */
class AbandonedTransactionsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);
  private final Set<String> started = ConcurrentHashMap.newKeySet();
  private final List<String> received = new CopyOnWriteArrayList<>();

  @AfterEach
  void stop() {
    cluster.close();
  }

  /**
   * If the abort overtook the statement, it would find no transaction. The statement would then
   * begin a transaction that is never ended.
   */
  @Test
  void abortFollowsDelayedStatement() {
    cluster.script(
        "m0",
        command -> {
          if (command.containsKey("autocommit")) {
            received.add(command.getFirstKey());
          }
          return null;
        });
    cluster.hold(
        "m0",
        command -> command.get("$db") instanceof BsonString on && on.getValue().equals("config"));
    try (MongoClient client = client()) {
      MongoCollection<Document> collection = client.getDatabase("it").getCollection("c");
      ClientSession session =
          Objects.requireNonNull(Mono.from(client.startSession()).block(TIMEOUT));
      session.startTransaction();
      Disposable insert =
          Mono.from(collection.insertOne(session, new Document("_id", 1))).subscribe();
      await().atMost(TIMEOUT).until(() -> started.contains("insert"));

      insert.dispose();
      session.close();
      await().atMost(TIMEOUT).until(() -> started.contains("abortTransaction"));
      cluster.release();

      await().atMost(TIMEOUT).until(() -> received.size() == 2);
      assertThat(received).containsExactly("insert", "abortTransaction");
    }
  }

  private MongoClient client() {
    return OneHop.builder("mongodb://" + cluster.address("m0") + "/")
        .applyToClientSettings(
            settings ->
                settings.addCommandListener(
                    new CommandListener() {
                      @Override
                      public void commandStarted(CommandStartedEvent event) {
                        started.add(event.getCommandName());
                      }
                    }))
        .client(MongoClient.class);
  }
}
