package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.ServerAddress;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.UpdateManyModel;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RouteExplanation;
import dev.onehop.routing.observation.RoutingObservationContext;
import dev.onehop.shards.command.ScriptedCluster;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * The client of direct mode on a scripted cluster: the data that it sends about itself, and the
 * names of servers that it uses.
 */
class DirectClientTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private ScriptedCluster cluster;

  @BeforeEach
  void start() {
    cluster = new ScriptedCluster(WIRE_6_0);
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private OneHop.Builder builder() {
    return builder("m0");
  }

  private OneHop.Builder builder(String seed) {
    return OneHop.builder("mongodb://" + cluster.address(seed) + "/")
        .routing(RoutingMode.DIRECT)
        .meterRegistry(meters);
  }

  private static MongoCollection<Document> collection(MongoClient client) {
    return client.getDatabase("it").getCollection("c");
  }

  private long count(String... tags) {
    return meters.get("onehop.operations").tags("mode", "direct").tags(tags).timer().count();
  }

  @Test
  void metersCommandsByServer() {
    String first = cluster.address("s0").toString();
    try (MongoClient client = builder().client(MongoClient.class)) {
      for (int i = 1; i < 4; i++) {
        run(collection(client).find(Filters.eq(-i)).first());
      }
      run(collection(client).find(Filters.gt("n", 1)).first());
      cluster.script("s1", command -> failed(command, 987654));
      assertThatThrownBy(() -> run(collection(client).insertOne(new Document("_id", 5))));
      run(client.getDatabase("it").createCollection("new"));
      try (MongoClient withoutMongos = builder("config").client(MongoClient.class)) {
        assertThatThrownBy(() -> run(withoutMongos.getDatabase("it").createCollection("new")))
            .hasMessageContaining(
                "needs a mongos in direct mode, but the URI names config servers" + " only");
      }

      assertThat(
              count(
                  "operation",
                  "find",
                  "decision",
                  "owner",
                  "shard",
                  "s0",
                  "server",
                  first,
                  "outcome",
                  "ok"))
          .isEqualTo(3);
      assertThat(
              count(
                  "operation",
                  "find",
                  "decision",
                  "handed-over",
                  "shard",
                  "none",
                  "server",
                  cluster.address("m0").toString(),
                  "outcome",
                  "ok"))
          .isEqualTo(1);
      assertThat(
              count("operation", "insert", "decision", "owner", "shard", "s1", "outcome", "failed"))
          .isEqualTo(1);
      assertThat(count("operation", "create", "decision", "no-table", "outcome", "failed"))
          .isEqualTo(1);
      assertThat(meters.get("onehop.fallbacks").tag("reason", "handed-over").counter().count())
          .isEqualTo(2);
      // The first table showed several owners and may be stale, so it is refreshed.
      await()
          .untilAsserted(
              () ->
                  assertThat(
                          meters
                              .get("onehop.table.refreshes")
                              .tag("namespace", "it.c")
                              .timer()
                              .count())
                      .isEqualTo(2));
      assertThat(meters.get("onehop.table.chunks").tag("namespace", "it.c").gauge().value())
          .isEqualTo(2);
      assertThat(meters.get("onehop.table.age").tag("namespace", "it.c").gauge().value())
          .isBetween(0.0, 20.0);
    }
  }

  /**
   * On a sharded collection, a command carries only a shard version; on an unsharded collection,
   * also a database version. Shards of version 8.3 and later reject other combinations.
   */
  @Test
  void sendsDatabaseVersionOnlyForUnshardedCollections() {
    cluster.script("m0", ScriptedCluster::othersUnsharded);
    BsonDocument reply = BsonDocument.parse("{n: 1, value: null, values: [], ok: 1}");
    for (String shard : List.of("s0", "s1")) {
      cluster.script(
          shard,
          command ->
              command.getString("$db", new BsonString("")).getValue().equals("it")
                      && !command.containsKey("find")
                      && !command.containsKey("aggregate")
                      && !command.containsKey("listCollections")
                  ? reply
                  : null);
    }
    Bson some = Filters.and(Filters.eq(5), Filters.gt("n", 5));
    try (MongoClient client = builder().client(MongoClient.class)) {
      for (String name : List.of("c", "unsharded")) {
        MongoCollection<Document> each = client.getDatabase("it").getCollection(name);
        run(each.find(Filters.eq(5)).first());
        run(each.find(some).first());
        run(each.aggregate(List.of(Aggregates.match(some))).first());
        run(each.distinct("n", some, Integer.class).first());
        run(each.insertMany(List.of(new Document("_id", -5), new Document("_id", 5))));
        run(each.updateOne(Filters.eq(5), Updates.set("n", 1)));
        run(each.updateMany(some, Updates.set("n", 1)));
        run(each.deleteMany(some));
        run(each.findOneAndDelete(Filters.eq(5)));
      }
    }
    BsonDocument untracked =
        BsonDocument.parse(
            "{e: {$oid: '000000000000000000000000'}, t: {$timestamp: {t: 0, i: 0}},"
                + " v: {$timestamp: {t: 0, i: 0}}}");
    List<BsonDocument> versioned =
        cluster.seen().stream().filter(command -> command.containsKey("shardVersion")).toList();
    assertThat(versioned)
        .hasSizeGreaterThan(18)
        .allSatisfy(
            command ->
                assertThat(command.containsKey("databaseVersion"))
                    .isEqualTo(command.getDocument("shardVersion").equals(untracked)));
    assertThat(cluster.seen())
        .allSatisfy(
            command ->
                assertThat(command.containsKey("databaseVersion"))
                    .isIn(false, command.containsKey("shardVersion")));
  }

  @Test
  void countsRetriesOfStaleTables() {
    AtomicInteger refusals = new AtomicInteger();
    try (MongoClient client = builder().client(MongoClient.class)) {
      run(collection(client).find(Filters.eq(5)).first());
      cluster.script(
          "s1",
          command ->
              command.containsKey("find") && refusals.getAndIncrement() < 2
                  ? failed(command, 13388)
                  : null);

      assertThat(run(collection(client).find(Filters.eq(5)).first())).containsEntry("from", "s1");

      assertThat(meters.get("onehop.stale.retries").tag("namespace", "it.c").counter().count())
          .isEqualTo(2);
      assertThat(count("operation", "find", "decision", "owner", "shard", "s1", "outcome", "ok"))
          .isEqualTo(2);
    }
  }

  private static BsonDocument failed(BsonDocument command, int code) {
    return command.containsKey("hello")
        ? null
        : BsonDocument.parse("{ok: 0, errmsg: 'as scripted', code: %d}".formatted(code));
  }

  @Test
  void observationHasParentOfSubscriber() {
    Queue<RoutingObservationContext> ended = new ConcurrentLinkedQueue<>();
    ObservationRegistry observations = ObservationRegistry.create();
    observations
        .observationConfig()
        .observationHandler(
            new ObservationHandler<RoutingObservationContext>() {
              @Override
              public void onStop(RoutingObservationContext context) {
                ended.add(context);
              }

              @Override
              public boolean supportsContext(Observation.Context context) {
                return context instanceof RoutingObservationContext;
              }
            });
    try (MongoClient client =
        builder().observationRegistry(observations).client(MongoClient.class)) {
      Observation request = Observation.start("request", observations);

      Mono.from(collection(client).find(Filters.eq(5)).first())
          .contextWrite(context -> context.put("micrometer.observation", request))
          .block(TIMEOUT);
      cluster.script("s1", command -> failed(command, 987654));
      assertThatThrownBy(() -> run(collection(client).insertOne(new Document("_id", 7))));

      assertThat(ended).hasSize(2);
      RoutingObservationContext find = ended.remove();
      assertThat(find.getName()).isEqualTo("onehop.operation");
      assertThat(find.operation()).isEqualTo("find");
      assertThat(find.namespace()).isEqualTo("it.c");
      assertThat(find.decision()).isEqualTo(RouteDecision.OWNER);
      assertThat(find.shard()).contains("s1");
      assertThat(find.servers())
          .containsExactly(new ServerAddress(cluster.address("s1").toString()));
      assertThat(find.getParentObservation()).isSameAs(request);
      assertThat(find.getLowCardinalityKeyValue("mode").getValue()).isEqualTo("direct");
      assertThat(find.getLowCardinalityKeyValue("decision").getValue()).isEqualTo("owner");
      assertThat(find.getLowCardinalityKeyValue("server").getValue())
          .isEqualTo(cluster.address("s1").toString());
      RoutingObservationContext insert = ended.remove();
      assertThat(insert.operation()).isEqualTo("insert");
      assertThat(insert.getParentObservation()).isNull();
      assertThat(insert.getError()).hasMessageContaining("as scripted");
    }
  }

  @Test
  void explainNamesServersAndSendsNoCommands() {
    try (OneHop router = builder().build()) {
      RouteExplanation read = router.explain("it.c", Filters.eq(-7));
      assertThat(read.decision()).isEqualTo(RouteDecision.OWNER);
      assertThat(read.namespace()).isEqualTo("it.c");
      assertThat(read.shards()).containsExactly("s0");
      assertThat(read.routers())
          .containsExactly(new ServerAddress(cluster.address("s0").toString()));
      assertThat(read.tableAge()).isBetween(Duration.ZERO, TIMEOUT);
      assertThat(
              run(router.explainAsync("it.c", new InsertOneModel<>(new Document("_id", 7))))
                  .shards())
          .containsExactly("s1");
      RouteExplanation several =
          router.explain("it.c", new UpdateManyModel<>(Filters.gte("n", 150), Updates.set("x", 1)));
      assertThat(several.decision()).isEqualTo(RouteDecision.HANDED_OVER);
      assertThat(several.shards()).containsExactly("s0", "s1");
      assertThat(several.routers())
          .containsExactly(new ServerAddress(cluster.address("m0").toString()));
      for (String shard : several.shards()) {
        assertThat(cluster.seen(shard, "find")).isEmpty();
        assertThat(cluster.seen(shard, "aggregate")).isEmpty();
        assertThat(cluster.seen(shard, "insert")).isEmpty();
        assertThat(cluster.seen(shard, "update")).isEmpty();
      }
      assertThatThrownBy(() -> router.explain("c", Filters.eq(1)))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  /**
   * This machine cannot resolve the names in the metadata. So operations succeed only if every name
   * is mapped.
   */
  @Test
  void mapsEveryDiscoveredName() {
    ScriptedCluster inside = new ScriptedCluster(WIRE_6_0, name -> name + ".inside.invalid:27018");
    try (inside;
        OneHop router =
            OneHop.builder(
                    "mongodb://"
                        + inside.address("config")
                        + "/?replicaSet=config&serverSelectionTimeoutMS=5000")
                .routing(RoutingMode.DIRECT)
                .hostMapping(
                    Map.of(
                        "config.inside.invalid:27018", inside.address("config").toString(),
                        "s0.inside.invalid:27018", inside.address("s0").toString(),
                        "s1.inside.invalid:27018", inside.address("s1").toString()))
                .build();
        MongoClient client = MongoClients.create(router.clientSettings())) {
      assertThat(run(collection(client).find(Filters.eq(-5)).first())).containsEntry("from", "s0");
      assertThat(run(collection(client).find(Filters.eq(5)).first())).containsEntry("from", "s1");
      assertThat(router.explain("it.c", Filters.eq(5)).routers())
          .containsExactly(new ServerAddress(inside.address("s1").toString()));
    }
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
