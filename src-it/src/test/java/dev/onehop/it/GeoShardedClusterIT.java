package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.testbed.GeoShardedCluster;
import dev.onehop.testbed.ServerInfo.RouterKind;
import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.topology.RoundTrips;
import dev.onehop.testbed.topology.Topology;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.stream.StreamSupport;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The cluster that the tests of users start with Testcontainers. */
class GeoShardedClusterIT {
  /** An image of a registry that does not exist: no process listens on this local port. */
  private static final String MISSING_IMAGE = "127.0.0.1:9/no-such-image:1";

  private static final Duration FAR = Duration.ofMillis(40);

  private static GeoShardedCluster cluster;

  @BeforeAll
  static void start() {
    TestCluster.requireContainers();
    cluster =
        new GeoShardedCluster(TestCluster.IMAGE)
            .withRegions("east", "west")
            .withRoundTrip("east", "west", FAR)
            .withStandInRouters();
    cluster.start();
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.stop();
    }
  }

  @Test
  void eachRegionHasShardAndMongosOnOneHost() {
    try (MongoClient client = MongoClients.create(cluster.url())) {
      List<String> mongoses =
          ids(
              client
                  .getDatabase("config")
                  .getCollection("mongos")
                  .find()
                  .map(GeoShardedClusterIT::host));
      List<String> shards =
          ids(
              client
                  .getDatabase("config")
                  .getCollection("shards")
                  .find()
                  .map(shard -> shard.getString("host").split("[/:]", -1)[1]));
      assertThat(mongoses).hasSize(2).containsExactlyInAnyOrderElementsOf(shards);
    }
    assertThat(cluster.testbed().shardHosts()).containsOnlyKeys("shard-east", "shard-west");
  }

  @Test
  void returnsUrlsOfNamedServers() {
    cluster.shardCollection(
        "it.accessors",
        new BsonDocument("_id", new BsonInt32(1)),
        List.of(new BsonDocument("_id", new BsonInt32(10))));
    for (String url : List.of(cluster.routerUrl("east1"), cluster.routerUrl("west1"))) {
      assertThat(hello(url)).containsEntry("msg", "isdbgrid");
    }
    assertThat(hello(cluster.replicaSetUrl("shard-west"))).containsEntry("setName", "shard-west");
    assertThat(hello(cluster.configServersUrl())).containsEntry("setName", "config-servers");
    try (MongoClient client = MongoClients.create(cluster.routerUrl("west1"));
        MongoClient west = MongoClients.create(cluster.replicaSetUrl("shard-west"))) {
      client.getDatabase("it").getCollection("accessors").insertOne(new Document("_id", 20));
      assertThat(west.getDatabase("it").getCollection("accessors").countDocuments()).isEqualTo(1);
    }
    assertThatThrownBy(() -> cluster.routerUrl("nowhere"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> cluster.replicaSetUrl("nowhere"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** On a busy machine a round trip may take longer than requested, but never less. */
  @Test
  void roundTripsAreNotShorterThanConfigured() {
    RoundTrips roundTrips = cluster.testbed().measureRoundTrips();

    assertThat(roundTrips.measured().get("west1")).isGreaterThan(FAR.minusMillis(1));
    assertThat(roundTrips.measured().get("east1")).isLessThan(FAR);
  }

  @Test
  void reportsMissingImage() {
    assertThatThrownBy(() -> new GeoShardedCluster(MISSING_IMAGE).start())
        .isInstanceOf(TestbedException.class)
        .hasMessageStartingWith("image " + MISSING_IMAGE + " is not on this machine")
        .hasMessageNotContaining("\n");
  }

  @Test
  void rejectsImageWithoutMongos() {
    String imageWithoutMongos = TestCluster.IMAGE;
    Assumptions.assumeTrue(
        cluster.testbed().server().router() == RouterKind.STAND_IN,
        "skipped: the image has a mongos");
    assertThatThrownBy(() -> new GeoShardedCluster(imageWithoutMongos).start())
        .isInstanceOf(TestbedException.class)
        .hasMessage(
            "image "
                + imageWithoutMongos
                + " has no mongos; name an image with mongos, such as mongo:8.0");
  }

  @Test
  void reportsPortInUse() throws IOException {
    try (ServerSocket taken = new ServerSocket()) {
      taken.bind(new InetSocketAddress("0.0.0.0", 27020)); // the port of a host's second shard
      GeoShardedCluster twoOnOneHost =
          new GeoShardedCluster(TestCluster.IMAGE)
              .withTopology(Topology.named("single-host"))
              .withStandInRouters();
      assertThatThrownBy(twoOnOneHost::start)
          .isInstanceOf(TestbedException.class)
          .hasMessageMatching("[0-9.]+:27020 is taken by process \\d+ \\(java\\)");
    }
  }

  private static Document hello(String url) {
    try (MongoClient client = MongoClients.create(url)) {
      return client.getDatabase("admin").runCommand(new Document("hello", 1));
    }
  }

  private static String host(Document mongos) {
    return mongos.getString("_id").split(":", -1)[0];
  }

  private static List<String> ids(Iterable<String> found) {
    return StreamSupport.stream(found.spliterator(), false).toList();
  }
}
