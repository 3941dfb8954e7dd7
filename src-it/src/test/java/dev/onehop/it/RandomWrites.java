package dev.onehop.it;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoWriteException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;

/** Threads that change documents of a collection in all the ways there are, until closed. */
final class RandomWrites implements AutoCloseable {
  private static final String LONG = "x".repeat(40);

  /** Each with a number that differs. Some fail on some documents, and then change nothing. */
  private static final List<String> UPDATES =
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
          "{$set: {k: {$literal: 1}}}",
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
   * @param namespaces of one database
   * @param keys how many documents of each collection are written
   */
  RandomWrites(
      MongoClient client, String database, List<String> collections, int keys, int threads) {
    this.client = client;
    this.database = database;
    this.collections = collections;
    this.keys = keys;
    for (int n = 0; n < threads; n++) {
      Random random = new Random(n);
      Thread thread = new Thread(() -> run(random), "writes-" + n);
      this.threads.add(thread);
      thread.start();
    }
  }

  /** Values of several types, the same for the same number. */
  static BsonValue id(int number) {
    return switch (number % 4) {
      case 0 -> new BsonString("id" + number);
      case 1 -> new BsonDocument("a", new BsonInt32(number)).append("b", new BsonInt32(1));
      case 2 -> new BsonDocument("b", new BsonInt32(1)).append("a", new BsonInt32(number - 1));
      default -> new BsonInt32(number);
    };
  }

  private void run(Random random) {
    MongoDatabase target = client.getDatabase(database);
    while (!stopped) {
      try {
        write(target, collections.get(random.nextInt(collections.size())), random);
        done.incrementAndGet();
      } catch (MongoWriteException | MongoCommandException refused) {
        failures.add(refused);
      } catch (RuntimeException failure) {
        failures.add(failure);
        return;
      }
    }
  }

  private void write(MongoDatabase target, String collection, Random random) {
    int number = random.nextInt(keys);
    BsonDocument byId = new BsonDocument("_id", id(number));
    BsonDocument whole = new BsonDocument("_id", id(number)).append("v", new BsonInt32(random.nextInt(1000)));
    if (random.nextBoolean()) {
      whole.append("list", BsonDocument.parse("{l: ['" + LONG + "', 2, 3, 4, 5]}").get("l"));
      whole.append("s", BsonDocument.parse("{p: 1, o: {l: [1, {m: 1}], q: 2}}"));
    }
    switch (random.nextInt(12)) {
      case 0 -> command(target, new BsonDocument("delete", new BsonString(collection)), "deletes",
          new BsonDocument("q", byId).append("limit", new BsonInt32(1)));
      case 1, 2 -> command(target, new BsonDocument("update", new BsonString(collection)), "updates",
          new BsonDocument("q", byId).append("u", whole).append("upsert", org.bson.BsonBoolean.TRUE));
      default -> {
        String update = UPDATES.get(random.nextInt(UPDATES.size())).formatted(random.nextInt(1_000_000), random.nextInt(4));
        BsonValue u = BsonDocument.parse("{u: " + update + "}").get("u");
        command(target, new BsonDocument("update", new BsonString(collection)), "updates",
            new BsonDocument("q", byId).append("u", u));
      }
    }
  }

  /** Without the driver, which has rules of its own. What a server refuses has changed nothing. */
  private static void command(MongoDatabase target, BsonDocument command, String name, BsonDocument statement) {
    command.append(name, new org.bson.BsonArray(List.of(statement)));
    command.append("writeConcern", BsonDocument.parse("{w: 1}"));
    var unused = target.runCommand(command);
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
