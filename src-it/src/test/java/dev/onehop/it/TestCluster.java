package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ConnectionString;
import dev.onehop.testbed.ExistingCluster;
import dev.onehop.testbed.GeoShardedCluster;
import dev.onehop.testbed.RunningTestbed;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.junit.SharedCluster;
import dev.onehop.testbed.topology.Topology;
import java.util.List;
import java.util.Locale;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.opentest4j.TestAbortedException;

/**
 * The cluster that a test class runs on, from one of three providers:
 *
 * <ul>
 *   <li>by default, processes on this machine;
 *   <li>containers, with {@code -Donehop.it.provider=containers}. {@code -Donehop.it.image=NAME}
 *       names the image, which is {@value GeoShardedCluster#DEFAULT_IMAGE} by default;
 *   <li>an existing cluster, with the URL of its mongoses in {@code -Donehop.it.url=mongodb://...}.
 *       The user must have the privilege to shard collections in the database {@code it}. Tests
 *       skip the checks that need the servers' profilers.
 * </ul>
 */
final class TestCluster implements AutoCloseable {
  private static final String URL = System.getProperty("onehop.it.url", "");
  private static final String PROVIDER = System.getProperty("onehop.it.provider", "processes");
  static final String IMAGE =
      System.getProperty("onehop.it.image", GeoShardedCluster.DEFAULT_IMAGE);

  private final String url;
  private final @Nullable Testbed testbed;
  private final @Nullable ExistingCluster existing;
  private final Runnable end;
  private String database = "it";

  private TestCluster(
      String url, @Nullable Testbed testbed, @Nullable ExistingCluster existing, Runnable end) {
    this.url = url;
    this.testbed = testbed;
    this.existing = existing;
    this.end = end;
  }

  /** Starts a cluster with this topology, or uses the existing one. */
  static TestCluster start(Topology topology) {
    if (!URL.isEmpty()) {
      System.out.println("on the cluster of -Donehop.it.url");
      ExistingCluster cluster = ExistingCluster.at(new ConnectionString(URL), null);
      return new TestCluster(URL, null, cluster, cluster::close);
    }
    switch (PROVIDER) {
      case "processes" -> {
        Testbed testbed = Testbed.builder(topology).start();
        return new TestCluster(testbed.url(), testbed, null, testbed::close);
      }
      case "containers" -> {
        GeoShardedCluster containers =
            new GeoShardedCluster(IMAGE).withTopology(topology).withStandInRouters();
        containers.start();
        System.out.println(
            "on containers of %s, started in %s: %s"
                .formatted(
                    IMAGE, containers.testbed().startPhases(), containers.testbed().server()));
        return new TestCluster(containers.url(), containers.testbed(), null, containers::stop);
      }
      default ->
          throw new IllegalArgumentException(
              "onehop.it.provider is " + PROVIDER + ", neither processes nor containers");
    }
  }

  /**
   * Like {@link #start}, but if the servers are processes, uses the shared cluster of this JVM.
   *
   * @param topology the topology of a cluster that is started
   * @param database the test class's database on other clusters
   */
  static TestCluster shared(SharedCluster shared, Topology topology, String database) {
    if (!URL.isEmpty() || !PROVIDER.equals("processes")) {
      return start(topology).withDatabase(database);
    }
    return new TestCluster(shared.url(), shared.testbed(), null, () -> {})
        .withDatabase(shared.database());
  }

  private TestCluster withDatabase(String name) {
    database = name;
    return this;
  }

  /** The class's database. */
  String database() {
    return database;
  }

  /** The namespace of a collection in the test class's database. */
  String namespace(String collection) {
    return database + "." + collection;
  }

  /** The connection string of the cluster. */
  String url() {
    return url;
  }

  /**
   * The connection string with further options, such as {@code w=1}. If the connection string has
   * no database, {@code database} is added.
   */
  String url(String database, String options) {
    ConnectionString parsed = new ConnectionString(url);
    String base = url.contains("?") ? url.substring(0, url.indexOf('?')) : url;
    String more = url.contains("?") ? url.substring(url.indexOf('?') + 1) + "&" : "";
    int path = base.indexOf('/', "mongodb+srv://".length());
    String hosts = path < 0 ? base : base.substring(0, path);
    return hosts
        + "/"
        + (parsed.getDatabase() == null ? database : parsed.getDatabase())
        + "?"
        + more
        + options;
  }

  /** The shards' names, in the order in which collections are spread over them. */
  List<String> shards() {
    return testbed == null
        ? existing.shards()
        : testbed.topology().shards().stream().map(shard -> shard.name()).toList();
  }

  /** Drops the collection of an earlier run, and creates and shards a new one. */
  void shardCollection(String namespace, BsonDocument key, List<BsonDocument> splitPoints) {
    if (testbed != null) {
      testbed.shardCollection(namespace, key, splitPoints);
      return;
    }
    existing.dropCollection(namespace);
    existing.shardCollection(namespace, key, splitPoints);
  }

  void shardHashedCollection(String namespace, BsonDocument key, int chunks) {
    if (testbed != null) {
      testbed.shardHashedCollection(namespace, key, chunks);
      return;
    }
    existing.dropCollection(namespace);
    existing.shardHashedCollection(namespace, key, chunks);
  }

  void moveRange(String namespace, BsonDocument min, String toShard) {
    if (testbed != null) {
      testbed.moveRange(namespace, min, toShard);
    } else {
      existing.moveRange(namespace, min, toShard);
    }
  }

  /** Whether the servers' profilers can show where operations were executed. */
  boolean hasEvidence() {
    return testbed != null;
  }

  /**
   * The testbed.
   *
   * @param what the evidence that the test needs, for the message
   * @throws TestAbortedException to skip the test if the cluster is no testbed
   */
  Testbed testbed(String what) {
    Assumptions.assumeTrue(
        testbed != null, () -> "skipped on a cluster from outside, which shows no " + what);
    return testbed;
  }

  /** Kills a server process of a running testbed. */
  static void kill(String topology, String address) {
    ProcessHandle server =
        RunningTestbed.all().stream()
            .filter(running -> running.topologyName().equals(topology))
            .flatMap(running -> running.servers().stream())
            .filter(status -> status.address().equals(address))
            .map(status -> ProcessHandle.of(status.pid()).orElseThrow())
            .findFirst()
            .orElseThrow();
    assertThat(server.destroyForcibly()).isTrue();
  }

  /** Skips a test that kills or freezes servers, if the servers are no processes of the testbed. */
  static void requireProcesses() {
    String provider = URL.isEmpty() ? PROVIDER.toLowerCase(Locale.ROOT) : "a cluster from outside";
    Assumptions.assumeTrue(
        provider.equals("processes"), () -> "skipped on " + provider + ": it ends processes");
  }

  /** Skips a class that tests containers, unless the option for containers is set. */
  static void requireContainers() {
    Assumptions.assumeTrue(
        URL.isEmpty() && PROVIDER.equals("containers"),
        "skipped: -Donehop.it.provider=containers runs it");
  }

  @Override
  public void close() {
    end.run();
  }
}
