package dev.onehop.testbed.topology;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * Reads and checks a topology file. Works on YAML nodes, not on plain maps, so that every complaint
 * names the line.
 */
final class TopologyReader {
  private static final Set<String> KEYS =
      Set.of(
          "name",
          "description",
          "regions",
          "roundTrips",
          "hosts",
          "client",
          "configServers",
          "shards",
          "mongos");
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]*");
  private static final Pattern PAIR = Pattern.compile("(\\S+)\\s+(<->|->)\\s+(\\S+)");
  private static final Pattern LOOPBACK =
      Pattern.compile("127\\.(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})");
  private static final BigDecimal LONGEST_MILLIS = BigDecimal.valueOf(60_000);

  private final String label;

  TopologyReader(String label) {
    this.label = label;
  }

  /** What a topology is made of, while it is being read. */
  static final class Parts {
    String name = "";
    String description = "";
    final List<String> regions = new ArrayList<>();
    final Map<String, Host> hosts = new LinkedHashMap<>();
    final Map<RegionPair, Duration> roundTrips = new HashMap<>();
    final List<Host> configServers = new ArrayList<>();
    final List<Shard> shards = new ArrayList<>();
    final List<Host> mongosHosts = new ArrayList<>();
    private @Nullable Host client;

    Host client() {
      return Objects.requireNonNull(client);
    }
  }

  private record Entry(ScalarNode key, Node value) {}

  Parts read(String yaml) {
    Optional<Node> root;
    try {
      root = new Compose(LoadSettings.builder().setLabel(label).build()).composeString(yaml);
    } catch (MarkedYamlEngineException e) {
      int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
      throw new TopologyException("%s:%d: not YAML: %s".formatted(label, line, e.getProblem()));
    } catch (YamlEngineException e) {
      throw new TopologyException(label + ": not YAML: " + e.getMessage());
    }
    if (root.isEmpty()) {
      throw new TopologyException(label + ":1: the file is empty");
    }
    Node top = root.get();
    Map<String, Entry> keys = mapping(top, "the topology");
    for (Entry entry : keys.values()) {
      if (!KEYS.contains(entry.key().getValue())) {
        throw at(entry.key(), "unknown key '%s'".formatted(entry.key().getValue()));
      }
    }
    Parts parts = new Parts();
    parts.name = name(required(keys, "name", top), "name");
    if (keys.containsKey("description")) {
      parts.description = scalar(keys.get("description").value(), "description").getValue();
    }
    readRegions(parts, required(keys, "regions", top));
    readHosts(parts, required(keys, "hosts", top));
    if (keys.containsKey("roundTrips")) {
      readRoundTrips(parts, keys.get("roundTrips").value());
    }
    parts.client = host(parts, required(keys, "client", top), "client");
    readHostList(parts, required(keys, "configServers", top), "configServers", parts.configServers);
    readShards(parts, required(keys, "shards", top));
    readHostList(parts, required(keys, "mongos", top), "mongos", parts.mongosHosts);
    requireEveryRoundTrip(
        parts, keys.containsKey("roundTrips") ? keys.get("roundTrips").key() : top);
    return parts;
  }

  private void readRegions(Parts parts, Node node) {
    for (Node item : sequence(node, "regions")) {
      String region = name(item, "region");
      if (parts.regions.contains(region)) {
        throw at(item, "region '%s' is named twice".formatted(region));
      }
      parts.regions.add(region);
    }
  }

  private void readHosts(Parts parts, Node node) {
    Map<String, String> addresses = new HashMap<>();
    for (Entry entry : nonEmptyMapping(node, "hosts").values()) {
      String host = name(entry.key(), "host");
      Map<String, Entry> fields = mapping(entry.value(), "host " + host);
      for (Entry field : fields.values()) {
        if (!Set.of("region", "address").contains(field.key().getValue())) {
          throw at(
              field.key(), "unknown key '%s' in host %s".formatted(field.key().getValue(), host));
        }
      }
      Node regionNode = required(fields, "region", entry.key());
      String region = name(regionNode, "region");
      if (!parts.regions.contains(region)) {
        throw at(
            regionNode,
            "host %s stands in region '%s', which is not defined".formatted(host, region));
      }
      Node addressNode = required(fields, "address", entry.key());
      String address = address(addressNode, host);
      String other = addresses.putIfAbsent(address, host);
      if (other != null) {
        throw at(
            addressNode,
            "hosts %s and %s have the same address %s".formatted(other, host, address));
      }
      parts.hosts.put(host, new Host(host, region, address));
    }
  }

  private String address(Node node, String host) {
    String address = scalar(node, "address").getValue();
    Matcher matcher = LOOPBACK.matcher(address);
    boolean valid = matcher.matches();
    for (int i = 1; valid && i <= 3; i++) {
      valid = Integer.parseInt(matcher.group(i)) <= 255;
    }
    if (!valid) {
      throw at(node, "host %s has address '%s', which is no 127.x.y.z".formatted(host, address));
    }
    return address;
  }

  private void readRoundTrips(Parts parts, Node node) {
    for (Entry entry : mapping(node, "roundTrips").values()) {
      String pair = entry.key().getValue();
      Matcher matcher = PAIR.matcher(pair);
      if (!matcher.matches()) {
        throw at(
            entry.key(), "'%s' is no pair of regions: write 'a <-> b' or 'a -> b'".formatted(pair));
      }
      for (String region : List.of(matcher.group(1), matcher.group(3))) {
        if (!parts.regions.contains(region)) {
          throw at(
              entry.key(),
              "round trip '%s' names region '%s', which is not defined".formatted(pair, region));
        }
      }
      Duration roundTrip = millis(entry.value(), pair);
      RegionPair there = new RegionPair(matcher.group(1), matcher.group(3));
      boolean bothWays = matcher.group(2).equals("<->");
      boolean known = parts.roundTrips.put(there, roundTrip) != null;
      if (bothWays && !there.from().equals(there.to())) {
        known |= parts.roundTrips.put(there.reversed(), roundTrip) != null;
      }
      if (known) {
        throw at(entry.key(), "round trip '%s' is given twice".formatted(pair));
      }
    }
  }

  private Duration millis(Node node, String pair) {
    String text = scalar(node, "round trip").getValue();
    try {
      BigDecimal millis = new BigDecimal(text);
      if (millis.signum() >= 0 && millis.compareTo(LONGEST_MILLIS) <= 0) {
        return Duration.ofNanos(millis.movePointRight(6).longValue());
      }
    } catch (NumberFormatException e) {
      // Said below, as for a number out of range.
    }
    throw at(
        node, "round trip '%s' is '%s', which is no number of milliseconds".formatted(pair, text));
  }

  private void readShards(Parts parts, Node node) {
    Map<Host, Integer> shardsOnHost = new HashMap<>();
    for (Entry entry : nonEmptyMapping(node, "shards").values()) {
      String shard = name(entry.key(), "shard");
      if (shard.equals("config") || shard.equals("admin")) {
        throw at(entry.key(), "a shard cannot be called '%s'".formatted(shard));
      }
      List<Host> members = new ArrayList<>();
      readHostList(parts, entry.value(), "shard " + shard, members);
      int nth = 0;
      for (Host member : members) {
        nth = Math.max(nth, shardsOnHost.getOrDefault(member, 0));
      }
      for (Host member : members) {
        shardsOnHost.put(member, nth + 1);
      }
      int port = nth == 0 ? Topology.SHARD_PORT : Topology.CONFIG_PORT + nth;
      parts.shards.add(new Shard(shard, members, port));
    }
  }

  private void readHostList(Parts parts, Node node, String what, List<Host> into) {
    for (Node item : sequence(node, what)) {
      Host host = host(parts, item, what);
      if (into.contains(host)) {
        throw at(item, "%s names host '%s' twice".formatted(what, host.name()));
      }
      into.add(host);
    }
  }

  private Host host(Parts parts, Node node, String what) {
    String name = scalar(node, what).getValue();
    @Nullable Host host = parts.hosts.get(name);
    if (host == null) {
      throw at(node, "%s names host '%s', which is not defined".formatted(what, name));
    }
    return host;
  }

  private void requireEveryRoundTrip(Parts parts, Node where) {
    for (Host from : parts.hosts.values()) {
      for (Host to : parts.hosts.values()) {
        RegionPair pair = new RegionPair(from.region(), to.region());
        if (!from.equals(to) && !parts.roundTrips.containsKey(pair)) {
          throw at(
              where,
              "no round trip given between regions '%s' and '%s' (hosts %s and %s)"
                  .formatted(pair.from(), pair.to(), from.name(), to.name()));
        }
      }
    }
  }

  private Node required(Map<String, Entry> keys, String key, Node where) {
    @Nullable Entry entry = keys.get(key);
    if (entry == null) {
      throw at(where, "key '%s' is missing".formatted(key));
    }
    return entry.value();
  }

  private Map<String, Entry> nonEmptyMapping(Node node, String what) {
    Map<String, Entry> entries = mapping(node, what);
    if (entries.isEmpty()) {
      throw at(node, "%s is empty".formatted(what));
    }
    return entries;
  }

  private Map<String, Entry> mapping(Node node, String what) {
    if (!(node instanceof MappingNode mapping)) {
      throw at(node, "%s must be a mapping (key: value)".formatted(what));
    }
    Map<String, Entry> entries = new LinkedHashMap<>();
    for (NodeTuple tuple : mapping.getValue()) {
      ScalarNode key = scalar(tuple.getKeyNode(), "a key");
      if (entries.put(key.getValue(), new Entry(key, tuple.getValueNode())) != null) {
        throw at(key, "'%s' is defined twice".formatted(key.getValue()));
      }
    }
    return entries;
  }

  private List<Node> sequence(Node node, String what) {
    if (!(node instanceof SequenceNode sequence) || sequence.getValue().isEmpty()) {
      throw at(node, "%s must be a list with at least one entry".formatted(what));
    }
    return sequence.getValue();
  }

  private ScalarNode scalar(Node node, String what) {
    if (!(node instanceof ScalarNode scalar)) {
      throw at(node, "%s must be a single value".formatted(what));
    }
    return scalar;
  }

  private String name(Node node, String what) {
    String name = scalar(node, what).getValue();
    if (!NAME.matcher(name).matches()) {
      throw at(
          node, "%s '%s' may hold letters, digits, '-', '_' and '.' only".formatted(what, name));
    }
    return name;
  }

  private TopologyException at(Node node, String message) {
    int line = node.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
    return new TopologyException(label + ":" + line + ": " + message);
  }
}
