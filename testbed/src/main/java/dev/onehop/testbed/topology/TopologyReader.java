package dev.onehop.testbed.topology;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.error.MarkedYAMLException;

/**
 * Reads and checks a topology file. The first pass records the line of each value by its path, such
 * as {@code hosts/va1/region}, because every error message names a line. Then Jackson reads the
 * values. An instance reads one file.
 */
final class TopologyReader {
  private static final YAMLMapper YAML = new YAMLMapper();
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]*");
  private static final Pattern PAIR = Pattern.compile("(\\S+)\\s+(<->|->)\\s+(\\S+)");
  private static final Pattern LOOPBACK =
      Pattern.compile("127(\\.(25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})){3}");
  private static final String LIST = "a list with at least one entry";
  private static final BigDecimal LONGEST_MILLIS = BigDecimal.valueOf(60_000);

  private final String label;
  private final Map<String, Integer> lines = new HashMap<>();

  TopologyReader(String label) {
    this.label = label;
  }

  /** The parts of a topology while it is being read. */
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

  /** The values of the file. A value is null if its key is missing. */
  private record Content(
      @Nullable String name,
      @Nullable String description,
      @Nullable List<String> regions,
      @Nullable Map<String, String> roundTrips,
      @Nullable Map<String, HostContent> hosts,
      @Nullable String client,
      @Nullable List<String> configServers,
      @Nullable Map<String, List<String>> shards,
      @Nullable List<String> mongos) {}

  private record HostContent(@Nullable String region, @Nullable String address) {}

  Parts read(String yaml) {
    Content content = content(yaml);
    Parts parts = new Parts();
    parts.name = name("name", "name", required("name", content.name()));
    parts.description = Objects.requireNonNullElse(content.description(), "");
    readRegions(parts, required("regions", content.regions()));
    readHosts(parts, nonEmpty("hosts", required("hosts", content.hosts())));
    readRoundTrips(parts, Objects.requireNonNullElse(content.roundTrips(), Map.of()));
    parts.client = host(parts, "client", "client", required("client", content.client()));
    parts.configServers.addAll(
        hosts(parts, "configServers", required("configServers", content.configServers())));
    readShards(parts, nonEmpty("shards", required("shards", content.shards())));
    parts.mongosHosts.addAll(hosts(parts, "mongos", required("mongos", content.mongos())));
    requireEveryRoundTrip(parts);
    return parts;
  }

  private Content content(String yaml) {
    try (JsonParser parser = YAML.createParser(yaml)) {
      if (parser.nextToken() == null) {
        throw new TopologyException(label + ":1: the file is empty");
      }
      noteLines(parser, "");
      return YAML.readValue(yaml, Content.class);
    } catch (MismatchedInputException e) {
      throw misfit(e);
    } catch (JsonProcessingException e) {
      if (e.getCause() instanceof MarkedYAMLException marked) {
        int line = marked.getProblemMark().getLine() + 1;
        throw new TopologyException(
            "%s:%d: not YAML: %s".formatted(label, line, marked.getProblem()));
      }
      throw new TopologyException(label + ": not YAML: " + e.getOriginalMessage());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Records the lines of a value and of the values inside it. The line of a value is the line of
   * its key.
   */
  private void noteLines(JsonParser parser, String path) throws IOException {
    Integer unused = lines.putIfAbsent(path, line(parser));
    if (parser.currentToken() == JsonToken.START_OBJECT) {
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        String key = path.isEmpty() ? parser.currentName() : path + "/" + parser.currentName();
        if (lines.put(key, line(parser)) != null) {
          throw at(key, "'%s' is defined twice".formatted(parser.currentName()));
        }
        JsonToken unusedValue = parser.nextToken();
        noteLines(parser, key);
      }
    } else if (parser.currentToken() == JsonToken.START_ARRAY) {
      for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
        noteLines(parser, path + "/" + i);
      }
    }
  }

  private static int line(JsonParser parser) {
    return parser.currentTokenLocation().getLineNr();
  }

  /** Returns the error for a value of a wrong form. */
  private TopologyException misfit(MismatchedInputException error) {
    List<String> steps =
        error.getPath().stream()
            .filter(step -> step.getFieldName() != null)
            .map(JsonMappingException.Reference::getFieldName)
            .toList();
    String path = String.join("/", steps);
    if (error instanceof UnrecognizedPropertyException unknown) {
      String owner = steps.size() < 2 ? "" : " in " + title(String.join("/", steps.subList(0, 2)));
      return at(path, "unknown key '%s'%s".formatted(unknown.getPropertyName(), owner));
    }
    Class<?> wanted = error.getTargetType();
    String form =
        wanted == String.class
            ? "a single value"
            : Collection.class.isAssignableFrom(wanted) ? LIST : "a mapping (key: value)";
    return at(path, title(path) + " must be " + form);
  }

  /** Returns the name that error messages use for the value at a path. */
  private static String title(String path) {
    return path.isEmpty() ? "the topology" : path.replaceFirst("^(host|shard)s/", "$1 ");
  }

  private void readRegions(Parts parts, List<String> regions) {
    forEach(
        "regions",
        regions,
        (path, item) -> {
          String region = name(path, "region", item);
          if (parts.regions.contains(region)) {
            throw at(path, "region '%s' is named twice".formatted(region));
          }
          parts.regions.add(region);
        });
  }

  private void readHosts(Parts parts, Map<String, HostContent> hosts) {
    Map<String, String> addresses = new HashMap<>();
    hosts.forEach(
        (key, content) -> {
          String path = "hosts/" + key;
          String host = name(path, "host", key);
          String region = required(path + "/region", content.region());
          if (!parts.regions.contains(name(path + "/region", "region", region))) {
            throw at(
                path + "/region",
                "host %s is in region '%s', which is not defined".formatted(host, region));
          }
          String address = required(path + "/address", content.address());
          if (!LOOPBACK.matcher(address).matches()) {
            throw at(
                path + "/address",
                "host %s has address '%s', which is not of the form 127.x.y.z"
                    .formatted(host, address));
          }
          String other = addresses.putIfAbsent(address, host);
          if (other != null) {
            throw at(
                path + "/address",
                "hosts %s and %s have the same address %s".formatted(other, host, address));
          }
          parts.hosts.put(host, new Host(host, region, address));
        });
  }

  private void readRoundTrips(Parts parts, Map<String, String> roundTrips) {
    roundTrips.forEach(
        (pair, millis) -> {
          String path = "roundTrips/" + pair;
          Matcher matcher = PAIR.matcher(pair);
          if (!matcher.matches()) {
            throw at(
                path, "'%s' is not a pair of regions: write 'a <-> b' or 'a -> b'".formatted(pair));
          }
          for (String region : List.of(matcher.group(1), matcher.group(3))) {
            if (!parts.regions.contains(region)) {
              throw at(
                  path,
                  "round trip '%s' names region '%s', which is not defined"
                      .formatted(pair, region));
            }
          }
          Duration roundTrip = millis(path, pair, millis);
          RegionPair there = new RegionPair(matcher.group(1), matcher.group(3));
          boolean bothWays = matcher.group(2).equals("<->");
          boolean known = parts.roundTrips.put(there, roundTrip) != null;
          if (bothWays && !there.from().equals(there.to())) {
            known |= parts.roundTrips.put(there.reversed(), roundTrip) != null;
          }
          if (known) {
            throw at(path, "round trip '%s' is given twice".formatted(pair));
          }
        });
  }

  private Duration millis(String path, String pair, @Nullable String text) {
    try {
      BigDecimal millis = new BigDecimal(Objects.requireNonNullElse(text, ""));
      if (millis.signum() >= 0 && millis.compareTo(LONGEST_MILLIS) <= 0) {
        return Duration.ofNanos(millis.movePointRight(6).longValue());
      }
    } catch (NumberFormatException e) {
      // A text that is not a number gets the error below, like a number out of range.
    }
    throw at(
        path,
        "round trip '%s' is '%s', which is not a number of milliseconds".formatted(pair, text));
  }

  private void readShards(Parts parts, Map<String, List<String>> shards) {
    Map<Host, Integer> shardsOnHost = new HashMap<>();
    shards.forEach(
        (key, names) -> {
          String path = "shards/" + key;
          String shard = name(path, "shard", key);
          if (shard.equals("config") || shard.equals("admin")) {
            throw at(path, "a shard cannot have the name '%s'".formatted(shard));
          }
          List<Host> members = hosts(parts, path, names);
          int nth =
              members.stream().mapToInt(host -> shardsOnHost.getOrDefault(host, 0)).max().orElse(0);
          members.forEach(member -> shardsOnHost.put(member, nth + 1));
          int port = nth == 0 ? Topology.SHARD_PORT : Topology.CONFIG_PORT + nth;
          parts.shards.add(new Shard(shard, members, port));
        });
  }

  private List<Host> hosts(Parts parts, String list, @Nullable List<String> names) {
    List<Host> hosts = new ArrayList<>();
    forEach(
        list,
        names,
        (path, name) -> {
          Host host = host(parts, path, title(list), name);
          if (hosts.contains(host)) {
            throw at(path, "%s names host '%s' twice".formatted(title(list), name));
          }
          hosts.add(host);
        });
    return hosts;
  }

  private Host host(Parts parts, String path, String what, String name) {
    @Nullable Host host = parts.hosts.get(name);
    if (host == null) {
      throw at(path, "%s names host '%s', which is not defined".formatted(what, name));
    }
    return host;
  }

  private void requireEveryRoundTrip(Parts parts) {
    for (Host from : parts.hosts.values()) {
      for (Host to : parts.hosts.values()) {
        RegionPair pair = new RegionPair(from.region(), to.region());
        if (!from.equals(to) && !parts.roundTrips.containsKey(pair)) {
          throw at(
              "roundTrips",
              "the round trip between regions '%s' and '%s' is missing (hosts %s and %s)"
                  .formatted(pair.from(), pair.to(), from.name(), to.name()));
        }
      }
    }
  }

  private <T> T required(String path, @Nullable T value) {
    if (value == null) {
      int owner = Math.max(0, path.lastIndexOf('/'));
      throw at(
          path.substring(0, owner),
          "key '%s' is missing".formatted(path.substring(path.lastIndexOf('/') + 1)));
    }
    return value;
  }

  private <V> Map<String, V> nonEmpty(String path, Map<String, V> mapping) {
    if (mapping.isEmpty()) {
      throw at(path, path + " is empty");
    }
    return mapping;
  }

  /** Passes each item of a list, with its path, to a reader. The list must not be empty. */
  private void forEach(
      String path, @Nullable List<String> items, BiConsumer<String, String> reader) {
    if (items == null || items.isEmpty()) {
      throw at(path, title(path) + " must be " + LIST);
    }
    for (int i = 0; i < items.size(); i++) {
      reader.accept(path + "/" + i, items.get(i));
    }
  }

  private String name(String path, String what, String name) {
    if (!NAME.matcher(name).matches()) {
      throw at(
          path, "%s '%s' may contain only letters, digits, '-', '_' and '.'".formatted(what, name));
    }
    return name;
  }

  private TopologyException at(String path, String message) {
    return new TopologyException(label + ":" + lines.getOrDefault(path, 1) + ": " + message);
  }
}
