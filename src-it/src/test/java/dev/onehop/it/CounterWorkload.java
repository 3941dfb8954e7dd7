package dev.onehop.it;

import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.Sorts;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoCollection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.bson.Document;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Threads that insert, update, findAndModify, delete and read counters, and check every result.
 *
 * <p>Most keys belong to one thread, which therefore always knows the expected document. The
 * counters of the other keys are shared: all threads increment them. At the end, each shared
 * counter must equal the sum of its acknowledged increments.
 */
final class CounterWorkload implements AutoCloseable {
  /** Keys are {@code 0 .. KEYS - 1}. */
  static final int KEYS = 3_200;

  private static final int THREADS = 32;
  private static final int SHARED = 32;
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int EXAMPLES = 20;

  private final MongoCollection<Document> collection;
  private final List<Thread> threads = new ArrayList<>();
  private final Map<String, LongAdder> violations = new ConcurrentHashMap<>();
  private final List<String> examples = Collections.synchronizedList(new ArrayList<>());
  private final Map<String, LongAdder> errors = new ConcurrentHashMap<>();
  private final LongAdder operations = new LongAdder();
  private final NavigableMap<Integer, AtomicLong> sharedCounters = new ConcurrentSkipListMap<>();
  private final NavigableMap<Integer, Long> expected = new ConcurrentSkipListMap<>();
  private volatile boolean stopping;

  CounterWorkload(MongoCollection<Document> collection) {
    this.collection = collection;
    // The key space has SHARED blocks of equal size. All threads share the last key of each block.
    for (int i = 0; i < SHARED; i++) {
      int key = (i + 1) * (KEYS / SHARED) - 1;
      sharedCounters.put(key, new AtomicLong());
      run(collection.insertOne(new Document("_id", key).append("n", 0L)));
    }
    for (int i = 0; i < THREADS; i++) {
      Thread thread = new Thread(new Worker(i), "counter-" + i);
      threads.add(thread);
      thread.start();
    }
  }

  /** Stops the threads; after that, nothing changes any more. */
  @Override
  public void close() {
    stopping = true;
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    sharedCounters.forEach((key, sum) -> expected.put(key, sum.get()));
  }

  long operations() {
    return operations.sum();
  }

  /** The wrong results so far, by kind. */
  Map<String, LongAdder> violations() {
    return violations;
  }

  List<String> examples() {
    return examples;
  }

  /** The exceptions of operations, by message. */
  Map<String, LongAdder> errors() {
    return errors;
  }

  /** The counters by key that must be stored after the workload is closed. */
  NavigableMap<Integer, Long> expected() {
    return expected;
  }

  private void violation(String kind, String example) {
    violations.computeIfAbsent(kind, name -> new LongAdder()).increment();
    if (examples.size() < EXAMPLES) {
      examples.add(kind + ": " + example);
    }
  }

  private void check(boolean right, String kind, String example) {
    if (!right) {
      violation(kind, example);
    }
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }

  private final class Worker implements Runnable {
    private final int number;
    private final Random random;
    // The expected counters of this thread's keys. If a key is not in this map, its document must
    // not exist.
    private final NavigableMap<Integer, Long> mine = new TreeMap<>();

    Worker(int number) {
      this.number = number;
      this.random = new Random(number);
    }

    @Override
    public void run() {
      while (!stopping) {
        try {
          step();
          operations.increment();
        } catch (RuntimeException e) {
          errors
              .computeIfAbsent(String.valueOf(e.getMessage()), name -> new LongAdder())
              .increment();
          // The outcome of the operation is unknown, so this thread cannot check its own keys any
          // more.
          mine.clear();
          return;
        }
      }
      expected.putAll(mine);
    }

    private int key() {
      // A thread uses every 32nd key, except the shared keys. Each thread thus has keys in all
      // ranges.
      int key;
      do {
        key = random.nextInt(KEYS / THREADS) * THREADS + number;
      } while (sharedCounters.containsKey(key));
      return key;
    }

    private void step() {
      int key = key();
      Long known = mine.get(key);
      switch (random.nextInt(8)) {
        case 0 -> shared();
        case 1 -> scan();
        case 2 -> batch();
        case 3, 4 -> read(key, known);
        default -> {
          if (known == null) {
            insert(key);
          } else {
            change(key, known);
          }
        }
      }
    }

    private void insert(int key) {
      CounterWorkload.run(
          collection.insertOne(new Document("_id", key).append("w", number).append("n", 0L)));
      mine.put(key, 0L);
    }

    private void read(int key, Long known) {
      Document found = CounterWorkload.run(collection.find(Filters.eq(key)).first());
      Long value = found == null ? null : found.getLong("n");
      check(
          Objects.equals(value, known),
          found == null ? "a document that is there was not read" : "an old document was read",
          key + " is " + value + ", not " + known);
    }

    private void change(int key, long known) {
      switch (random.nextInt(4)) {
        case 0 -> {
          long deleted =
              CounterWorkload.run(collection.deleteOne(Filters.eq(key))).getDeletedCount();
          check(deleted == 1, "a delete did not find its document", "key " + key);
          mine.remove(key);
        }
        case 1 -> {
          Document after =
              CounterWorkload.run(
                  collection.findOneAndUpdate(
                      Filters.eq(key),
                      Updates.inc("n", 1L),
                      new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER)));
          Long value = after == null ? null : after.getLong("n");
          check(
              value != null && value == known + 1,
              "findAndModify saw another value",
              key + " became " + value + ", not " + (known + 1));
          mine.put(key, known + 1);
        }
        default -> {
          long modified =
              CounterWorkload.run(collection.updateOne(Filters.eq(key), Updates.inc("n", 1L)))
                  .getModifiedCount();
          check(modified == 1, "an update did not find its document", "key " + key);
          mine.put(key, known + 1);
        }
      }
    }

    private void shared() {
      List<Integer> keys = List.copyOf(sharedCounters.keySet());
      int key = keys.get(random.nextInt(keys.size()));
      AtomicLong sum = sharedCounters.get(key);
      long modified =
          CounterWorkload.run(collection.updateOne(Filters.eq(key), Updates.inc("n", 1L)))
              .getModifiedCount();
      check(modified == 1, "an update did not find a shared document", "key " + key);
      sum.addAndGet(modified);
    }

    /** Increments counters on all shards by one unordered batch. */
    private void batch() {
      if (mine.isEmpty()) {
        return;
      }
      List<UpdateOneModel<Document>> models = new ArrayList<>();
      mine.keySet()
          .forEach(key -> models.add(new UpdateOneModel<>(Filters.eq(key), Updates.inc("n", 1L))));
      BulkWriteResult result =
          CounterWorkload.run(
              collection.bulkWrite(models, new BulkWriteOptions().ordered(random.nextBoolean())));
      check(
          result.getModifiedCount() == models.size(),
          "a batch modified another number of documents",
          result.getModifiedCount() + ", not " + models.size());
      mine.replaceAll((key, value) -> value + 1);
    }

    private void scan() {
      int from = random.nextInt(KEYS / 2);
      int to = from + random.nextInt(KEYS / 2);
      NavigableMap<Integer, Long> found = new TreeMap<>();
      Flux.from(
              collection
                  .find(
                      Filters.and(
                          Filters.gte("_id", from), Filters.lt("_id", to), Filters.eq("w", number)))
                  .sort(Sorts.ascending("_id"))
                  .batchSize(10))
          .doOnNext(
              document -> {
                Long twice = found.put(document.getInteger("_id"), document.getLong("n"));
                check(twice == null, "a scan gave a document twice", document.toJson());
              })
          .blockLast(TIMEOUT);
      NavigableMap<Integer, Long> known = mine.subMap(from, true, to, false);
      check(
          found.equals(known),
          "a scan gave other documents",
          "from " + from + " to " + to + ": " + found + ", not " + known);
    }
  }
}
