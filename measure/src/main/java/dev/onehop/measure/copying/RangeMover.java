package dev.onehop.measure.copying;

import com.mongodb.MongoException;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.TestbedException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/** Moves ranges of the source from shard to shard, as a balancer does. Not thread-safe. */
final class RangeMover {
  private static final long PAUSE_MILLIS = 500;

  private final Testbed testbed;
  private final List<String> shards;
  private final List<Range> ranges = new ArrayList<>();
  private @Nullable Thread thread;
  private volatile boolean active;
  private int next;
  private int moved;

  /** A range, and the number of the shard that owns it. */
  private static final class Range {
    private final String namespace;
    private final BsonDocument min;
    private int shard;

    Range(String namespace, BsonDocument min, int shard) {
      this.namespace = namespace;
      this.min = min;
      this.shard = shard;
    }
  }

  /**
   * Creates a mover that does not run.
   *
   * @param namespaces the collections. The ranges of each collection are divided equally between
   *     the shards, in the order of their bounds
   * @param bounds the split points of the collections
   */
  RangeMover(Testbed testbed, List<String> namespaces, List<BsonDocument> bounds) {
    this.testbed = testbed;
    this.shards = List.copyOf(testbed.shardHosts().keySet());
    for (String namespace : namespaces) {
      for (int i = 0; i < bounds.size(); i++) {
        int shard = (i + 1) * shards.size() / (bounds.size() + 1);
        ranges.add(new Range(namespace, bounds.get(i), shard));
      }
    }
    Collections.shuffle(ranges, new Random(1));
  }

  /** Starts to move ranges. */
  void start() {
    active = true;
    moved = 0;
    thread = new Thread(this::run, "range-mover");
    thread.setDaemon(true);
    thread.start();
  }

  /** Stops after the running migration. Returns the number of migrations since the start. */
  int stop() throws InterruptedException {
    active = false;
    if (thread != null) {
      thread.join();
    }
    return moved;
  }

  private void run() {
    try {
      while (active) {
        Range range = ranges.get(next);
        next = (next + 1) % ranges.size();
        int to = (range.shard + 1) % shards.size();
        try {
          testbed.moveRange(range.namespace, range.min, shards.get(to));
          range.shard = to;
          moved++;
        } catch (TestbedException | MongoException e) {
          // The shard may still have old documents of this range from an earlier migration. It then
          // refuses the range, and the mover continues with the next range.
        }
        Thread.sleep(PAUSE_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
