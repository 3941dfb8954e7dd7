package dev.onehop.routing;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.watch.PreferredZones;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The values of {@link OneHopProperty}, from wherever they are set. */
final class PropertySources {
  private static final String PREFIX = "onehop.";
  private static final Pattern DURATION = Pattern.compile("(\\d+)\\s*(ms|s|m)");

  private final Map<OneHopProperty, String> uri;
  private final Properties properties;
  private final Properties system;

  /** A URI and what was among its options. */
  record Parsed(String uri, Map<OneHopProperty, String> options) {}

  PropertySources(Map<OneHopProperty, String> uri, Properties properties, Properties system) {
    this.uri = uri;
    this.properties = properties;
    this.system = system;
    for (String name : properties.stringPropertyNames()) {
      if (name.startsWith(PREFIX) && find(name).isEmpty()) {
        throw unknown(name, "the properties");
      }
    }
  }

  /** Takes our own options out of a URI: the driver would warn of them. */
  static Parsed parse(String uri) {
    int question = uri.indexOf('?');
    if (question < 0) {
      return new Parsed(uri, Map.of());
    }
    Map<OneHopProperty, String> ours = new HashMap<>();
    List<String> others = new ArrayList<>();
    for (String option : uri.substring(question + 1).split("[&;]", -1)) {
      if (!option.toLowerCase(Locale.ROOT).startsWith(PREFIX)) {
        others.add(option);
        continue;
      }
      int equals = option.indexOf('=');
      String name = equals < 0 ? option : option.substring(0, equals);
      OneHopProperty property = find(name).orElseThrow(() -> unknown(name, "the URI"));
      ours.put(
          property,
          equals < 0
              ? ""
              : URLDecoder.decode(option.substring(equals + 1), StandardCharsets.UTF_8));
    }
    return new Parsed(uri.substring(0, question + 1) + String.join("&", others), ours);
  }

  /** Whether the URI or the properties have it; system properties are for every client there is. */
  boolean isGiven(OneHopProperty property) {
    return uri.containsKey(property) || properties.getProperty(property.key()) != null;
  }

  Optional<Duration> duration(OneHopProperty property, boolean zeroAllowed) {
    return value(
        property,
        zeroAllowed
            ? "a duration such as 10s or 500ms, or 0s for never"
            : "a duration above zero such as 10s or 500ms",
        text -> {
          Duration duration = duration(text);
          if (duration.isNegative() || (duration.isZero() && !zeroAllowed)) {
            throw new IllegalArgumentException("out of range");
          }
          return duration;
        });
  }

  Optional<Boolean> flag(OneHopProperty property) {
    return value(
        property,
        "true or false",
        text ->
            switch (text.toLowerCase(Locale.ROOT)) {
              case "true" -> true;
              case "false" -> false;
              default -> throw new IllegalArgumentException("neither");
            });
  }

  Optional<Map<String, List<ServerAddressName>>> shardRouters() {
    return value(
        OneHopProperty.SHARD_ROUTERS,
        "shards and their mongoses, shard1=host:port|host:port,shard2=host:port",
        text -> {
          Map<String, List<ServerAddressName>> routers = new HashMap<>();
          pairs(text)
              .forEach(
                  (shard, names) ->
                      routers.put(
                          shard,
                          Arrays.stream(names.split("\\|", -1))
                              .map(name -> ServerAddressName.parse(name.trim()))
                              .toList()));
          return routers;
        });
  }

  Optional<UnaryOperator<ServerAddressName>> hostMapping() {
    return value(
        OneHopProperty.HOST_MAPPING,
        "names and what to use instead, host:port=host:port,host=host",
        text -> mapping(pairs(text)));
  }

  Optional<PreferredZones> preferredZones() {
    return value(
        OneHopProperty.PREFERRED_ZONES,
        "zones in order, each with its hosts, a=host|host,b=host:port, each zone and host once",
        PreferredZones::parse);
  }

  /**
   * A mapping of names, from {@code host:port} to {@code host:port} and from {@code host} to {@code
   * host}, of which the former go first.
   *
   * @throws IllegalArgumentException if a name is none or only one of a pair has a port
   */
  static UnaryOperator<ServerAddressName> mapping(Map<String, String> names) {
    Map<ServerAddressName, ServerAddressName> servers = new HashMap<>();
    Map<String, String> hosts = new HashMap<>();
    names.forEach(
        (from, to) -> {
          if (hasPort(from) != hasPort(to)) {
            throw new IllegalArgumentException(
                "a host mapping needs a port on both sides or on none: " + from + "=" + to);
          }
          ServerAddressName known = ServerAddressName.parse(from);
          ServerAddressName used = ServerAddressName.parse(to);
          if (hasPort(from)) {
            servers.put(known, used);
          } else {
            hosts.put(known.host(), used.host());
          }
        });
    return name -> {
      ServerAddressName server = servers.get(name);
      String host = hosts.get(name.host());
      return server != null
          ? server
          : host != null ? new ServerAddressName(host, name.port()) : name;
    };
  }

  private static boolean hasPort(String name) {
    return name.indexOf(':', Math.max(name.lastIndexOf(']'), 0)) >= 0;
  }

  private static Map<String, String> pairs(String text) {
    Map<String, String> pairs = new LinkedHashMap<>();
    for (String pair : text.split(",", -1)) {
      int equals = pair.indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException("no pair: " + pair);
      }
      pairs.put(pair.substring(0, equals).trim(), pair.substring(equals + 1).trim());
    }
    return pairs;
  }

  private <T> Optional<T> value(
      OneHopProperty property, String expected, Function<String, T> parser) {
    String key = property.key();
    String text = uri.get(property);
    String where = "in the URI";
    if (text == null) {
      text = properties.getProperty(key);
      where = "in the properties";
    }
    if (text == null) {
      text = system.getProperty(key);
      where = "as a system property";
    }
    if (text == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(parser.apply(text.trim()));
    } catch (IllegalArgumentException | DateTimeParseException e) {
      throw new IllegalArgumentException(
          "%s=%s, set %s, must be %s".formatted(key, text, where, expected), e);
    }
  }

  private static Duration duration(String text) {
    Matcher matcher = DURATION.matcher(text);
    if (!matcher.matches()) {
      return Duration.parse(text);
    }
    long number = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "ms" -> Duration.ofMillis(number);
      case "s" -> Duration.ofSeconds(number);
      default -> Duration.ofMinutes(number);
    };
  }

  /** Names in URIs are written in any case. */
  private static Optional<OneHopProperty> find(String name) {
    return Arrays.stream(OneHopProperty.values())
        .filter(property -> property.key().equalsIgnoreCase(name))
        .findFirst();
  }

  private static IllegalArgumentException unknown(String name, String where) {
    return new IllegalArgumentException(
        "unknown option %s in %s; known are %s"
            .formatted(
                name,
                where,
                Arrays.stream(OneHopProperty.values())
                    .map(OneHopProperty::key)
                    .collect(Collectors.joining(", "))));
  }
}
