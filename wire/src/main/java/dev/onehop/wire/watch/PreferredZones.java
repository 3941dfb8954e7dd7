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
 * The zones that an application prefers, in order, each with its hosts. A host that is in none of
 * them counts as in a zone after the last.
 *
 * <p>Thread-safe.
 */
public final class PreferredZones {
  /** No zone is preferred. */
  public static final PreferredZones NONE = new PreferredZones(List.of());

  /** How long a new client waits for the first answer of servers in a better zone. */
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
   * @param port null for any
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
   * Reads zones, such as {@code a=host1|host2,b=*.b.example.com|host4:27017}.
   *
   * @throws IllegalArgumentException with what is wrong
   */
  public static PreferredZones parse(String text) {
    return of(Arrays.asList(text.split(",", -1)));
  }

  /**
   * The same, each zone by itself.
   *
   * @throws IllegalArgumentException with what is wrong
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
      throw new IllegalArgumentException("'" + name + "' is no name of a zone");
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
      throw new IllegalArgumentException("'" + text + "' is no host and no host:port");
    }
    // A port out of range is refused there.
    Integer port =
        colon < 0 ? null : ServerAddressName.parse("host" + text.substring(colon)).port();
    String plain = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    String[] parts = plain.split("\\*", -1);
    return new Member(
        Pattern.compile(String.join(".*", Arrays.stream(parts).map(Pattern::quote).toList())),
        port);
  }

  /** Whether no zone is preferred. */
  public boolean isEmpty() {
    return zones.isEmpty();
  }

  /** The place of a server's zone in the order, from 0; the number of zones if it is in none. */
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

  /** What to call the zone of that {@link #rank}. */
  public String name(int rank) {
    return rank < zones.size() ? "zone " + zones.get(rank).name() : "no preferred zone";
  }

  /** Why a server was chosen; null if no zone is preferred. */
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
        + (rank == 0 ? ", preferred first" : ", the first with a server that fits and lives");
  }

  /** The servers of the first zone that has any of these. */
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
   * The same for a client that may be new, and then hears from some servers before it hears from
   * others.
   *
   * @param cluster all servers that are watched
   * @param ageNanos how long they have been watched
   * @return none as long as it is not known whether a better zone has a server that lives
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
   * @param readPreference as in {@code $readPreference}; null for the primary
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
