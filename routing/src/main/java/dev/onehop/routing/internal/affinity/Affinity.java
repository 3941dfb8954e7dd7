package dev.onehop.routing.internal.affinity;

import dev.onehop.wire.ServerAddressName;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Which mongoses stand beside which shard. An immutable snapshot.
 *
 * @param routers all live mongoses, in order of their names
 * @param shards per shard id the mongoses that its operations go to first
 */
public record Affinity(List<ServerAddressName> routers, Map<String, Beside> shards) {

  /** Nothing known yet. */
  public static final Affinity EMPTY = new Affinity(List.of(), Map.of());

  private static final Beside UNKNOWN = new Beside(List.of(), Source.NONE);

  /** What a shard's mongoses were chosen by. */
  public enum Source {
    /** The application said so. */
    MAPPED,
    /** They run on the host of the shard's primary. */
    SAME_HOST,
    /** By measured round trips they are as good as beside it. */
    MEASURED,
    /** None is beside it; by measured round trips the way over these is the shortest. */
    SHORTEST_WAY,
    /** There are none. */
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

    /** Whether they stand beside the shard, not just on the shortest way to it. */
    public boolean isBeside() {
      return source != Source.NONE && source != Source.SHORTEST_WAY;
    }
  }

  public Affinity {
    routers = List.copyOf(routers);
    shards = Map.copyOf(shards);
  }

  /** What is known of a shard; nothing if the shard is unknown. */
  public Beside ofShard(String shard) {
    return shards.getOrDefault(shard, UNKNOWN);
  }

  /** The mongoses that a shard's operations go to first; empty if there is none. */
  public List<ServerAddressName> besideShard(String shard) {
    return ofShard(shard).routers();
  }

  /** The ids of the shards that have mongoses to go to first. */
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
