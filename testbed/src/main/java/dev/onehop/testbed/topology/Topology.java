package dev.onehop.testbed.topology;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The hosts of a cluster with their regions, the round trips between regions, and the servers on
 * each host. A topology is read from a YAML file. Five topologies ship with the library. Immutable.
 */
public final class Topology {
  /** The port of every mongos. */
  public static final int MONGOS_PORT = 27017;

  /**
   * The port of a shard's members. A second shard on the same host gets 27020, a third 27021, and
   * so on.
   */
  public static final int SHARD_PORT = 27018;

  /** The port of every config server. */
  public static final int CONFIG_PORT = 27019;

  /** The names of the topologies that ship with the library. */
  public static final List<String> SHIPPED =
      List.of("us-2014", "atlas-3-region", "two-near-mongos", "three-zones", "single-host");

  private final String name;
  private final String description;
  private final List<String> regions;
  private final Map<String, Host> hosts;
  private final Map<RegionPair, Duration> roundTrips;
  private final Host client;
  private final List<Host> configServers;
  private final List<Shard> shards;
  private final List<Host> mongosHosts;
  private final String yaml;

  Topology(TopologyReader.Parts parts, String yaml) {
    this.name = parts.name;
    this.description = parts.description;
    this.regions = List.copyOf(parts.regions);
    this.hosts = Collections.unmodifiableMap(parts.hosts);
    this.roundTrips = Map.copyOf(parts.roundTrips);
    this.client = parts.client();
    this.configServers = List.copyOf(parts.configServers);
    this.shards = List.copyOf(parts.shards);
    this.mongosHosts = List.copyOf(parts.mongosHosts);
    this.yaml = yaml;
  }

  /**
   * A topology that ships with the library.
   *
   * @param name one of {@link #SHIPPED}
   * @throws TopologyException if no topology has this name
   */
  public static Topology named(String name) {
    if (SHIPPED.contains(name)) {
      String file = name + ".yaml";
      try (InputStream in = Topology.class.getResourceAsStream("/topologies/" + file)) {
        if (in != null) {
          return parse(file, new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    throw new TopologyException(
        "no topology '%s': it is neither a file nor one of %s"
            .formatted(name, String.join(", ", SHIPPED)));
  }

  /**
   * Reads a topology file.
   *
   * @throws TopologyException if the file cannot be read or is invalid; the message names the file
   *     and, for an invalid file, the line
   */
  public static Topology load(Path file) {
    String yaml;
    try {
      yaml = Files.readString(file);
    } catch (IOException e) {
      throw new TopologyException("cannot read topology file " + file + ": " + reason(e));
    }
    return parse(file.getFileName().toString(), yaml);
  }

  /**
   * Returns a shipped topology by its name, or reads a topology file.
   *
   * @throws TopologyException as {@link #named} and {@link #load} do
   */
  public static Topology resolve(String nameOrFile) {
    if (SHIPPED.contains(nameOrFile)) {
      return named(nameOrFile);
    }
    Path file = Path.of(nameOrFile);
    return Files.exists(file) || nameOrFile.contains("/") || nameOrFile.endsWith(".yaml")
        ? load(file)
        : named(nameOrFile);
  }

  /**
   * Reads a topology from YAML text.
   *
   * @param label the text's name in error messages, usually the file's name
   * @throws TopologyException if the text is invalid
   */
  public static Topology parse(String label, String yaml) {
    return new Topology(new TopologyReader(label).read(yaml), yaml);
  }

  /**
   * Returns the same topology with other addresses of its hosts.
   *
   * @param addressOf a unique address or name for each host
   */
  public Topology at(Function<Host, String> addressOf) {
    return new Topology(this, addressOf);
  }

  private Topology(Topology other, Function<Host, String> addressOf) {
    Map<String, Host> moved = new LinkedHashMap<>();
    other.hosts.forEach(
        (hostName, host) ->
            moved.put(hostName, new Host(hostName, host.region(), addressOf.apply(host))));
    Function<Host, Host> to = host -> Objects.requireNonNull(moved.get(host.name()));
    this.name = other.name;
    this.description = other.description;
    this.regions = other.regions;
    this.hosts = Collections.unmodifiableMap(moved);
    this.roundTrips = other.roundTrips;
    this.client = to.apply(other.client);
    this.configServers = other.configServers.stream().map(to).toList();
    this.shards =
        other.shards.stream()
            .map(s -> new Shard(s.name(), s.hosts().stream().map(to).toList(), s.port()))
            .toList();
    this.mongosHosts = other.mongosHosts.stream().map(to).toList();
    this.yaml = other.yaml;
  }

  private static String reason(IOException e) {
    return e instanceof java.nio.file.NoSuchFileException ? "no such file" : e.toString();
  }

  public String name() {
    return name;
  }

  /** A description of the topology in one line; empty if the file has none. */
  public String description() {
    return description;
  }

  /** Regions in the file's order. */
  public List<String> regions() {
    return regions;
  }

  /** Hosts in the file's order. */
  public List<Host> hosts() {
    return List.copyOf(hosts.values());
  }

  /**
   * The host with this name.
   *
   * @throws IllegalArgumentException if there is none
   */
  public Host host(String hostName) {
    @Nullable Host host = hosts.get(hostName);
    if (host == null) {
      throw new IllegalArgumentException("topology " + name + " has no host '" + hostName + "'");
    }
    return host;
  }

  /**
   * The host of the application. Connections from outside of the cluster count as connections from
   * this host.
   */
  public Host client() {
    return client;
  }

  /** The hosts of the config servers' replica set; at least one. */
  public List<Host> configServers() {
    return configServers;
  }

  /** Shards in the file's order; at least one. */
  public List<Shard> shards() {
    return shards;
  }

  /**
   * The shard with this name.
   *
   * @throws IllegalArgumentException if there is none
   */
  public Shard shard(String shardName) {
    return shards.stream()
        .filter(s -> s.name().equals(shardName))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "topology " + name + " has no shard '" + shardName + "'"));
  }

  /** Hosts that run a mongos; at least one. */
  public List<Host> mongosHosts() {
    return mongosHosts;
  }

  /** The configured round trip of a connection from one host to another: zero on the same host. */
  public Duration roundTrip(Host from, Host to) {
    return from.equals(to)
        ? Duration.ZERO
        : roundTrips.getOrDefault(new RegionPair(from.region(), to.region()), Duration.ZERO);
  }

  /** Whether there is a delay between any two hosts. */
  public boolean hasDelays() {
    return hosts.values().stream().anyMatch(this::isDistant);
  }

  /** Whether a connection to this host from at least one other host has a delay. */
  public boolean isDistant(Host to) {
    return hosts.values().stream().anyMatch(from -> !roundTrip(from, to).isZero());
  }

  /** Mongos hosts by distance from the client, the nearest first. */
  public List<Host> mongosHostsByDistance() {
    List<Host> sorted = new ArrayList<>(mongosHosts);
    sorted.sort(java.util.Comparator.comparing(host -> roundTrip(client, host)));
    return sorted;
  }

  /** The YAML text from which this topology was read. */
  public String toYaml() {
    return yaml;
  }

  @Override
  public String toString() {
    return name;
  }
}
