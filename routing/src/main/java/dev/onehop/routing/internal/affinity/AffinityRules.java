package dev.onehop.routing.internal.affinity;

import dev.onehop.routing.internal.affinity.Affinity.Beside;
import dev.onehop.routing.internal.affinity.Affinity.Source;
import dev.onehop.wire.ServerAddressName;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * Chooses the mongoses of each shard. The first of these rules with a result decides:
 *
 * <ol>
 *   <li>the mongoses that the application maps to the shard;
 *   <li>the mongoses on the host of the shard's primary, or on the host of any member while the
 *       primary is not known. The rule compares the host names in the metadata. Only if none are
 *       equal, it compares the names that {@code hostMapping} gives them. Equal mapped names prove
 *       less, because one mapped host may stand for all servers;
 *   <li>the mongoses with the shortest path from this client to the shard, by measured round trips.
 *       If several paths are equally short, the mongoses nearest to the shard are chosen.
 * </ol>
 *
 * <p>Pure and thread-safe.
 */
public final class AffinityRules {
  /**
   * Two round trips count as equal if they differ by less than this duration, or by less than
   * {@link #RELATIVE_NOISE} of the shorter one.
   */
  private static final Duration NOISE = Duration.ofMillis(2);

  private static final double RELATIVE_NOISE = 0.1;

  /** A mongos counts as near a shard if the round trip between them is at most this long. */
  private static final Duration BESIDE = Duration.ofMillis(5);

  /**
   * The most mongoses per shard that are chosen by measurement. Each chosen mongos is monitored, so
   * this number also bounds the monitored servers.
   */
  private static final int MOST_MEASURED = 3;

  private final Map<String, List<ServerAddressName>> mapped;

  /**
   * @param mapped by shard id, the mongoses that the application maps to the shard
   */
  public AffinityRules(Map<String, List<ServerAddressName>> mapped) {
    this.mapped = new HashMap<>(mapped);
  }

  /**
   * Applies the rules.
   *
   * @param primaries the known primaries by shard id, under their names in the metadata
   * @param distances the measured distances, by shard id and mongos
   * @param usable returns false for a mongos that must not be used
   * @param previous the previous choice; it is kept if measurements show no clear difference
   */
  public Affinity apply(
      ClusterMembers members,
      Map<String, ServerAddressName> primaries,
      Map<String, Map<ServerAddressName, Distance>> distances,
      Predicate<ServerAddressName> usable,
      Affinity previous) {
    List<ServerAddressName> routers = used(members, members.routers(), usable);
    Map<String, Beside> shards = new TreeMap<>();
    members
        .shards()
        .forEach(
            (shard, hosts) -> {
              ServerAddressName primary = primaries.get(shard);
              Beside byName =
                  byName(shard, primary == null ? hosts : List.of(primary), members, usable);
              shards.put(
                  shard,
                  byName.source() != Source.NONE
                      ? byName
                      : measured(
                          distances.getOrDefault(shard, Map.of()),
                          routers,
                          previous.ofShard(shard)));
            });
    return new Affinity(routers, shards);
  }

  /**
   * The shards whose mongoses depend on which member is the primary: the members are on several
   * hosts, and a mongos is on one of these hosts.
   */
  public Set<String> undecidedByMembers(ClusterMembers members) {
    Set<String> undecided = new HashSet<>();
    members
        .shards()
        .forEach(
            (shard, names) -> {
              if (!mapped.containsKey(shard)
                  && hosts(names).size() > 1
                  && !onHostsOf(names, members).isEmpty()) {
                undecided.add(shard);
              }
            });
    return undecided;
  }

  private Beside byName(
      String shard,
      List<ServerAddressName> servers,
      ClusterMembers members,
      Predicate<ServerAddressName> usable) {
    List<ServerAddressName> given =
        mapped.getOrDefault(shard, List.of()).stream().filter(usable).toList();
    if (!given.isEmpty()) {
      return new Beside(given, Source.MAPPED);
    }
    List<ServerAddressName> matching = used(members, onHostsOf(servers, members), usable);
    return matching.isEmpty()
        ? new Beside(List.of(), Source.NONE)
        : new Beside(matching, Source.SAME_HOST);
  }

  /** The mongoses on the hosts of these servers. */
  private static List<ServerAddressName> onHostsOf(
      List<ServerAddressName> servers, ClusterMembers members) {
    List<ServerAddressName> matching = matching(members.routers(), servers, name -> name);
    return matching.isEmpty() ? matching(members.routers(), servers, members.mapping()) : matching;
  }

  private static List<ServerAddressName> matching(
      List<ServerAddressName> routers,
      List<ServerAddressName> servers,
      UnaryOperator<ServerAddressName> names) {
    Set<String> hosts = hosts(servers.stream().map(names).toList());
    return routers.stream().filter(router -> hosts.contains(names.apply(router).host())).toList();
  }

  private static List<ServerAddressName> used(
      ClusterMembers members,
      List<ServerAddressName> routers,
      Predicate<ServerAddressName> usable) {
    return routers.stream().map(members.mapping()).distinct().filter(usable).toList();
  }

  private static Beside measured(
      Map<ServerAddressName, Distance> distances,
      List<ServerAddressName> routers,
      Beside previous) {
    List<ServerAddressName> known = routers.stream().filter(distances::containsKey).toList();
    Function<ServerAddressName, Distance> distance =
        router -> Objects.requireNonNull(distances.get(router));
    if (known.isEmpty()) {
      return new Beside(List.of(), Source.NONE);
    }
    Duration shortest =
        known.stream().map(router -> distance.apply(router).whole()).min(Duration::compareTo).get();
    List<ServerAddressName> noDetour =
        known.stream()
            .filter(router -> isAbout(distance.apply(router).whole(), shortest, 1))
            .toList();
    Duration nearest =
        noDetour.stream()
            .map(router -> distance.apply(router).toShard())
            .min(Duration::compareTo)
            .get();
    Source source = nearest.compareTo(BESIDE) <= 0 ? Source.MEASURED : Source.SHORTEST_WAY;
    boolean stays =
        (previous.source() == Source.MEASURED || previous.source() == Source.SHORTEST_WAY)
            && previous.routers().stream()
                .allMatch(
                    router ->
                        known.contains(router)
                            && isAbout(distance.apply(router).whole(), shortest, 2)
                            && isAbout(distance.apply(router).toShard(), nearest, 2));
    if (stays) {
      return new Beside(previous.routers(), source);
    }
    return new Beside(
        noDetour.stream()
            .filter(router -> isAbout(distance.apply(router).toShard(), nearest, 1))
            .sorted(Comparator.comparing(router -> distance.apply(router).toShard()))
            .limit(MOST_MEASURED)
            .sorted(Comparator.comparing(ServerAddressName::toString))
            .toList(),
        source);
  }

  private static boolean isAbout(Duration measured, Duration least, int tolerance) {
    long noise = Math.max(NOISE.toNanos(), (long) (least.toNanos() * RELATIVE_NOISE));
    return measured.toNanos() - least.toNanos() <= noise * tolerance;
  }

  private static Set<String> hosts(List<ServerAddressName> names) {
    Set<String> hosts = new HashSet<>();
    names.forEach(name -> hosts.add(name.host()));
    return hosts;
  }
}
