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
 * Writers that count the writes of each document: the first is 1, the next 2, deletes included.
 * Inserts, updates and replacements leave the number in the field {@code n}. Now and then several
 * documents are written in a transaction.
 *
 * <p>After a write that was not acknowledged, which may happen or not, and at any later time, the
 * document is left alone: its slot goes on with the next {@code _id}. So of each document all
 * writes but the last are known to have happened in their order.
 */
@SuppressWarnings("try") // What is interrupted while it closes is a test that is over.
final class VersionedWrites implements AutoCloseable {
  /** How many documents, one after the other, a slot may have. */
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
   * What has been written of a document.
   *
   * @param acknowledged how many writes
   * @param uncertain whether one more may have happened
   */
  record Written(int acknowledged, boolean uncertain) {}

  /** A slot's present document. */
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

  /** The least {@code _id} of a slot, as a bound of a chunk. */
  static BsonDocument bound(int slot) {
    return new BsonDocument("_id", new BsonInt32(slot * DOCUMENTS_PER_SLOT));
  }

  /** What has been written, by {@code _id}; of what is not among them nothing was acknowledged. */
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
   * Ends the writing.
   *
   * @throws AssertionError if a writer hangs, or something was wrong
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
        // Bursts, so that a move often meets a document in use.
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
