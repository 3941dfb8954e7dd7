package dev.onehop.core.targeting;

import dev.onehop.core.table.Chunk;
import dev.onehop.core.table.RoutingTable;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The chunks that an operation can touch, and the shards that it must go to. Immutable and
 * thread-safe.
 */
public final class Target {
  private static final int NO_CHUNK = -1;

  private final RoutingTable table;
  private final List<String> shards;
  private final int onlyChunk;

  /**
   * The indexes of the chunks. Null if the operation can touch one chunk or all chunks, or if the
   * collection is unsharded.
   */
  private final @Nullable BitSet chunks;

  private final boolean broadcast;
  private final String reason;

  private Target(
      RoutingTable table,
      List<String> shards,
      int onlyChunk,
      @Nullable BitSet chunks,
      boolean broadcast,
      String reason) {
    this.table = table;
    this.shards = shards;
    this.onlyChunk = onlyChunk;
    this.chunks = chunks;
    this.broadcast = broadcast;
    this.reason = reason;
  }

  static Target primary(RoutingTable table) {
    return new Target(
        table,
        List.of(table.primaryShard()),
        NO_CHUNK,
        null,
        false,
        "an unsharded collection is on the primary shard");
  }

  static Target chunk(RoutingTable table, int chunk, String reason) {
    return new Target(table, List.of(table.shardOfChunk(chunk)), chunk, null, false, reason);
  }

  static Target broadcast(RoutingTable table, String reason) {
    return new Target(table, List.copyOf(table.shards()), NO_CHUNK, null, true, reason);
  }

  /** Creates a target of one or more chunks. */
  static Target chunks(RoutingTable table, BitSet chunks, String reason) {
    int first = chunks.nextSetBit(0);
    if (chunks.cardinality() == 1) {
      return chunk(table, first, reason);
    }
    SortedSet<String> shards = new TreeSet<>();
    for (int from = first; from >= 0; ) {
      int end = chunks.nextClearBit(from);
      shards.addAll(table.shardsOfChunks(from, end - 1));
      from = chunks.nextSetBit(end);
    }
    return new Target(table, List.copyOf(shards), NO_CHUNK, chunks, false, reason);
  }

  /** The routing table from which this target was determined. */
  public RoutingTable table() {
    return table;
  }

  /** The shards that the operation goes to: at least one, in alphabetical order. */
  public List<String> shards() {
    return shards;
  }

  /** Whether the operation goes to a single shard. */
  public boolean isSingleShard() {
    return shards.size() == 1;
  }

  /**
   * The only shard of the operation.
   *
   * @throws IllegalStateException if there are several
   */
  public String shard() {
    if (shards.size() != 1) {
      throw new IllegalStateException(
          "the operation goes to several shards, " + shards + ": " + reason);
    }
    return shards.get(0);
  }

  /** Whether the operation touches all chunks because nothing bounds the shard key. */
  public boolean isBroadcast() {
    return broadcast;
  }

  /** The reason of the decision, in words. */
  public String reason() {
    return reason;
  }

  /** The number of chunks that the operation can touch; 0 for an unsharded collection. */
  public int chunkCount() {
    if (broadcast) {
      return table.chunkCount();
    }
    return chunks != null ? chunks.cardinality() : onlyChunk == NO_CHUNK ? 0 : 1;
  }

  /** Whether the operation can touch the chunk with this index of the routing table. */
  public boolean touches(int chunk) {
    return broadcast || (chunks != null ? chunks.get(chunk) : chunk == onlyChunk);
  }

  /** An explanation that lists up to {@code maxChunks} of the target's chunks. */
  public TargetExplanation explain(int maxChunks) {
    List<Chunk> listed = new ArrayList<>();
    int total = table.isSharded() ? table.chunkCount() : 0;
    for (int i = nextTouched(0, total);
        i < total && listed.size() < maxChunks;
        i = nextTouched(i + 1, total)) {
      listed.add(table.chunk(i));
    }
    return new TargetExplanation(
        table.namespace(),
        table.isSharded() ? table.shardKeyPattern().toBsonDocument() : null,
        table.isSharded() ? table.version() : null,
        total,
        List.copyOf(listed),
        chunkCount(),
        shards,
        broadcast,
        reason);
  }

  private int nextTouched(int from, int total) {
    int i = from;
    while (i < total && !touches(i)) {
      i++;
    }
    return i;
  }

  @Override
  public String toString() {
    return shards + (broadcast ? " (all chunks)" : "") + ": " + reason;
  }
}
