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
 * Chooses the mongoses of each shard, by the first of these that tells:
 *
 * <ol>
 *   <li>what the application said;
 *   <li>the mongoses on the host of the shard's primary; on the host of any member as long as the
 *       primary is not known. The cluster's own names are compared; where none match, those that
 *       the application uses, which may be one name for all;
 *   <li>measured round trips: of the mongoses over which the way from here to the shard is the
 *       shortest, those nearest to the shard. The waiting is then done on this side of the mongos.
 * </ol>
 *
 * <p>Pure and thread-safe.
 */
public final class AffinityRules {
  /** Ways that differ by less are equally long: jitter is of that size. */
  private static final Duration NOISE = Duration.ofMillis(2);

  private static final double RELATIVE_NOISE = 0.1;

  /** A mongos no farther from a shard than this is as good as beside it. */
  private static final Duration BESIDE = Duration.ofMillis(5);

  /**
   * More mongoses per shard would only mean more monitored servers: with this bound, their number
   * over all shards grows with the number of shards.
   */
  private static final int MOST_MEASURED = 3;

  private final Map<String, List<ServerAddressName>> mapped;

  /**
   * @param mapped per shard id its mongoses, by the application's word
   */
  public AffinityRules(Map<String, List<ServerAddressName>> mapped) {
    this.mapped = new HashMap<>(mapped);
  }

  /**
   * Applies the rules.
   *
   * @param primaries the primaries that are known, by shard id, under the cluster's own names
   * @param distances what was measured, by shard id and mongos
   * @param usable leaves out mongoses that must not be used
   * @param previous what was chosen before; it stays where measurements make no clear difference
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

  /** The shards whose mongoses depend on which of several members is the primary. */
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
    List<ServerAddressName> told =
        mapped.getOrDefault(shard, List.of()).stream().filter(usable).toList();
    if (!told.isEmpty()) {
      return new Beside(told, Source.MAPPED);
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
