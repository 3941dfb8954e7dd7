package dev.onehop.routing;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.watch.PreferredZones;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A setting whose value can be written as text, for example in a URI.
 *
 * @param property the name of the setting
 * @param standard the default value
 * @param expected the allowed texts, in words, for error messages
 * @param parser parses the text; throws a {@link RuntimeException} for a text that is not allowed
 */
record Setting<T>(
    OneHopProperty property, T standard, String expected, Function<String, T> parser) {
  static final Setting<Boolean> ENABLED =
      new Setting<>(OneHopProperty.ENABLED, true, "true or false", Setting::flag);

  static final Setting<Duration> REFRESH_INTERVAL =
      new Setting<>(
          OneHopProperty.REFRESH_INTERVAL,
          Duration.ofSeconds(10),
          "a duration above zero such as 10s or 500ms",
          text -> duration(text, Duration.ofNanos(1)));

  static final Setting<Duration> HISTORY_INTERVAL =
      new Setting<>(
          OneHopProperty.HISTORY_INTERVAL,
          Duration.ofSeconds(2),
          "a duration such as 10s or 500ms, or 0s for never",
          text -> duration(text, Duration.ZERO));

  static final Setting<Boolean> MEASURE_ROUND_TRIPS =
      new Setting<>(OneHopProperty.MEASURE_ROUND_TRIPS, true, "true or false", Setting::flag);

  static final Setting<Map<String, List<ServerAddressName>>> SHARD_ROUTERS =
      new Setting<>(
          OneHopProperty.SHARD_ROUTERS,
          Map.of(),
          "shards and their mongoses, such as shard1=host:port|host:port,shard2=host:port",
          Setting::routers);

  static final Setting<Optional<UnaryOperator<ServerAddressName>>> HOST_MAPPING =
      new Setting<>(
          OneHopProperty.HOST_MAPPING,
          Optional.empty(),
          "server names and the names to use instead, such as host:port=host:port,host=host",
          text -> Optional.of(mapping(pairs(text))));

  static final Setting<PreferredZones> PREFERRED_ZONES =
      new Setting<>(
          OneHopProperty.PREFERRED_ZONES,
          PreferredZones.NONE,
          "zones in order of preference, each with its hosts, such as a=host|host,b=host:port; each"
              + " zone and each host only once",
          PreferredZones::parse);

  static final List<Setting<?>> ALL =
      List.of(
          ENABLED,
          REFRESH_INTERVAL,
          HISTORY_INTERVAL,
          MEASURE_ROUND_TRIPS,
          SHARD_ROUTERS,
          HOST_MAPPING,
          PREFERRED_ZONES);

  private static final Pattern DURATION = Pattern.compile("(\\d+)\\s*(ms|s|m)");

  private static boolean flag(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("neither");
    };
  }

  private static Duration duration(String text, Duration least) {
    Matcher matcher = DURATION.matcher(text);
    Duration duration =
        matcher.matches()
            ? Duration.of(Long.parseLong(matcher.group(1)), unit(matcher.group(2)))
            : Duration.parse(text);
    if (duration.compareTo(least) < 0) {
      throw new IllegalArgumentException("out of range");
    }
    return duration;
  }

  private static ChronoUnit unit(String text) {
    return switch (text) {
      case "ms" -> ChronoUnit.MILLIS;
      case "s" -> ChronoUnit.SECONDS;
      default -> ChronoUnit.MINUTES;
    };
  }

  private static Map<String, List<ServerAddressName>> routers(String text) {
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
  }

  /**
   * A mapping of names, from {@code host:port} to {@code host:port} and from {@code host} to {@code
   * host}. An entry with a port has precedence.
   *
   * @throws IllegalArgumentException if a name is malformed or only one name of a pair has a port
   */
  static UnaryOperator<ServerAddressName> mapping(Map<String, String> names) {
    Map<ServerAddressName, ServerAddressName> servers = new HashMap<>();
    Map<String, String> hosts = new HashMap<>();
    names.forEach(
        (from, to) -> {
          if (hasPort(from) != hasPort(to)) {
            throw new IllegalArgumentException(
                "a host mapping needs a port in both names or in neither: " + from + "=" + to);
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
      return server != null
          ? server
          : new ServerAddressName(hosts.getOrDefault(name.host(), name.host()), name.port());
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
        throw new IllegalArgumentException("not a pair of the form name=name: " + pair);
      }
      pairs.put(pair.substring(0, equals).trim(), pair.substring(equals + 1).trim());
    }
    return pairs;
  }
}
