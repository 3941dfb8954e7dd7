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
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.spi.direct.ScriptedCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** What operations see of mongoses that die: those of {@link TargetedModeTest}. */
class LostMongosTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);

  @AfterEach
  void close() {
    cluster.close();
  }

  /** Until the driver has noticed that no mongos is left, operations still come. */
  @Test
  void whenTheLastMongosHasJustDiedOperationsEndAsWithThePlainDriver() throws Exception {
    // Monitors of real servers notice it as soon, for these stream their answers.
    String options = "serverSelectionTimeoutMS=3000&heartbeatFrequencyMS=500";
    try (MongoClient client = builder(options).reactiveClient()) {
      run(in(client).find(Filters.eq(5)).first());
      cluster.stop("m1");
      await().pollDelay(Duration.ofSeconds(1)).untilAsserted(() -> assertOnlyUpIs(client, "m0"));
      cluster.stop("m0");
      // What finds the connections broken may be tried again too soon, as by the plain driver.
      Mono.from(in(client).find(Filters.eq(5)).first()).onErrorComplete().subscribe();
      Thread.sleep(50);

      List<Mono<?>> retried = new ArrayList<>();
      List<Mono<?>> once = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        int id = i % 2 == 0 ? 5 : -5;
        retried.add(Mono.from(in(client).find(Filters.eq(id)).first()).cache());
        retried.add(Mono.from(in(client).insertOne(id(id))).cache());
        once.add(Mono.from(in(client).updateMany(Filters.eq(id), Updates.inc("n", 1))).cache());
        retried.forEach(each -> each.onErrorComplete().subscribe());
        once.forEach(each -> each.onErrorComplete().subscribe());
        Thread.sleep(50);
      }
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

  /** A connection from before a server was found to be gone says nothing of the server now. */
  @Test
  void aLateFailureOfAnOldConnectionLeavesNewOnesAlone() {
    try (MongoClient client = builder("retryWrites=false&retryReads=false").reactiveClient()) {
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

  private static void assertOnlyUpIs(MongoClient client, String mongos) {
    for (int id : new int[] {5, -5}) {
      assertThat(run(in(client).find(Filters.eq(id)).first())).containsEntry("from", mongos);
    }
  }

  private static Publisher<?> commented(MongoClient client, String comment) {
    return in(client)
        .updateMany(Filters.eq(5), Updates.inc("n", 1), new UpdateOptions().comment(comment));
  }

  /** How many connections for commands a server has ever had. */
  private int connections(String server) {
    return (int)
        cluster.seen(server, "hello").stream().filter(hello -> hello.containsKey("client")).count();
  }

  private OneHop.Builder builder(String options) {
    return Targeted.builder(cluster, options);
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
