package dev.onehop.wire.watch;

import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ServerDescription;
import dev.onehop.wire.ServerAddressName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/**
 * The zones that an application prefers, in order, each with its hosts. A host outside all zones
 * ranks after the last zone.
 *
 * <p>Thread-safe.
 */
public final class PreferredZones {
  /** No preferred zones. */
  public static final PreferredZones NONE = new PreferredZones(List.of());

  /** The time for which a new client waits for the first reply of servers in a better zone. */
  private static final Duration FIRST_ANSWER = Duration.ofSeconds(2);

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]+");
  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9_.*-]+|\\[[0-9A-Fa-f:.]+]");

  private final List<Zone> zones;
  private final Map<ServerAddress, Integer> ranks = new ConcurrentHashMap<>();

  private record Zone(String name, List<Member> members) {
    boolean has(String host, int port) {
      return members.stream().anyMatch(each -> each.matches(host, port));
    }
  }

  /**
   * @param host the pattern of host names
   * @param port the port, null for any
   */
  private record Member(Pattern host, @Nullable Integer port) {
    boolean matches(String otherHost, int otherPort) {
      return (port == null || port == otherPort) && host.matcher(otherHost).matches();
    }
  }

  private PreferredZones(List<Zone> zones) {
    this.zones = List.copyOf(zones);
  }

  /**
   * Parses zones, such as {@code a=host1|host2,b=*.b.example.com|host4:27017}.
   *
   * @throws IllegalArgumentException if the text is invalid; the message names the error
   */
  public static PreferredZones parse(String text) {
    return of(Arrays.asList(text.split(",", -1)));
  }

  /**
   * Parses zones, one per text.
   *
   * @throws IllegalArgumentException if a text is invalid; the message names the error
   */
  public static PreferredZones of(List<String> texts) {
    List<Zone> zones = new ArrayList<>();
    Set<String> names = new HashSet<>();
    Set<String> hosts = new HashSet<>();
    for (String text : texts) {
      Zone zone = zone(text.trim(), hosts);
      if (!names.add(zone.name())) {
        throw new IllegalArgumentException("zone " + zone.name() + " is given twice");
      }
      zones.add(zone);
    }
    return zones.isEmpty() ? NONE : new PreferredZones(zones);
  }

  private static Zone zone(String text, Set<String> known) {
    int equals = text.indexOf('=');
    String name = equals < 0 ? text : text.substring(0, equals).trim();
    if (equals >= 0 && !NAME.matcher(name).matches()) {
      throw new IllegalArgumentException("'" + name + "' is not a valid zone name");
    }
    List<Member> members = new ArrayList<>();
    for (String each : text.substring(equals + 1).split("\\|", -1)) {
      String member = each.trim().toLowerCase(Locale.ROOT);
      if (!known.add(member)) {
        throw new IllegalArgumentException("host " + member + " is given twice");
      }
      members.add(member(member));
    }
    return new Zone(name, List.copyOf(members));
  }

  private static Member member(String text) {
    int colon = text.indexOf(':', Math.max(text.lastIndexOf(']'), 0));
    String host = colon < 0 ? text : text.substring(0, colon);
    if (!HOST.matcher(host).matches()) {
      throw new IllegalArgumentException("'" + text + "' is neither a host nor host:port");
    }
    // The method parse refuses a port that is out of range.
    Integer port =
        colon < 0 ? null : ServerAddressName.parse("host" + text.substring(colon)).port();
    String plain = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    String[] parts = plain.split("\\*", -1);
    return new Member(
        Pattern.compile(String.join(".*", Arrays.stream(parts).map(Pattern::quote).toList())),
        port);
  }

  /** Whether there are no preferred zones. */
  public boolean isEmpty() {
    return zones.isEmpty();
  }

  /**
   * The position of a server's zone in the order, from 0. A server outside all zones has the number
   * of zones as its position.
   */
  public int rank(ServerAddress server) {
    Integer known = ranks.get(server);
    return known != null ? known : ranks.computeIfAbsent(server, this::find);
  }

  private int find(ServerAddress server) {
    String host = server.getHost().toLowerCase(Locale.ROOT);
    for (int i = 0; i < zones.size(); i++) {
      if (zones.get(i).has(host, server.getPort())) {
        return i;
      }
    }
    return zones.size();
  }

  /** The name of the zone with a {@link #rank}, for messages. */
  public String name(int rank) {
    return rank < zones.size() ? "zone " + zones.get(rank).name() : "no preferred zone";
  }

  /** The reason why a server was chosen; null without preferred zones. */
  public @Nullable String reason(ServerAddress chosen) {
    if (isEmpty()) {
      return null;
    }
    int rank = rank(chosen);
    return chosen.getHost()
        + ":"
        + chosen.getPort()
        + " is in "
        + name(rank)
        + (rank == 0
            ? ", the zone of highest preference"
            : "; no zone of higher preference has a live server that fits");
  }

  /** The servers of the best zone among these servers. */
  public List<ServerDescription> first(List<ServerDescription> servers) {
    if (isEmpty() || servers.isEmpty()) {
      return servers;
    }
    int best = Integer.MAX_VALUE;
    for (ServerDescription server : servers) {
      best = Math.min(best, rank(server.getAddress()));
    }
    List<ServerDescription> first = new ArrayList<>(servers.size());
    for (ServerDescription server : servers) {
      if (rank(server.getAddress()) == best) {
        first.add(server);
      }
    }
    return first;
  }

  /**
   * Like {@link #first(List)}, for a client that may be new and has no reply from some servers yet.
   *
   * @param cluster all servers that are watched
   * @param ageNanos how long they have been watched, in nanoseconds
   * @return the servers of the best zone; empty while a better zone may still have a live server
   */
  public List<ServerDescription> first(
      List<ServerDescription> servers, ClusterDescription cluster, long ageNanos) {
    List<ServerDescription> first = first(servers);
    if (isEmpty() || first.isEmpty() || ageNanos > FIRST_ANSWER.toNanos()) {
      return first;
    }
    int best = rank(first.get(0).getAddress());
    for (ServerDescription server : cluster.getServerDescriptions()) {
      boolean silent = !server.isOk() && server.getException() == null;
      if (silent && rank(server.getAddress()) < best) {
        return List.of();
      }
    }
    return first;
  }

  /**
   * Whether a read may be served by any member of its shard, or by any secondary.
   *
   * @param readPreference in the format of {@code $readPreference}; null for the primary
   */
  public static boolean isOfAnyMember(@Nullable BsonDocument readPreference) {
    if (readPreference == null) {
      return false;
    }
    return readPreference.get("mode") instanceof BsonString mode
        && switch (mode.getValue().toLowerCase(Locale.ROOT)) {
          case "secondary", "secondarypreferred", "nearest" -> true;
          default -> false;
        };
  }

  @Override
  public String toString() {
    return zones.stream().map(Zone::name).toList().toString();
  }
}
