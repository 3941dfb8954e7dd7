package dev.onehop.it;

import com.mongodb.MongoWriteException;
import com.mongodb.client.MongoClient;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.Document;

/**
 * Threads that change documents in every possible way, including their shard key {@code k}, until
 * this object is closed.
 */
@SuppressWarnings("try") // javac: close() may throw InterruptedException
final class RandomWrites implements AutoCloseable {
  /** The number of different values of the shard key {@code k}. */
  static final int SHARD_KEYS = 60;

  private static final long SEED = Long.getLong("onehop.it.seed", System.nanoTime());
  private static final String LONG = "x".repeat(40);

  /**
   * The updates, with placeholders for random numbers. Some updates fail on some documents and
   * change nothing.
   */
  static final List<String> UPDATES =
      List.of(
          "{$set: {a: %1$d}}",
          "{$inc: {n: 1}, $set: {z: %1$d, b: %1$d}}",
          "[{$set: {y%2$d: %1$d}}, {$set: {c%2$d: %1$d}}]",
          "[{$set: {s: {p: %1$d, o: {q: 1, l: [1, {m: 1}, 3]}}}}]",
          "{$set: {'s.o.q': %1$d, 's.o.r%2$d': %1$d}}",
          "{$set: {'s.o.l.1.m': %1$d}}",
          "{$set: {'s.o.l.5': %1$d}}",
          "{$set: {s: %1$d}}",
          "{$unset: {y%2$d: 1}}",
          "{$unset: {'s.o.r%2$d': 1, a: 1}}",
          "{$unset: {s: 1}, $set: {t: %1$d, d: {'%2$d': %1$d}}}",
          "{$push: {list: {$each: ['" + LONG + "%1$d', '" + LONG + "'], $slice: -8}}}",
          "{$push: {list: '" + LONG + "%1$d'}}",
          "[{$set: {list: {$slice: ['$list', 3]}}}]",
          "[{$set: {list: {$concatArrays: [{$slice: ['$list', 2]}, ['%1$d']]}, u: %1$d}}]",
          "{$pop: {list: 1}}",
          "{$set: {'list.2': %1$d}}",
          "{$set: {'list.1': {in: ['" + LONG + "', '" + LONG + "', '" + LONG + "']}}}",
          "{$push: {'list.1.in': '" + LONG + "'}}",
          "[{$set: {list: []}}]",
          "{$set: {'d.%2$d': %1$d, 'd.1%2$d': %1$d}}",
          "{$rename: {a: 'renamed', z: 'a'}}",
          "{$set: {lit: {$literal: 1}}}",
          "{$set: {o: {'$p': %1$d, 'x.y': 1}}}",
          "[{$replaceWith: {$setField: {field: 'dotted.name', input: '$$ROOT', value: %1$d}}}]",
          "[{$replaceWith: {$setField: {field: {$literal: '$dollar'}, input: '$$ROOT', value: %1$d}}}]",
          "[{$replaceWith: {$unsetField: {field: 'dotted.name', input: '$$ROOT'}}}]",
          "[{$set: {o: {$setField: {field: 'x.y', input: '$o', value: %1$d}}}}]");

  private final MongoClient client;
  private final String database;
  private final List<String> collections;
  private final int keys;
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicLong done = new AtomicLong();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private volatile boolean stopped;

  /**
   * @param collections of one database
   * @param keys how many documents of each collection are written
   */
  RandomWrites(
      MongoClient client, String database, List<String> collections, int keys, int threads) {
    this.client = client;
    this.database = database;
    this.collections = collections;
    this.keys = keys;
    for (int n = 0; n < threads; n++) {
      Thread thread = new Thread(new Writer(n, threads), "writes-" + n);
      this.threads.add(thread);
      thread.start();
    }
  }

  /**
   * The {@code _id} of a document's number: a string, a number, or one of two documents that differ
   * only in the order of their fields.
   */
  static BsonValue id(int number) {
    return switch (number % 4) {
      case 0 -> new BsonString("id" + number);
      case 1 -> new BsonDocument("a", new BsonInt32(number)).append("b", new BsonInt32(1));
      case 2 -> new BsonDocument("b", new BsonInt32(1)).append("a", new BsonInt32(number - 1));
      default -> new BsonInt32(number);
    };
  }

  /**
   * Each thread writes its own documents, and remembers the shard key {@code k} of the existing
   * ones.
   */
  private final class Writer implements Runnable {
    private final int number;
    private final int writers;
    private final Random random;
    private final Map<String, Integer> shardKeys = new HashMap<>();

    Writer(int number, int writers) {
      this.number = number;
      this.writers = writers;
      this.random = new Random(SEED + number);
    }

    @Override
    public void run() {
      while (!stopped) {
        try {
          write(
              collections.get(random.nextInt(collections.size())),
              random.nextInt(keys / writers) * writers + number);
          done.incrementAndGet();
        } catch (RuntimeException failure) {
          failures.add(failure);
          return;
        }
      }
    }

    private void write(String collection, int document) {
      String name = collection + document;
      Integer shardKey = shardKeys.get(name);
      BsonDocument key = new BsonDocument("_id", id(document));
      int kind = random.nextInt(24);
      if (shardKey == null || kind == 0) {
        int chosen = shardKey == null ? random.nextInt(SHARD_KEYS) : shardKey;
        BsonDocument whole = key.clone().append("k", new BsonInt32(chosen)).append("v", number());
        if (random.nextBoolean()) {
          whole.append("list", BsonDocument.parse("{l: ['" + LONG + "', 2, 3, 4, 5]}").get("l"));
          whole.append("s", BsonDocument.parse("{p: 1, o: {l: [1, {m: 1}], q: 2}}"));
        }
        key.append("k", new BsonInt32(chosen));
        update(collection, key, whole, true);
        shardKeys.put(name, chosen);
        return;
      }
      key.append("k", new BsonInt32(shardKey));
      if (kind < 3) {
        command(
            "delete",
            collection,
            "deletes",
            new BsonDocument("q", key).append("limit", new BsonInt32(1)));
        shardKeys.remove(name);
      } else if (kind == 3) {
        int moved = random.nextInt(SHARD_KEYS);
        try {
          // The driver sends this as a retryable write, which a change of the shard key requires.
          var unused =
              client
                  .getDatabase(database)
                  .getCollection(collection)
                  .updateOne(key, new Document("$set", new Document("k", moved)));
          shardKeys.put(name, moved);
        } catch (MongoWriteException refused) {
          // The other shard still has an orphan with the same _id, so it refuses the document. The
          // document keeps its old shard key.
        }
      } else {
        String update =
            UPDATES
                .get(random.nextInt(UPDATES.size()))
                .formatted(random.nextInt(1_000_000), random.nextInt(4));
        update(collection, key, BsonDocument.parse("{u: " + update + "}").get("u"), false);
      }
    }

    private BsonInt32 number() {
      return new BsonInt32(random.nextInt(1000));
    }
  }

  private void update(String collection, BsonDocument query, BsonValue update, boolean upsert) {
    command(
        "update",
        collection,
        "updates",
        new BsonDocument("q", query)
            .append("u", update)
            .append("upsert", BsonBoolean.valueOf(upsert)));
  }

  /**
   * Sends a raw command, because the driver checks updates by its own rules. A statement that the
   * server refuses changes nothing.
   */
  private void command(String name, String collection, String list, BsonDocument statement) {
    var unused =
        client
            .getDatabase(database)
            .runCommand(
                new BsonDocument(name, new BsonString(collection))
                    .append(list, new BsonArray(List.of(statement)))
                    .append("writeConcern", BsonDocument.parse("{w: 1}")));
  }

  long done() {
    return done.get();
  }

  Queue<Throwable> failures() {
    return failures;
  }

  @Override
  public void close() throws InterruptedException {
    stopped = true;
    for (Thread thread : threads) {
      thread.join(60_000);
      if (thread.isAlive()) {
        throw new AssertionError(thread.getName() + " hangs");
      }
    }
  }
}
