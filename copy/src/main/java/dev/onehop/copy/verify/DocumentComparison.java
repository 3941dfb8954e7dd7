package dev.onehop.copy.verify;

import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.full.Limits;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Compares the documents of collections, several ranges at the same time. A collection is divided
 * into ranges only when the comparisons of all ranges of the previous collection have started. So
 * the needed memory does not grow with the number of collections. Not thread-safe.
 */
record DocumentComparison(
    Side source,
    Side destination,
    ClusterVerification.Builder settings,
    @Nullable StateFile state,
    VerifyMeter meter) {
  private static final int MEGABYTES = 96;

  /** Compares all pairs. Returns the work of each pair, which has the result of the pair. */
  List<CollectionWork> compare(List<CollectionPair> pairs) throws InterruptedException {
    List<CollectionWork> collections = new ArrayList<>();
    if (pairs.isEmpty()) {
      return collections;
    }
    meter.phase("counting documents");
    for (CollectionPair pair : pairs) {
      collections.add(new CollectionWork(pair, source, destination, meter, state));
    }
    SecondLooks second = new SecondLooks(settings.settle);
    meter.looks(second);
    ExecutorService threads =
        Executors.newFixedThreadPool(
            settings.parallel + 1, task -> new Thread(task, "onehop-verify"));
    try {
      CompletionService<@Nullable Void> tasks = new ExecutorCompletionService<>(threads);
      tasks.submit(second);
      read(collections, second, tasks);
      meter.phase("reading again the documents that differ");
      second.complete();
      tasks.take().get();
    } catch (ExecutionException e) {
      throw Waits.cause(e);
    } finally {
      threads.shutdownNow();
      if (!threads.awaitTermination(1, TimeUnit.MINUTES)) {
        meter.phase("waiting for reads to end");
      }
      meter.looks(null);
    }
    return collections;
  }

  private void read(
      List<CollectionWork> collections, SecondLooks second, CompletionService<@Nullable Void> tasks)
      throws InterruptedException, ExecutionException {
    Limits limits = new Limits(settings.rate, Double.POSITIVE_INFINITY);
    Semaphore memory = new Semaphore(MEGABYTES);
    int running = 0;
    for (CollectionWork collection : collections) {
      List<RangeWork> ranges = collection.divide(settings.perRange);
      meter.phase("comparing documents");
      // The ranges get a random order, because adjacent ranges are mostly on one shard. So several
      // shards are read at the same time.
      Collections.shuffle(ranges, new Random(1));
      int megabytes = Math.min(MEGABYTES, Math.max(1, collection.megabytes()));
      for (RangeWork range : ranges) {
        if (running == settings.parallel) {
          tasks.take().get();
          running--;
        }
        tasks.submit(
            () -> {
              memory.acquire(megabytes);
              try {
                range.read(second, limits);
              } finally {
                memory.release(megabytes);
              }
              return null;
            });
        running++;
      }
    }
    for (; running > 0; running--) {
      // Each task that ends here has read a range, unless the second looks have failed. In this
      // case get() throws their failure.
      tasks.take().get();
    }
  }
}
