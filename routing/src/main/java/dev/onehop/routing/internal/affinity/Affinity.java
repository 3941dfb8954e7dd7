package dev.onehop.routing.internal.affinity;

import dev.onehop.wire.ServerAddressName;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The mongoses near each shard. An immutable snapshot.
 *
 * @param routers all live mongoses, in order of their names
 * @param shards by shard id, the mongoses that the operations on this shard go to first
 */
public record Affinity(List<ServerAddressName> routers, Map<String, Beside> shards) {

  /** The affinity before the first read of the metadata: no mongos is known. */
  public static final Affinity EMPTY = new Affinity(List.of(), Map.of());

  private static final Beside UNKNOWN = new Beside(List.of(), Source.NONE);

  /** The reason for the choice of a shard's mongoses. */
  public enum Source {
    /** The application has mapped the mongoses to the shard. */
    MAPPED,
    /** The mongoses run on the host of the shard's primary. */
    SAME_HOST,
    /**
     * The measured round trips between the mongoses and the shard are so short that the mongoses
     * count as near.
     */
    MEASURED,
    /**
     * No mongos is near the shard. By measured round trips, the path over these mongoses is the
     * shortest.
     */
    SHORTEST_WAY,
    /** There is no mongos. */
    NONE
  }

  /**
   * The mongoses of a shard.
   *
   * @param routers empty if and only if the source is {@link Source#NONE}
   */
  public record Beside(List<ServerAddressName> routers, Source source) {
    public Beside {
      routers = List.copyOf(routers);
    }

    /**
     * Whether the mongoses are near the shard. False if they are only on the shortest path to it.
     */
    public boolean isBeside() {
      return source != Source.NONE && source != Source.SHORTEST_WAY;
    }
  }

  public Affinity {
    routers = List.copyOf(routers);
    shards = Map.copyOf(shards);
  }

  /** The mongoses of a shard. If the shard is unknown, their list is empty. */
  public Beside ofShard(String shard) {
    return shards.getOrDefault(shard, UNKNOWN);
  }

  /** The mongoses that a shard's operations go to first; empty if none is known. */
  public List<ServerAddressName> besideShard(String shard) {
    return ofShard(shard).routers();
  }

  /** The ids of the shards for which at least one mongos was chosen. */
  public SortedSet<String> shardsWithRouter() {
    SortedSet<String> found = new TreeSet<>();
    shards.forEach(
        (shard, beside) -> {
          if (!beside.routers().isEmpty()) {
            found.add(shard);
          }
        });
    return found;
  }
}
