package dev.onehop.testbed;

import dev.onehop.testbed.topology.Host;
import dev.onehop.testbed.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.testcontainers.lifecycle.Startable;

/**
 * A sharded cluster over distant regions in containers, for tests with Testcontainers: a shard and
 * a near mongos in every region, and the round trips between the regions.
 *
 * <pre>{@code
 * @Container
 * static final GeoShardedCluster cluster =
 * new GeoShardedCluster("mongo:8.0")
 * .withRegions("va", "or", "ca")
 * .withRoundTrip("va", "or", Duration.ofMillis(68));
 * MongoClient client = OneHop.builder(cluster.url()).client(com.mongodb.reactivestreams.client.MongoClient.class);
 * }</pre>
 *
 * <p>Links in this JVM delay all connections, with an accuracy of a few tens of microseconds. This
 * JVM must therefore run on the machine of the container engine, which must be Linux. The addresses
 * work for every program on that machine. This class needs the artifact {@code
 * org.testcontainers:testcontainers} 2.0 or later, which this library does not include.
 *
 * <p>Configure it from one thread before {@link #start}; it is thread-safe after the start.
 */
public final class GeoShardedCluster implements Startable {
  /** The default image. */
  public static final String DEFAULT_IMAGE = "mongo:8.0";

  private final String image;
  private @Nullable Topology topology;
  private List<String> regions = List.of("va", "or", "ca");
  private final Map<String, Duration> roundTrips = new LinkedHashMap<>();
  private boolean standIns;
  private @Nullable Testbed testbed;

  /** A cluster of {@link #DEFAULT_IMAGE}. */
  public GeoShardedCluster() {
    this(DEFAULT_IMAGE);
  }

  /**
   * A cluster of another image.
   *
   * @param image an image with mongod and mongos on its PATH; pulled if it is not on this machine
   */
  public GeoShardedCluster(String image) {
    this.image = Objects.requireNonNull(image, "image");
  }

  /**
   * Sets the regions. Each region has one shard, {@code shard-REGION}, and one near mongos on the
   * host {@code REGION1}. The application and the config server are in the first region. The
   * default is three regions: {@code va}, {@code or} and {@code ca}.
   *
   * @param names at least one; letters, digits and dashes
   */
  public GeoShardedCluster withRegions(String... names) {
    if (names.length == 0) {
      throw new IllegalArgumentException("withRegions needs at least one region");
    }
    this.regions = List.of(names);
    return this;
  }

  /**
   * Like {@link #withRegions}, with regions {@code r1}, {@code r2} and so on.
   *
   * @param count at least one
   */
  public GeoShardedCluster withShards(int count) {
    List<String> names = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      names.add("r" + i);
    }
    return withRegions(names.toArray(String[]::new));
  }

  /**
   * Sets the round trip between hosts of two regions, in both directions. The default is zero.
   *
   * @param roundTrip the time of a round trip, to the microsecond, one minute at most
   */
  public GeoShardedCluster withRoundTrip(String region, String other, Duration roundTrip) {
    roundTrips.remove(pair(other, region));
    roundTrips.put(pair(region, other), roundTrip);
    return this;
  }

  /**
   * Sets a topology in place of regions and round trips. The addresses of its hosts are ignored.
   */
  public GeoShardedCluster withTopology(Topology wanted) {
    this.topology = wanted;
    return this;
  }

  /**
   * Allows the testbed's stand-in router if the image has a Java runtime and no mongos. This is for
   * OneHop's own tests on machines without an image with a mongos. A stand-in router is not a
   * mongos.
   */
  public GeoShardedCluster withStandInRouters() {
    this.standIns = true;
    return this;
  }

  /**
   * Starts all containers in parallel, and waits until the cluster is ready. Does nothing if the
   * cluster has been started.
   *
   * @throws TestbedException if the start fails; the message is one line with the reason and the
   *     remedy
   */
  @Override
  public synchronized void start() {
    if (testbed == null) {
      testbed =
          Testbed.builder(topology == null ? ofRegions() : topology)
              .platform(options -> ContainerPlatform.prepare(options, image, standIns))
              .start();
    }
  }

  /** Removes the containers and their networks. Further calls have no effect. */
  @Override
  public synchronized void stop() {
    if (testbed != null) {
      testbed.close();
      testbed = null;
    }
  }

  private static String pair(String region, String other) {
    return region + " <-> " + other;
  }

  /**
   * Returns the topology of the regions. This method writes a text in the format of topology files
   * and parses it.
   */
  private Topology ofRegions() {
    StringBuilder yaml = new StringBuilder("name: containers\nregions: ").append(regions);
    Map<String, Duration> all = new LinkedHashMap<>(roundTrips);
    for (int i = 0; i < regions.size(); i++) {
      for (String other : regions.subList(i + 1, regions.size())) {
        if (!all.containsKey(pair(other, regions.get(i)))) {
          all.putIfAbsent(pair(regions.get(i), other), Duration.ZERO);
        }
      }
    }
    if (!all.isEmpty()) {
      yaml.append("\nroundTrips:");
      all.forEach(
          (pair, time) ->
              yaml.append(String.format(Locale.ROOT, "\n  %s: %.3f", pair, time.toNanos() / 1e6)));
    }
    yaml.append("\nhosts:");
    for (int i = 0; i < regions.size(); i++) {
      yaml.append("\n  %1$s1: {region: %1$s, address: 127.80.%2$d.1}".formatted(regions.get(i), i));
    }
    String first = regions.get(0) + "1";
    yaml.append("\nclient: ").append(first).append("\nconfigServers: [").append(first);
    yaml.append("]\nshards:");
    regions.forEach(region -> yaml.append("\n  shard-%1$s: [%1$s1]".formatted(region)));
    yaml.append("\nmongos: ")
        .append(regions.stream().map(region -> region + "1").collect(Collectors.toList()));
    return Topology.parse("regions", yaml.append('\n').toString());
  }

  /**
   * Returns the testbed of the running cluster, for all other operations: moving ranges, cutting
   * connections, counting the operations of each server.
   *
   * @throws IllegalStateException if the cluster is not running
   */
  public synchronized Testbed testbed() {
    if (testbed == null) {
      throw new IllegalStateException("the cluster has not been started, or has been stopped");
    }
    return testbed;
  }

  /**
   * The URL for an application in the client's region, as {@link Testbed#url}.
   *
   * @throws IllegalStateException if the cluster is not running
   */
  public String url() {
    return testbed().url();
  }

  /**
   * The URL of the mongos on one host.
   *
   * @param host the name of a host, such as {@code or1}
   * @throws IllegalArgumentException if the host has no mongos
   * @throws IllegalStateException if the cluster is not running
   */
  public String routerUrl(String host) {
    Topology running = testbed().topology();
    Host at = running.host(host);
    if (!running.mongosHosts().contains(at)) {
      throw new IllegalArgumentException("no mongos runs on " + host);
    }
    return "mongodb://" + at.address() + ":" + Topology.MONGOS_PORT;
  }

  /**
   * The URL of a shard's replica set, without a mongos.
   *
   * @param shard the name of a shard, such as {@code shard-or}
   * @throws IllegalArgumentException if there is no such shard
   * @throws IllegalStateException if the cluster is not running
   */
  public String replicaSetUrl(String shard) {
    String set = testbed().shardHosts().get(shard);
    if (set == null) {
      throw new IllegalArgumentException("there is no shard '" + shard + "'");
    }
    return replicaSet(set);
  }

  /** The URL of the config servers' replica set. */
  public String configServersUrl() {
    return replicaSet(testbed().configServers());
  }

  private static String replicaSet(String nameAndHosts) {
    int slash = nameAndHosts.indexOf('/');
    return "mongodb://%s/?replicaSet=%s"
        .formatted(nameAndHosts.substring(slash + 1), nameAndHosts.substring(0, slash));
  }

  /**
   * Shards a collection and distributes it over the shards in equal, contiguous shares, as {@link
   * Testbed#shardCollection}.
   */
  public void shardCollection(String namespace, BsonDocument key, List<BsonDocument> splitPoints) {
    testbed().shardCollection(namespace, key, splitPoints);
  }
}
