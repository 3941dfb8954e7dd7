package dev.onehop.it;

import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.TestbedException;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;

/** Moves ranges of a collection between shards, until this object is closed. */
@SuppressWarnings("try") // javac: close() may throw InterruptedException
final class RangeMoves implements AutoCloseable {
  private final AtomicInteger done = new AtomicInteger();
  private final Thread thread;
  private volatile boolean stopped;

  /**
   * Starts to move ranges.
   *
   * @param bounds the lower bounds of the ranges
   * @param pause the time between two moves
   */
  RangeMoves(Testbed testbed, String namespace, List<BsonDocument> bounds, Duration pause) {
    thread = new Thread(() -> run(testbed, namespace, bounds, pause), "moves-" + namespace);
    thread.start();
  }

  private void run(Testbed testbed, String namespace, List<BsonDocument> bounds, Duration pause) {
    Random random = new Random(1);
    List<String> shards = List.copyOf(testbed.shardHosts().keySet());
    while (!stopped) {
      try {
        testbed.moveRange(
            namespace,
            bounds.get(random.nextInt(bounds.size())),
            shards.get(random.nextInt(shards.size())));
        done.incrementAndGet();
        RealTime.pass(pause);
      } catch (TestbedException refused) {
        // The server has refused this migration. The next one may succeed.
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  int done() {
    return done.get();
  }

  @Override
  public void close() throws InterruptedException {
    stopped = true;
    thread.join();
  }
}
