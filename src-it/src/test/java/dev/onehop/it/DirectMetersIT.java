package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.ServerAddress;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.UpdateManyModel;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RouteExplanation;
import dev.onehop.routing.observation.RoutingObservationContext;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMinKey;
import org.bson.Document;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** The meters, observations and explanations of direct mode. */
@ShardedCluster
class DirectMetersIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final String FIRST = "127.33.0.1:27018";

  private static SharedCluster cluster;
  private static Testbed testbed;
  private static List<String> shards;
  private static int collections;

  @BeforeAll
  static void start(SharedCluster shared) {
    cluster = shared;
    testbed = cluster.testbed();
    shards = testbed.topology().shards().stream().map(shard -> shard.name()).toList();
  }

  @Test
  void metersShowDestinationOfCommands() {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (MongoClient client = builder().meterRegistry(meters).client(MongoClient.class)) {
      MongoCollection<Document> collection = loaded(client);
      String namespace = collection.getNamespace().getFullName();
      for (int i = 0; i < 5; i++) {
        run(collection.find(Filters.eq(i)).first());
      }
      run(collection.countDocuments(Filters.gte("n", 0)));
      assertThatThrownBy(() -> run(collection.insertOne(new Document("_id", 3))))
          .hasMessageContaining("duplicate key");
      // Direct mode sends this command to a mongos, here the stand-in router.
      run(
          client
              .getDatabase(cluster.database())
              .createCollection(collection.getNamespace().getCollectionName() + "new"));

      Timer reads =
          meters
              .get("onehop.operations")
              .tags("mode", "direct", "operation", "find", "outcome", "ok")
              .tags("decision", "owner", "shard", shards.get(0), "server", FIRST)
              .timer();
      assertThat(reads.count()).isEqualTo(5);
      assertThat(reads.mean(TimeUnit.SECONDS)).isBetween(0.000_02, 5.0);
      assertThat(
              meters
                  .get("onehop.operations")
                  .tags("operation", "aggregate", "decision", "handed-over", "shard", "none")
                  .timer()
                  .count())
          .isEqualTo(1);
      assertThat(
              meters
                  .get("onehop.operations")
                  .tags("operation", "insert", "outcome", "failed", "shard", shards.get(0))
                  .timer()
                  .count())
          .isEqualTo(1);
      assertThat(
              meters
                  .get("onehop.operations")
                  .tags("operation", "create", "decision", "handed-over", "outcome", "ok")
                  .timer()
                  .count())
          .isEqualTo(1);
      assertThat(meters.get("onehop.fallbacks").tags("reason", "handed-over").counter().count())
          .isEqualTo(2);
      assertThat(meters.get("onehop.table.refreshes").tags("namespace", namespace).timer().count())
          .isPositive();
      assertThat(meters.get("onehop.table.chunks").tags("namespace", namespace).gauge().value())
          .isEqualTo(3);
      assertThat(meters.get("onehop.table.age").tags("namespace", namespace).gauge().value())
          .isBetween(0.0, 60.0);
    }
  }

  @Test
  void countsRefusalsOfStaleTables() {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (MongoClient client = builder().meterRegistry(meters).client(MongoClient.class)) {
      MongoCollection<Document> collection = loaded(client);
      String namespace = collection.getNamespace().getFullName();
      assertThat(meters.find("onehop.stale.retries").tags("namespace", namespace).counter())
          .isNull();
      testbed.moveRange(namespace, new BsonDocument("_id", new BsonMinKey()), shards.get(1));

      assertThat(run(collection.find(Filters.eq(1)).first())).containsEntry("n", 1);

      assertThat(meters.get("onehop.stale.retries").tags("namespace", namespace).counter().count())
          .isPositive();
      assertThat(
              meters
                  .get("onehop.operations")
                  .tags("operation", "find", "decision", "owner", "shard", shards.get(1))
                  .timer()
                  .count())
          .isEqualTo(1);
    }
  }

  @Test
  void commandObservationIsChildOfSubscribersObservation() {
    Queue<Observation.Context> ended = new ConcurrentLinkedQueue<>();
    ObservationRegistry observations = ObservationRegistry.create();
    observations
        .observationConfig()
        .observationHandler(
            new ObservationHandler<Observation.Context>() {
              @Override
              public void onStop(Observation.Context context) {
                ended.add(context);
              }

              @Override
              public boolean supportsContext(Observation.Context context) {
                return true;
              }
            });
    try (MongoClient client =
        builder().observationRegistry(observations).client(MongoClient.class)) {
      MongoCollection<Document> collection = loaded(client);
      ended.clear();
      Observation request = Observation.start("request", observations);

      Mono.from(collection.find(Filters.eq(7)).first())
          .contextWrite(context -> context.put("micrometer.observation", request))
          .block(TIMEOUT);
      assertThatThrownBy(() -> run(collection.insertOne(new Document("_id", 7))))
          .hasMessageContaining("duplicate key");

      await().atMost(TIMEOUT).until(() -> ended.size() == 2);
      RoutingObservationContext find = (RoutingObservationContext) ended.remove();
      assertThat(find.getName()).isEqualTo("onehop.operation");
      assertThat(find.operation()).isEqualTo("find");
      assertThat(find.namespace()).isEqualTo(collection.getNamespace().getFullName());
      assertThat(find.decision()).isEqualTo(RouteDecision.OWNER);
      assertThat(find.shard()).contains(shards.get(0));
      assertThat(find.servers()).containsExactly(new ServerAddress(FIRST));
      assertThat(find.getParentObservation()).isSameAs(request);
      assertThat(find.getLowCardinalityKeyValue("mode").getValue()).isEqualTo("direct");
      assertThat(find.getLowCardinalityKeyValue("server").getValue()).isEqualTo(FIRST);
      RoutingObservationContext insert = (RoutingObservationContext) ended.remove();
      assertThat(insert.getParentObservation()).isNull();
      assertThat(insert.getError()).hasMessageContaining("duplicate key");
    }
  }

  @Test
  void explainReturnsRouteWithoutSendingCommand() {
    try (OneHop router = builder().build();
        MongoClient client = MongoClients.create(router.clientSettings())) {
      MongoCollection<Document> collection = loaded(client);
      String namespace = collection.getNamespace().getFullName();

      RouteExplanation read = router.explain(namespace, Filters.eq(7));
      assertThat(read.decision()).isEqualTo(RouteDecision.OWNER);
      assertThat(read.shards()).containsExactly(shards.get(0));
      assertThat(read.routers()).containsExactly(new ServerAddress(FIRST));
      assertThat(read.tableAge()).isBetween(Duration.ZERO, Duration.ofMinutes(1));
      RouteExplanation insert =
          router.explain(namespace, new InsertOneModel<>(new Document("_id", 1_000)));
      assertThat(insert.shards()).containsExactly(shards.get(2));
      RouteExplanation delete = router.explain(namespace, new DeleteOneModel<>(Filters.eq(150)));
      assertThat(delete.shards()).containsExactly(shards.get(1));
      RouteExplanation several =
          router.explain(
              namespace, new UpdateManyModel<>(Filters.gte("_id", 150), Updates.set("x", 1)));
      assertThat(several.decision()).isEqualTo(RouteDecision.HANDED_OVER);
      assertThat(several.shards()).containsExactlyInAnyOrder(shards.get(1), shards.get(2));
      assertThat(several.routers()).hasSize(1).isSubsetOf(mongoses());
      assertThat(router.explain("nowhere.c", Filters.eq(1)).decision())
          .isEqualTo(RouteDecision.NO_TABLE);
      // Nothing was written.
      assertThat(run(collection.find(Filters.eq(1_000)).first())).isNull();
      assertThat(run(collection.countDocuments())).isEqualTo(300);
    }
  }

  private static List<ServerAddress> mongoses() {
    return Stream.of(testbed.url().replaceFirst("mongodb://([^/]*).*", "$1").split(",", -1))
        .map(ServerAddress::new)
        .toList();
  }

  private static OneHop.Builder builder() {
    return OneHop.builder(testbed.url()).routing(RoutingMode.DIRECT);
  }

  /** A new collection with a third of its documents on each shard. */
  private static MongoCollection<Document> loaded(MongoClient client) {
    String name = "meters" + ++collections;
    testbed.shardCollection(
        cluster.namespace(name),
        new BsonDocument("_id", new BsonInt32(1)),
        IntStream.of(100, 200).mapToObj(i -> new BsonDocument("_id", new BsonInt32(i))).toList());
    MongoCollection<Document> collection =
        client.getDatabase(cluster.database()).getCollection(name);
    run(
        collection.insertMany(
            IntStream.range(0, 300).mapToObj(i -> new Document("_id", i).append("n", i)).toList()));
    return collection;
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
