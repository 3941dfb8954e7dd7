package dev.onehop.jmh.core;

import dev.onehop.core.table.RoutingTable;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.bson.BsonDocument;

/** Prints the heap that a routing table retains per chunk, and the heap that a refresh adds. */
public final class RetainedMemory {
  private RetainedMemory() {}

  /**
   * Prints the figures for a number of chunks: the first argument, or a million without an
   * argument.
   */
  public static void main(String[] args) {
    int count = args.length > 0 ? Integer.parseInt(args[0]) : 1_000_000;
    StringChunks chunks = new StringChunks(count);
    List<BsonDocument> changed = chunks.moved(100);
    long before = used();
    RoutingTable table = chunks.table();
    long built = used();
    RoutingTable refreshed = table.merge(StringChunks.collection(), changed);
    long merged = used();
    System.out.printf(
        "%,d chunks: %.1f bytes per chunk; a refresh with %d changed chunks adds %,d bytes%n",
        table.chunkCount(), (built - before) / (double) count, changed.size(), merged - built);
    if (refreshed.chunkCount() != count) {
      throw new IllegalStateException("the refreshed table has another number of chunks");
    }
  }

  private static long used() {
    long used = Long.MAX_VALUE;
    for (int i = 0; i < 5; i++) {
      System.gc();
      used = Math.min(used, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
    return used;
  }
}
