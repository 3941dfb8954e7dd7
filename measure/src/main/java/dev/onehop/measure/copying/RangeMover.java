package dev.onehop.measure.copying;

import com.mongodb.MongoException;
import dev.onehop.measure.frame.Background;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.TestbedException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import org.bson.BsonDocument;

/** Moves ranges of the source from shard to shard, as a balancer does. Not thread-safe. */
final class RangeMover {
  private static final long PAUSE_MILLIS = 500;

  private final Testbed testbed;
  private final List<String> shards;
  private final Queue<Range> ranges;
  private Background thread = new Background();
  private int moved;

  /** A range, and the number of the shard that owns it. */
  private record Range(String namespace, BsonDocument min, int shard) {}

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
    List<Range> all = new ArrayList<>();
    for (String namespace : namespaces) {
      for (int i = 0; i < bounds.size(); i++) {
        int shard = (i + 1) * shards.size() / (bounds.size() + 1);
        all.add(new Range(namespace, bounds.get(i), shard));
      }
    }
    Collections.shuffle(all, new Random(1));
    this.ranges = new ArrayDeque<>(all);
  }

  /** Starts to move ranges. */
  void start() {
    moved = 0;
    thread = new Background();
    thread.start("range-mover", this::run);
  }

  /** Stops after the running migration. Returns the number of migrations since the start. */
  int stop() {
    thread.close();
    thread.check();
    return moved;
  }

  private void run() throws InterruptedException {
    while (!thread.isClosed()) {
      Range range = ranges.remove();
      int to = (range.shard() + 1) % shards.size();
      try {
        testbed.moveRange(range.namespace(), range.min(), shards.get(to));
        range = new Range(range.namespace(), range.min(), to);
        moved++;
      } catch (TestbedException | MongoException e) {
        // The shard may still have old documents of this range from an earlier migration. It then
        // refuses the range, and the mover continues with the next range.
      }
      ranges.add(range);
      Thread.sleep(PAUSE_MILLIS);
    }
  }
}
