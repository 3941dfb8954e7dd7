package dev.onehop.routing.internal.affinity;

import dev.onehop.routing.internal.wire.ServerAddressName;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.bson.BsonDocument;

/**
 * Which mongoses stand beside which shard: those whose host is a host of the shard. An immutable
 * snapshot of {@code config.shards} and {@code config.mongos}.
 *
 * @param routers all live mongoses, in order of their names
 * @param beside per shard id the mongoses beside it, empty where there is none
 */
public record Affinity(
    List<ServerAddressName> routers, Map<String, List<ServerAddressName>> beside) {

  /** Nothing known yet. */
  public static final Affinity EMPTY = new Affinity(List.of(), Map.of());

  /**
   * How much older than the newest ping an entry may be and still count as a live mongos: three of
   * the ten-second intervals in which a mongos writes it.
   */
  private static final Duration LIVE = Duration.ofSeconds(30);

  /**
   * Matches by host.
   *
   * @param shards the documents of {@code config.shards}
   * @param mongoses the documents of {@code config.mongos}
   */
  public static Affinity byHost(List<BsonDocument> shards, List<BsonDocument> mongoses) {
    List<ServerAddressName> routers = live(mongoses);
    Map<String, List<ServerAddressName>> beside = new TreeMap<>();
    for (BsonDocument shard : shards) {
      Set<String> hosts = hosts(shard.getString("host").getValue());
      List<ServerAddressName> matching = new ArrayList<>();
      for (ServerAddressName router : routers) {
        if (hosts.contains(router.host())) {
          matching.add(router);
        }
      }
      beside.put(shard.getString("_id").getValue(), List.copyOf(matching));
    }
    return new Affinity(routers, Map.copyOf(beside));
  }

  /** The mongoses beside a shard; empty if there is none or the shard is unknown. */
  public List<ServerAddressName> besideShard(String shard) {
    return beside.getOrDefault(shard, List.of());
  }

  /** The ids of the shards that have a mongos beside them. */
  public SortedSet<String> shardsWithRouter() {
    SortedSet<String> found = new TreeSet<>();
    beside.forEach(
        (shard, near) -> {
          if (!near.isEmpty()) {
            found.add(shard);
          }
        });
    return found;
  }

  /** Ages are told by the newest ping, not by this machine's clock, which may be off. */
  private static List<ServerAddressName> live(List<BsonDocument> mongoses) {
    Instant newest = Instant.MIN;
    for (BsonDocument mongos : mongoses) {
      Instant ping = ping(mongos);
      newest = ping.isAfter(newest) ? ping : newest;
    }
    SortedSet<ServerAddressName> routers =
        new TreeSet<>(Comparator.comparing(ServerAddressName::toString));
    for (BsonDocument mongos : mongoses) {
      if (Duration.between(ping(mongos), newest).compareTo(LIVE) <= 0) {
        routers.add(ServerAddressName.parse(mongos.getString("_id").getValue()));
      }
    }
    return List.copyOf(routers);
  }

  private static Instant ping(BsonDocument mongos) {
    return mongos.isDateTime("ping")
        ? Instant.ofEpochMilli(mongos.getDateTime("ping").getValue())
        : Instant.EPOCH;
  }

  private static Set<String> hosts(String connectionString) {
    Set<String> hosts = new HashSet<>();
    String members = connectionString.substring(connectionString.indexOf('/') + 1);
    for (String member : members.split(",", -1)) {
      hosts.add(ServerAddressName.parse(member.trim()).host());
    }
    return hosts;
  }
}
