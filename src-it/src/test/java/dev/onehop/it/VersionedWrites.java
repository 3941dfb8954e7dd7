package dev.onehop.it;

import com.mongodb.MongoException;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;

/**
 * Threads that number the writes of each document 1, 2 and so on, including deletes. Inserts,
 * updates and replacements store the number in the field {@code n}. Sometimes a transaction writes
 * two documents.
 *
 * <p>A write that was not acknowledged may still take effect at any later time. After such a write,
 * the document gets no further writes, and its slot continues with the next {@code _id}. So only
 * the last write of a document can be uncertain.
 */
@SuppressWarnings("try") // javac: close() may throw InterruptedException
final class VersionedWrites implements AutoCloseable {
  /** The most documents of a slot. They have the slot one after another. */
  static final int DOCUMENTS_PER_SLOT = 10_000;

  private static final int WRITERS = 4;
  private static final Duration STOP = Duration.ofMinutes(2);
  private static final Duration PAUSE_AFTER_FAILURE = Duration.ofMillis(50);
  private static final TransactionOptions MAJORITY =
      TransactionOptions.builder().writeConcern(WriteConcern.MAJORITY).build();

  private final MongoClient client;
  private final MongoCollection<Document> collection;
  private final int slots;
  private final Map<Integer, Written> written = new ConcurrentHashMap<>();
  private final Queue<Throwable> unexpected = new ConcurrentLinkedQueue<>();
  private final AtomicLong acknowledged = new AtomicLong();
  private final AtomicInteger transactions = new AtomicInteger();
  private final AtomicInteger failed = new AtomicInteger();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stopped;

  /**
   * The writes of a document.
   *
   * @param acknowledged the number of acknowledged writes
   * @param uncertain whether one more write may have taken effect
   */
  record Written(int acknowledged, boolean uncertain) {}

  /** A slot with its current document. */
  private static final class Slot {
    private int key;
    private int version;
    private boolean exists;

    Slot(int slot) {
      this.key = slot * DOCUMENTS_PER_SLOT;
    }
  }

  VersionedWrites(MongoClient client, String namespace, int slots, long seed) {
    this.client = client;
    int dot = namespace.indexOf('.');
    this.collection =
        client
            .getDatabase(namespace.substring(0, dot))
            .getCollection(namespace.substring(dot + 1))
            .withWriteConcern(WriteConcern.MAJORITY);
    this.slots = slots;
    for (int i = 0; i < WRITERS; i++) {
      int first = i;
      threads.add(new Thread(() -> write(first, new Random(seed + first)), "writer-" + i));
    }
    threads.forEach(Thread::start);
  }

  /** The lowest {@code _id} of a slot, as a bound of a chunk. */
  static BsonDocument bound(int slot) {
    return new BsonDocument("_id", new BsonInt32(slot * DOCUMENTS_PER_SLOT));
  }

  /** The writes by {@code _id}. Documents that are not in the map have no acknowledged write. */
  Map<Integer, Written> written() {
    return Map.copyOf(written);
  }

  long acknowledged() {
    return acknowledged.get();
  }

  int transactions() {
    return transactions.get();
  }

  @Override
  public String toString() {
    return "%d writes, %d transactions, %d not acknowledged"
        .formatted(acknowledged.get(), transactions.get(), failed.get());
  }

  /**
   * Ends the writers.
   *
   * @throws AssertionError if a writer hangs or has failed
   */
  @Override
  public void close() throws InterruptedException {
    stopped = true;
    for (Thread thread : threads) {
      thread.join(STOP.toMillis());
      if (thread.isAlive()) {
        throw new AssertionError(thread.getName() + " hangs");
      }
    }
    for (Throwable failure : unexpected) {
      throw new AssertionError("a writer failed", failure);
    }
  }

  private void write(int writer, Random random) {
    List<Slot> own = new ArrayList<>();
    for (int slot = writer; slot < slots; slot += WRITERS) {
      own.add(new Slot(slot));
    }
    try {
      while (!stopped) {
        Slot slot = own.get(random.nextInt(own.size()));
        if (slot.exists && random.nextInt(20) == 0) {
          writeTogether(slot, own.get(random.nextInt(own.size())));
          continue;
        }
        // Writes a document several times in a row, so that a migration often moves a document that
        // is being written.
        for (int burst = 0; burst < 3; burst++) {
          write(slot, random.nextInt(10));
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | AssertionError e) {
      unexpected.add(e);
    }
  }

  private void write(Slot slot, int dice) throws InterruptedException {
    int next = slot.version + 1;
    boolean delete = slot.exists && dice == 0;
    try {
      if (!slot.exists) {
        var unused = collection.insertOne(document(slot.key, next));
      } else if (delete) {
        expectOne(collection.deleteOne(Filters.eq(slot.key)).getDeletedCount(), slot);
      } else if (dice == 1) {
        expectOne(
            collection.replaceOne(Filters.eq(slot.key), document(slot.key, next)).getMatchedCount(),
            slot);
      } else {
        expectOne(
            collection
                .updateOne(Filters.eq(slot.key), Updates.set("n", (long) next))
                .getMatchedCount(),
            slot);
      }
      acknowledge(slot, !delete);
    } catch (MongoException e) {
      abandon(slot);
      RealTime.pass(PAUSE_AFTER_FAILURE);
    }
  }

  private void writeTogether(Slot one, Slot other) throws InterruptedException {
    List<Slot> both = one == other || !other.exists ? List.of(one) : List.of(one, other);
    try (ClientSession session = client.startSession()) {
      Integer unused =
          session.withTransaction(
              () -> {
                for (Slot slot : both) {
                  expectOne(
                      collection
                          .updateOne(
                              session,
                              Filters.eq(slot.key),
                              Updates.set("n", (long) slot.version + 1))
                          .getMatchedCount(),
                      slot);
                }
                return both.size();
              },
              MAJORITY);
      both.forEach(slot -> acknowledge(slot, true));
      transactions.incrementAndGet();
    } catch (MongoException e) {
      both.forEach(this::abandon);
      RealTime.pass(PAUSE_AFTER_FAILURE);
    }
  }

  private static Document document(int key, int version) {
    return new Document("_id", key).append("n", (long) version);
  }

  private static void expectOne(long count, Slot slot) {
    if (count != 1) {
      throw new AssertionError(
          "write %d of document %d has met %d documents"
              .formatted(slot.version + 1, slot.key, count));
    }
  }

  private void acknowledge(Slot slot, boolean exists) {
    slot.version++;
    slot.exists = exists;
    written.put(slot.key, new Written(slot.version, false));
    acknowledged.incrementAndGet();
  }

  private void abandon(Slot slot) {
    written.put(slot.key, new Written(slot.version, true));
    slot.key++;
    slot.version = 0;
    slot.exists = false;
    failed.incrementAndGet();
    if (slot.key % DOCUMENTS_PER_SLOT == 0) {
      throw new AssertionError("a slot has no more documents");
    }
  }
}
