package dev.onehop.routing.targeted;

import static dev.onehop.routing.targeted.Targeted.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.transport.PipeliningMeters;
import dev.onehop.shards.command.ScriptedCluster;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link RoutingMode#NONE}: all commands go to the mongos of the URI, and no metadata is read. */
class UnroutedTest {
  private final ScriptedCluster cluster = new ScriptedCluster(Targeted.WIRE_6_0);

  @AfterEach
  void stop() {
    cluster.close();
  }

  private OneHop.Builder builder(String options) {
    return OneHop.builder(Targeted.uri(cluster, options)).routing(RoutingMode.NONE);
  }

  private void assertUnrouted() {
    assertThat(cluster.seen("m0", "find")).hasSize(2).noneMatch(Targeted::isInternal);
    assertThat(cluster.seen("m0", "insert")).hasSize(1);
    assertThat(cluster.seen("m0", "aggregate")).isEmpty();
    assertThat(cluster.seen("m1", "hello")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void sendsEverythingToNearestMongos(boolean pipelined) {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    OneHop.Builder builder = builder("").meterRegistry(meters);
    try (MongoClient client =
        (pipelined ? builder.pipelining(sockets -> {}) : builder).client(MongoClient.class)) {
      MongoCollection<Document> collection = client.getDatabase("it").getCollection("c");
      for (int id : new int[] {-5, 5}) {
        assertThat(run(collection.find(Filters.eq(id)).first())).containsEntry("from", "m0");
      }
      run(collection.insertOne(new Document("_id", 5)));

      assertUnrouted();
      assertThat(meters.find(PipeliningMeters.REQUESTS.meterName()).tag("use", "shared").counters())
          .hasSize(pipelined ? 1 : 0)
          .allSatisfy(shared -> assertThat(shared.count()).isEqualTo(3));
    }
  }

  @Test
  void synchronousClientSendsEverythingToNearestMongos() {
    try (com.mongodb.client.MongoClient client =
        builder("").client(com.mongodb.client.MongoClient.class)) {
      com.mongodb.client.MongoCollection<Document> collection =
          client.getDatabase("it").getCollection("c");
      for (int id : new int[] {-5, 5}) {
        assertThat(collection.find(Filters.eq(id)).first()).containsEntry("from", "m0");
      }
      collection.insertOne(new Document("_id", 5));

      assertUnrouted();
    }
  }

  @Test
  void rejectsLoadBalancedMode() {
    assertThatThrownBy(() -> builder("loadBalanced=true").client(MongoClient.class))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pipelining is not possible with loadBalanced=true");
  }
}
