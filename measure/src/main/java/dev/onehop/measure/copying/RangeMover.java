package dev.onehop.measure.copying;

import com.mongodb.MongoException;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.TestbedException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;

/** Moves ranges of the source from shard to shard, as a balancer does, while it is active. */
final class RangeMover implements AutoCloseable {
  private static final long PAUSE_MILLIS = 500;

  private final Testbed testbed;
  private final List<Range> ranges = new ArrayList<>();
  private final AtomicInteger moved = new AtomicInteger();
  private final Thread thread = new Thread(this::run, "range-mover");
  private boolean active; // guarded by this
  private boolean moving; // guarded by this

  /** A range, and the number of the shard that has it. */
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
   * Moves nothing yet.
   *
   * @param namespaces collections whose shards have equal shares of the ranges, in their order
   * @param bounds where these were split
   */
  RangeMover(Testbed testbed, List<String> namespaces, List<BsonDocument> bounds) {
    this.testbed = testbed;
    int shards = testbed.shardHosts().size();
    for (String namespace : namespaces) {
      for (int i = 0; i < bounds.size(); i++) {
        ranges.add(new Range(namespace, bounds.get(i), (i + 1) * shards / (bounds.size() + 1)));
      }
    }
    Collections.shuffle(ranges, new Random(1));
    thread.setDaemon(true);
    thread.start();
  }

  /** Begins to move, or ends: then the last move is done when this returns. */
  synchronized void setActive(boolean wanted) throws InterruptedException {
    active = wanted;
    notifyAll();
    while (!wanted && moving) {
      wait();
    }
  }

  /** How many ranges were moved since this was last asked. */
  int moved() {
    return moved.getAndSet(0);
  }

  private void run() {
    List<String> shards = List.copyOf(testbed.shardHosts().keySet());
    try {
      for (int i = 0; ; i = (i + 1) % ranges.size()) {
        begin();
        Range range = ranges.get(i);
        int next = (range.shard + 1) % shards.size();
        try {
          testbed.moveRange(range.namespace, range.min, shards.get(next));
          range.shard = next;
          moved.incrementAndGet();
        } catch (TestbedException | MongoException e) {
          // The shard has not removed its old documents of the range yet: another one.
        } finally {
          end();
        }
        Thread.sleep(PAUSE_MILLIS);
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  private synchronized void begin() throws InterruptedException {
    while (!active) {
      wait();
    }
    moving = true;
  }

  private synchronized void end() {
    moving = false;
    notifyAll();
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
