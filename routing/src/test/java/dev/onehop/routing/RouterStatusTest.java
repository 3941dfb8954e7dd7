package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.Filters;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RouterStatus;
import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.wire.CapturedLog;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/**
 * The status of a router, and routing that is turned off and on, with scripted mongoses. {@code m0}
 * is near s0, which owns the negative ids. {@code m1} is near s1, which owns the other ids.
 */
class RouterStatusTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;
  private static final int WIRE_8_0 = 25;

  @RegisterExtension
  private final CapturedLog log = new CapturedLog(OneHop.class.getName(), "OneHop ", "nothing is");

  @RegisterExtension
  private final CapturedLog unrouted =
      new CapturedLog("dev.onehop.routing.internal", "nothing will be routed");

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);

  @BeforeEach
  void logInfo() {
    ((Logger) LoggerFactory.getLogger(OneHop.class)).setLevel(Level.INFO);
  }

  @AfterEach
  void close() {
    ((Logger) LoggerFactory.getLogger(OneHop.class)).setLevel(null);
    cluster.release();
    cluster.close();
  }

  @Test
  void routerIsReadyWithShardsAndTables() {
    try (OneHop router = targeted().build()) {
      RouterStatus status = router.ready(TIMEOUT, "it.c");

      assertThat(status.missing()).isEmpty();
      assertThat(status.isReady()).isTrue();
      assertThat(status.mode()).isEqualTo("targeted");
      assertThat(status.isRouting()).isTrue();
      assertThat(status.shards())
          .isEqualTo(Map.of("s0", List.of(at("m0")), "s1", List.of(at("m1"))));
      assertThat(status.tables()).containsOnlyKeys("it.c");
      assertThat(status.tables().get("it.c")).isBetween(Duration.ZERO, TIMEOUT);
      await()
          .atMost(TIMEOUT)
          .untilAsserted(
              () ->
                  assertThat(log.messages())
                      .singleElement()
                      .asString()
                      .matches(
                          "OneHop \\S+ targeted: (cluster \\w+, )?2 shards, mongos beside 2 of 2,"
                              + " tables of \\d collections"));
    }
  }

  @Test
  void statusNamesMissingParts() {
    try (OneHop router =
        OneHop.builder("mongodb://" + cluster.address("m0") + "/")
            .shardRouters("s0", cluster.address("m0").toString())
            .measureRoundTrips(false)
            .hostMapping(name -> name.equals(at("m1").toString()) ? "elsewhere.example:1" : name)
            .build()) {
      RouterStatus status = router.ready(Duration.ofSeconds(1), "it.c", "it.unknown");

      assertThat(status.isReady()).isFalse();
      assertThat(status.reachableShards()).isEqualTo(1);
      assertThat(status.missing()).contains("no mongos is known beside s1");
    }
    cluster.stop("m0");
    try (OneHop router = targeted().build()) {
      RouterStatus status = router.ready(Duration.ofMillis(500), "it.c");

      assertThat(status.missing())
          .anySatisfy(why -> assertThat(why).startsWith("no mongos can be reached"))
          .contains("no routing table of it.c");
    }
  }

  @Test
  void disabledRoutingSendsNewOperationsToNearestMongos() {
    try (OneHop router = targeted().build();
        MongoClient client = MongoClients.create(router.syncClientSettings())) {
      router.ready(TIMEOUT, "it.c");
      cluster.script(
          "m1",
          command ->
              command.containsKey("getMore")
                  ? BsonDocument.parse(
                      "{cursor: {nextBatch: [{from: 'm1 again'}], id: 0, ns: 'it.c'}, ok: 1}")
                  : opensCursor(command)
                      ? BsonDocument.parse(
                          "{cursor: {firstBatch: [{from: 'm1'}], id: {$numberLong: '7'}, ns: 'it.c'},"
                              + " ok: 1}")
                      : null);
      MongoCollection<Document> collection = client.getDatabase("it").getCollection("c");
      try (MongoCursor<Document> open = collection.find(Filters.eq(5)).batchSize(1).cursor()) {
        assertThat(open.next()).containsEntry("from", "m1");

        router.setRouting(false);

        assertThat(collection.find(Filters.eq(6)).first()).containsEntry("from", "m0");
        assertThat(router.explain("it.c", Filters.eq(6)).decision())
            .isEqualTo(RouteDecision.NO_TABLE);
        assertThat(router.status().isRouting()).isFalse();
        assertThat(router.status().toString()).startsWith("targeted, turned off: ");
        assertThat(open.next()).containsEntry("from", "m1 again");
      }
      router.setRouting(true);

      assertThat(collection.find(Filters.eq(6)).first()).containsEntry("from", "m1");
    }
  }

  @Test
  void disabledDirectModeSendsNewOperationsToMongos() {
    try (OneHop router = direct("m0").build();
        MongoClient client = MongoClients.create(router.syncClientSettings())) {
      assertThat(router.ready(TIMEOUT, "it.c").toString())
          .startsWith("direct: 2 shards, primaries of 2 of 2, tables of 1 collections");
      MongoCollection<Document> collection = client.getDatabase("it").getCollection("c");
      assertThat(collection.find(Filters.eq(5)).first()).containsEntry("from", "s1");

      router.setRouting(false);
      assertThat(collection.find(Filters.eq(5)).first()).containsEntry("from", "m0");

      router.setRouting(true);
      assertThat(collection.find(Filters.eq(5)).first()).containsEntry("from", "s1");
    }
  }

  /** The router starts before the late reply of s1. The status names the refusal nevertheless. */
  @Test
  void directModeReportsShardThatRejectsUser() {
    try (ScriptedCluster newer = new ScriptedCluster(WIRE_8_0)) {
      newer.script(
          "s1",
          command ->
              command.containsKey("connectionStatus")
                  ? BsonDocument.parse(
                      "{ok: 1, authInfo: {authenticatedUsers: [{user: 'u', db: 'admin'}],"
                          + " authenticatedUserPrivileges: []}}")
                  : null);
      newer.delay(
          "s1",
          command ->
              command.containsKey("connectionStatus") ? Duration.ofMillis(700) : Duration.ZERO);
      try (OneHop router =
          OneHop.builder("mongodb://" + newer.address("config") + "/")
              .routing(RoutingMode.DIRECT)
              .build()) {
        assertThat(router.ready(Duration.ofSeconds(3)).missing())
            .contains("shard s1 refuses the user");
      }
    }
  }

  @Test
  void routingCannotBeTurnedOffWithoutMongos() {
    try (OneHop router = direct("config").build()) {
      router.ready(TIMEOUT);

      assertThatThrownBy(() -> router.setRouting(false))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("names config servers only");
    }
  }

  @Test
  void clientsOfDisabledRouterAreNotRouted() {
    String uri = "mongodb://" + cluster.address("m0") + "/?onehop.enabled=false";
    try (OneHop router = targeted(OneHop.builder(uri)).build();
        MongoClient client = MongoClients.create(router.syncClientSettings())) {
      assertThat(client.getDatabase("it").getCollection("c").find(Filters.eq(5)).first())
          .containsEntry("from", "m0");
      assertThat(router.syncClientSettings().getClusterSettings().getHosts())
          .containsExactly(at("m0"));
      assertThat(router.status().missing())
          .containsExactly("nothing is routed: onehop.enabled=false");
      assertThat(router.ready(TIMEOUT).isReady()).isFalse();
      assertThat(router.explain("it.c", Filters.eq(5)).reason()).contains("onehop.enabled=false");
      assertThatThrownBy(() -> router.setRouting(true)).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void readyWaitsForDelayedTable() {
    cluster.hold("m0", RouterStatusTest::readsMetadata);
    try (OneHop router = targeted().build()) {
      CompletableFuture<RouterStatus> ready =
          CompletableFuture.supplyAsync(() -> router.ready(TIMEOUT, "it.c"));
      // After this delay, each read of the metadata has timed out once, and the router is still
      // waiting.
      await()
          .pollDelay(Duration.ofMillis(2500))
          .atMost(TIMEOUT)
          .untilAsserted(() -> assertThat(ready).isNotDone());
      cluster.release();

      assertThat(ready.join().missing()).isEmpty();
    }
  }

  @Test
  void readyAcceptsAnyTimeout() {
    try (OneHop router = targeted().build()) {
      assertThat(router.ready(Duration.ofSeconds(Long.MAX_VALUE), "it.c").isReady()).isTrue();
      assertThat(router.ready(Duration.ZERO, "it.c").isReady()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "it", ".c", "it."})
  void rejectsMalformedNamespace(String namespace) {
    try (OneHop router = targeted().build()) {
      assertThatThrownBy(() -> router.ready(TIMEOUT, namespace))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void reportsClosedRouter() {
    OneHop router = targeted().build();
    router.ready(TIMEOUT, "it.c");
    router.close();

    assertThat(router.status().missing()).containsExactly("the router is closed");
    assertThat(router.ready(TIMEOUT.multipliedBy(10), "it.other").missing())
        .contains("the router is closed");
    assertThatThrownBy(() -> router.setRouting(false))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the router is closed");
    assertThatThrownBy(() -> router.explain("it.c", Filters.eq(5)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the router is closed");
  }

  @Test
  void modeNoneCannotBeTurnedOff() {
    try (OneHop router =
        OneHop.builder("mongodb://" + cluster.address("m0") + "/")
            .routing(RoutingMode.NONE)
            .build()) {
      assertThat(router.ready(TIMEOUT, "it.c").missing())
          .contains("nothing is routed: the routing mode is NONE");
      assertThatThrownBy(() -> router.setRouting(false))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("nothing is routed: the routing mode is NONE");
      assertThat(router.explain("it.c", Filters.eq(5)).reason())
          .isEqualTo("nothing is routed: the routing mode is NONE");
      assertThat(router.status().toString()).startsWith("none: ");
    }
  }

  @Test
  void routingCannotBeTurnedOffOnReplicaSet() {
    try (OneHop router = OneHop.builder("mongodb://" + cluster.address("s0") + "/").build()) {
      router.ready(Duration.ofSeconds(1), "it.c");

      assertThatThrownBy(() -> router.setRouting(false))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the URI leads to no mongos");
    }
  }

  private static boolean readsMetadata(BsonDocument command) {
    return command.containsKey("find") && command.getString("$db").getValue().equals("config");
  }

  private static boolean opensCursor(BsonDocument command) {
    return command.containsKey("find")
        && command.getString("$db").getValue().equals("it")
        && command.containsKey("batchSize");
  }

  private ServerAddress at(String server) {
    return new ServerAddress(cluster.address(server).toString());
  }

  private OneHop.Builder targeted() {
    return targeted(OneHop.builder("mongodb://" + cluster.address("m0") + "/"));
  }

  private OneHop.Builder targeted(OneHop.Builder builder) {
    return builder
        .shardRouters("s0", cluster.address("m0").toString())
        .shardRouters("s1", cluster.address("m1").toString());
  }

  private OneHop.Builder direct(String seed) {
    return OneHop.builder("mongodb://" + cluster.address(seed) + "/").routing(RoutingMode.DIRECT);
  }
}
