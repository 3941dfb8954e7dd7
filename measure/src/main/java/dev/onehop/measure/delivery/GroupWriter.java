package dev.onehop.measure.delivery;

import com.mongodb.MongoException;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.InsertManyOptions;
import dev.onehop.resync.Failure;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Goes on writing to a group's documents: three of four writes replace one that is there, the
 * fourth inserts another one. One thread, so that a document's versions are written in order.
 */
final class GroupWriter implements AutoCloseable {

  private static final int LOAD_BATCH = 1_000;
  private static final int INSERT_EVERY = 4;

  private final MongoCollection<RawBsonDocument> collection;
  private final int run;
  private final int group;
  private final int bytes;
  private final Map<Long, Integer> versions = new HashMap<>(); // of the thread, then of who joins
  private @Nullable Thread thread;
  private double rate;
  private volatile boolean stopped;
  private volatile @Nullable RuntimeException failure;

  /**
   * @param collection with the write concern to use
   * @param run marks the documents
   */
  GroupWriter(MongoCollection<RawBsonDocument> collection, int run, int group, int bytes) {
    this.collection = collection;
    this.run = run;
    this.group = group;
    this.bytes = bytes;
  }

  /** Inserts the first documents, before {@link #start}. */
  void insertFirst(int documents) {
    for (int from = 0; from < documents; from += LOAD_BATCH) {
      List<RawBsonDocument> batch = new ArrayList<>();
      for (long number = from; number < Math.min(documents, from + LOAD_BATCH); number++) {
        batch.add(next(number, SteadyClock.micros()));
      }
      collection.insertMany(batch, new InsertManyOptions().ordered(false));
      batch.forEach(
          document -> {
            Item item = Item.of(document);
            if (item != null) {
              versions.put(item.number(), 1);
            }
          });
    }
  }

  /**
   * Begins, or goes on after it was stopped.
   *
   * @param perSecond writes
   */
  void start(double perSecond) {
    rate = perSecond;
    stopped = false;
    Thread next = new Thread(this::writeUntilStopped, "group-writer");
    next.setDaemon(true);
    thread = next;
    next.start();
  }

  private void writeUntilStopped() {
    Random random = new Random(run + 31L * group);
    long begin = SteadyClock.micros();
    try {
      for (long count = 0; !stopped; count++) {
        long due = begin + Math.round(count * 1e6 / rate);
        SteadyClock.sleepUntil(due);
        boolean insert = versions.isEmpty() || count % INSERT_EVERY == 0;
        long number = insert ? versions.size() : random.nextInt(versions.size());
        RawBsonDocument document = next(number, due);
        if (insert) {
          var unused = collection.insertOne(document);
        } else if (collection.replaceOne(Item.filter(document), document).getMatchedCount() != 1) {
          throw Failure.run("a document that was written is not there", null);
        }
        versions.merge(number, 1, Integer::sum);
      }
    } catch (MongoException e) {
      failure = Failure.run("writing failed: " + Failure.firstLine(e), e);
    } catch (RuntimeException e) {
      failure = e;
    } catch (InterruptedException e) {
      // Abandoned.
    }
  }

  private RawBsonDocument next(long number, long due) {
    int version = versions.getOrDefault(number, 0) + 1;
    return new Item(run, group, number, version, due, SteadyClock.micros())
        .document(HashRanges.all().hash(number + ((long) group << 32)), bytes);
  }

  /**
   * Fails if writing has.
   *
   * @throws Failure why
   */
  void check() {
    RuntimeException why = failure;
    if (why != null) {
      throw why;
    }
  }

  /**
   * Ends after the write that is under way.
   *
   * @return the last version of each document, until it is started again
   * @throws Failure if writing has failed
   */
  Map<Long, Integer> stop() throws InterruptedException {
    stopped = true;
    if (thread != null) {
      thread.join();
    }
    check();
    return versions;
  }

  /** Ends it without a result; no-op if it has ended. */
  @Override
  public void close() {
    stopped = true;
    if (thread != null) {
      thread.interrupt();
    }
  }
}
