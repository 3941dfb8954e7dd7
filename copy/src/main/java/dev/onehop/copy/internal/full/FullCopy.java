package dev.onehop.copy.internal.full;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.state.Fence;
import dev.onehop.copy.internal.structure.CollectionSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Copies the documents of all unfinished ranges. Each shard has several readers. Each reader has
 * its own lane, and copies one range after another.
 */
public record FullCopy(
    ClusterEnd source,
    ClusterEnd destination,
    Mapping mapping,
    Plan plan,
    Settings settings,
    Limits limits,
    Counts counts) {
  /**
   * The settings of the reads.
   *
   * @param start a cluster time that the source has reached; all reads are at or after this time
   * @param readersPerShard the number of ranges of a shard that are read at the same time
   * @param batchSize the largest number of documents in a batch that is read and written
   */
  public record Settings(BsonTimestamp start, int readersPerShard, int batchSize) {}

  /** Raises the lanes in which the copy writes. */
  @FunctionalInterface
  public interface Lanes {
    /**
     * Raises lanes and returns them.
     *
     * @param count the number of lanes
     */
    List<Fence.Lane> raise(int count) throws InterruptedException;
  }

  /**
   * Divides collections into ranges if they are not divided yet, and copies all unfinished ranges.
   */
  public void run(Lanes lanes, RangePlanner planner) throws InterruptedException {
    List<CopiedCollection> collections = new ArrayList<>();
    Map<String, Queue<KeyRange>> queues = new TreeMap<>();
    for (CopiedCollection stored : plan.collections()) {
      CopiedCollection collection = stored;
      if (stored.division() == null && stored.spec().kind() != CollectionSpec.Kind.VIEW) {
        RangePlanner.Planned planned = planner.plan(stored);
        collection = plan.store(planned.collection(), planned.ranges());
      }
      collections.add(collection);
      counts.documents.addAndGet(collection.documents());
      for (KeyRange range : plan.open(collection, counts)) {
        queues.computeIfAbsent(range.shard(), shard -> new ConcurrentLinkedQueue<>()).add(range);
      }
    }
    copy(lanes, collections, queues);
  }

  private void copy(
      Lanes given, List<CopiedCollection> collections, Map<String, Queue<KeyRange>> queues)
      throws InterruptedException {
    RangeReader reader = new RangeReader(source, mapping, settings.start(), settings.batchSize());
    CopyWriter writer = new CopyWriter(source, destination, mapping);
    List<Queue<KeyRange>> ofReaders = new ArrayList<>();
    for (Queue<KeyRange> queue : queues.values()) {
      ofReaders.addAll(
          Collections.nCopies(Math.min(settings.readersPerShard(), queue.size()), queue));
    }
    List<Fence.Lane> lanes = given.raise(ofReaders.size());
    ExecutorService threads =
        Executors.newCachedThreadPool(task -> new Thread(task, "onehop-copy"));
    CompletionService<@Nullable Void> readers = new ExecutorCompletionService<>(threads);
    try {
      for (int i = 0; i < ofReaders.size(); i++) {
        Queue<KeyRange> queue = ofReaders.get(i);
        Fence.Lane lane = lanes.get(i);
        readers.submit(
            () -> {
              KeyRange range;
              while ((range = queue.poll()) != null) {
                copy(range, collections.get(range.collection()), reader, writer, lane);
              }
              return null;
            });
      }
      for (int ended = 0; ended < ofReaders.size(); ended++) {
        readers.take().get();
      }
      // A command that was sent twice may still be in the network. After the lanes are raised, its
      // server refuses the command.
      for (Fence.Lane lane : lanes) {
        Waits.first(lane.raise());
      }
    } catch (ExecutionException failed) {
      throw Waits.cause(failed);
    } finally {
      // The first failure ends the other readers.
      threads.shutdownNow();
      threads.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
      lanes.forEach(Fence.Lane::close);
    }
  }

  private void copy(
      KeyRange range,
      CopiedCollection collection,
      RangeReader reader,
      CopyWriter writer,
      Fence.Lane lane)
      throws InterruptedException {
    plan.started(collection, range);
    if (range.started()) {
      counts.rangesReadAgain.incrementAndGet();
    }
    // The number of copied documents, and the number of their bytes.
    long[] done = new long[2];
    reader.read(
        collection,
        range,
        new RangeReader.Sink() {
          @Override
          public void begin() throws InterruptedException {
            writer.clear(lane, collection.spec());
            counts.documentsDone.addAndGet(-done[0]);
            counts.bytesDone.addAndGet(-done[1]);
            Arrays.fill(done, 0);
          }

          @Override
          public void take(List<RawBsonDocument> documents) throws InterruptedException {
            List<RawBsonDocument> changed =
                mapping.transformed(collection.spec().namespace(), documents);
            long bytes = bytes(changed);
            limits.pass(documents.size(), bytes);
            if (!changed.isEmpty()) {
              writer.write(lane, collection.spec(), changed);
            }
            done[0] += changed.size();
            done[1] += bytes;
            counts.documentsDone.addAndGet(changed.size());
            counts.bytesDone.addAndGet(bytes);
          }
        });
    plan.done(collection, range, done[0], done[1]);
    counts.rangesDone.incrementAndGet();
  }

  static long bytes(List<RawBsonDocument> documents) {
    return documents.stream().mapToLong(each -> each.getByteBuffer().remaining()).sum();
  }
}
