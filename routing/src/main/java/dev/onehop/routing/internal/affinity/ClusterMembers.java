package dev.onehop.routing.internal.affinity;

import dev.onehop.wire.ServerAddressName;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.bson.BsonDocument;

/**
 * The shards and mongoses of a cluster, as {@code config.shards} and {@code config.mongos} list
 * them. An immutable snapshot.
 *
 * @param routers the live mongoses, in order of their names
 * @param shards by shard id, the members of the shard's replica set
 * @param mapping maps the names in the metadata to the names under which the application reaches
 *     the servers
 */
public record ClusterMembers(
    List<ServerAddressName> routers,
    Map<String, List<ServerAddressName>> shards,
    UnaryOperator<ServerAddressName> mapping) {

  /** A cluster without servers. */
  public static final ClusterMembers NONE =
      new ClusterMembers(List.of(), Map.of(), UnaryOperator.identity());

  /**
   * A mongos counts as live if its last ping is at most this much older than the newest ping of all
   * mongoses. A mongos writes a ping to its entry every ten seconds, so it may miss two pings.
   */
  public static final Duration LIVE = Duration.ofSeconds(30);

  public ClusterMembers {
    routers = List.copyOf(routers);
    shards = Map.copyOf(shards);
  }

  /**
   * Parses the entries of the two collections.
   *
   * @param mapping maps the names in the metadata to the names that the application uses
   */
  public static ClusterMembers of(
      List<BsonDocument> shardEntries,
      List<BsonDocument> mongosEntries,
      UnaryOperator<ServerAddressName> mapping) {
    Map<String, List<ServerAddressName>> shards = new TreeMap<>();
    for (BsonDocument shard : shardEntries) {
      shards.put(
          shard.getString("_id").getValue(),
          ServerAddressName.members(shard.getString("host").getValue()));
    }
    return new ClusterMembers(live(mongosEntries), shards, mapping);
  }

  /**
   * The live mongoses. Ages are relative to the newest ping, because this machine's clock may be
   * wrong.
   */
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
}
