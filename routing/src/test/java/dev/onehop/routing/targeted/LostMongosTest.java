package dev.onehop.routing.targeted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoException;
import com.mongodb.MongoSocketReadException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.event.ServerDescriptionChangedEvent;
import com.mongodb.event.ServerListener;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.shards.command.ScriptedCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * Operations while mongoses stop. {@code m0} and {@code m1} are set up as in {@link
 * TargetedModeTest}.
 */
class LostMongosTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);

  @AfterEach
  void close() {
    cluster.close();
  }

  /** No mongos is left. Until the driver has noticed the stop, OneHop still receives operations. */
  @Test
  void operationsFailLikePlainDriverWithoutMongos() {
    // With this frequency, the monitors notice a stop soon. Without it, only monitors of real
    // servers do, because real servers stream their replies.
    String options = "serverSelectionTimeoutMS=3000&heartbeatFrequencyMS=500";
    Set<String> lost = ConcurrentHashMap.newKeySet();
    try (MongoClient client = builder(options, lost).client(MongoClient.class)) {
      run(in(client).find(Filters.eq(5)).first());
      cluster.stop("m1");
      await().until(() -> lost.contains(cluster.address("m1").toString()));
      assertServedBy(client, "m0");
      lost.clear();
      cluster.stop("m0");
      // This find may fail: an operation on a broken connection may be retried too soon, as with
      // the plain driver.
      Mono.from(in(client).find(Filters.eq(5)).first()).onErrorComplete().subscribe();
      await()
          .pollInterval(Duration.ofMillis(5))
          .until(() -> lost.contains("onehop-targeted:27017"));

      List<Mono<?>> retried = new ArrayList<>();
      List<Mono<?>> once = new ArrayList<>();
      await()
          .pollInterval(Duration.ofMillis(50))
          .until(
              () -> {
                int id = retried.size() % 4 == 0 ? 5 : -5;
                retried.add(Mono.from(in(client).find(Filters.eq(id)).first()).cache());
                retried.add(Mono.from(in(client).insertOne(id(id))).cache());
                once.add(
                    Mono.from(in(client).updateMany(Filters.eq(id), Updates.inc("n", 1))).cache());
                retried.forEach(each -> each.onErrorComplete().subscribe());
                once.forEach(each -> each.onErrorComplete().subscribe());
                return once.size() >= 20 && lost.contains(cluster.address("m0").toString());
              });
      for (Mono<?> each : retried) {
        assertThatThrownBy(() -> each.block(TIMEOUT)).isInstanceOf(MongoTimeoutException.class);
      }
      for (Mono<?> each : once) {
        assertThatThrownBy(() -> each.block(TIMEOUT))
            .isInstanceOfSatisfying(
                MongoException.class, e -> assertThat(e.getCode()).isNotEqualTo(133));
      }
    }
  }

  /**
   * A connection from before the loss of a server fails late. This failure does not close the
   * connections that were opened after the loss.
   */
  @Test
  void lateFailureKeepsNewConnections() {
    try (MongoClient client =
        builder("retryWrites=false&retryReads=false").client(MongoClient.class)) {
      run(in(client).find(Filters.eq(5)).first());
      cluster.hold("m1", command -> command.containsKey("update"));
      Mono<?> first = Mono.from(commented(client, "a")).cache();
      Mono<?> second = Mono.from(commented(client, "b")).cache();
      first.onErrorComplete().subscribe();
      second.onErrorComplete().subscribe();
      await().until(() -> cluster.seen("m1", "update").size() == 2);

      cluster.cut(command -> command.getString("comment").getValue().equals("a"));
      assertThatThrownBy(() -> first.block(TIMEOUT)).isInstanceOf(MongoSocketReadException.class);
      await()
          .until(() -> "m1".equals(run(in(client).find(Filters.eq(5)).first()).getString("from")));
      int connections = connections("m1");

      cluster.cut(command -> true);
      assertThatThrownBy(() -> second.block(TIMEOUT)).isInstanceOf(MongoSocketReadException.class);
      assertThat(run(in(client).find(Filters.eq(5)).first())).containsEntry("from", "m1");
      assertThat(connections("m1")).isEqualTo(connections);
    }
  }

  private static void assertServedBy(MongoClient client, String mongos) {
    for (int id : new int[] {5, -5}) {
      assertThat(run(in(client).find(Filters.eq(id)).first())).containsEntry("from", mongos);
    }
  }

  private static Publisher<?> commented(MongoClient client, String comment) {
    return in(client)
        .updateMany(Filters.eq(5), Updates.inc("n", 1), new UpdateOptions().comment(comment));
  }

  /** The number of connections for commands, open or closed, that a server has received. */
  private int connections(String server) {
    return (int)
        cluster.seen(server, "hello").stream().filter(hello -> hello.containsKey("client")).count();
  }

  private OneHop.Builder builder(String options) {
    return Targeted.builder(cluster, options);
  }

  /**
   * A builder whose listener records lost servers.
   *
   * @param lost receives the addresses of the servers that the driver has lost
   */
  private OneHop.Builder builder(String options, Set<String> lost) {
    ServerListener listener =
        new ServerListener() {
          @Override
          public void serverDescriptionChanged(ServerDescriptionChangedEvent event) {
            if (event.getNewDescription().getException() != null) {
              lost.add(event.getServerId().getAddress().toString());
            }
          }
        };
    return builder(options)
        .applyToClientSettings(
            settings ->
                settings.applyToServerSettings(servers -> servers.addServerListener(listener)));
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
