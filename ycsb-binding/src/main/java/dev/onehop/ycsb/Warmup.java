package dev.onehop.ycsb;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import site.ycsb.Client;
import site.ycsb.workloads.CoreWorkload;

/**
 * Operations before the measurement, so that the measurement does not include connecting and the
 * just-in-time compilation of the client and of routers on a JVM.
 *
 * <p>With a distant shard, one or two threads would not execute enough operations for the
 * compilers. So the warm-up may have more threads than the run. At its end only the run's own
 * threads execute operations. Keys are random, so that each server's pool grows as in the run. The
 * keys have an even distribution over the {@link KeyPopulation} of the run's properties. The
 * records need not exist yet. If the workload updates records, the warm-up updates keys without a
 * record, so that no data changes.
 */
final class Warmup {
  private static final String RECORDS_IF_UNSAID = "1000000";

  /** The fewest threads of the warm-up, for all threads of the run together. */
  private static final int LEAST_WORKERS = 32;

  /** The end of keys without a record: the keys of YCSB's records end with a digit. */
  private static final String NO_RECORD = "-";

  private static final BsonDocument UPDATE =
      new BsonDocument(
          "$set", new BsonDocument("field0", new BsonBinary("warm-up".getBytes(US_ASCII))));

  private final DocumentStore store;
  private final String table;
  private final KeyPopulation keys;
  private final boolean updates;
  private final int workers;

  /**
   * Creates the warm-up of one of a run's threads.
   *
   * @throws InvalidPropertyException if the properties describe no keys
   */
  Warmup(DocumentStore store, Properties properties) {
    this(store, properties, threads(properties));
  }

  /**
   * Creates the warm-up of one of several threads.
   *
   * @param threads the number of threads
   * @throws InvalidPropertyException if the properties describe no keys
   */
  Warmup(DocumentStore store, Properties properties, int threads) {
    this.store = store;
    table =
        properties.getProperty(
            CoreWorkload.TABLENAME_PROPERTY, CoreWorkload.TABLENAME_PROPERTY_DEFAULT);
    Map<String, String> workload = new HashMap<>();
    properties.stringPropertyNames().forEach(n -> workload.put(n, properties.getProperty(n)));
    if (workload.getOrDefault(Client.RECORD_COUNT_PROPERTY, "0").strip().equals("0")) {
      workload.put(Client.RECORD_COUNT_PROPERTY, RECORDS_IF_UNSAID);
    }
    keys = KeyPopulation.of(workload);
    updates =
        isPositive(
                properties,
                CoreWorkload.UPDATE_PROPORTION_PROPERTY,
                CoreWorkload.UPDATE_PROPORTION_PROPERTY_DEFAULT)
            || isPositive(
                properties,
                CoreWorkload.READMODIFYWRITE_PROPORTION_PROPERTY,
                CoreWorkload.READMODIFYWRITE_PROPORTION_PROPERTY_DEFAULT);
    workers = (LEAST_WORKERS - 1) / threads + 1;
  }

  /** Executes one operation or more, until the time is over, and counts them in the tally. */
  void run(WarmupTime time, Tally tally) {
    ExecutorService executor = Executors.newFixedThreadPool(workers);
    try {
      List<CompletableFuture<Long>> done = new ArrayList<>();
      for (int i = 0; i < workers; i++) {
        done.add(CompletableFuture.supplyAsync(() -> heat(time), executor));
      }
      for (CompletableFuture<Long> worker : done) {
        tally.warmupOperations(worker.join());
      }
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException failure ? failure : e;
    } finally {
      executor.shutdownNow();
    }
    tally.warmupOperations(operateUntil(time.endNanos()));
  }

  private long heat(WarmupTime time) {
    long operations = 0;
    do {
      operate(randomKey());
      operations++;
      time.operation();
    } while (System.nanoTime() - time.hotEndNanos() < 0);
    return operations;
  }

  private long operateUntil(long endNanos) {
    long operations = 0;
    while (System.nanoTime() - endNanos < 0) {
      operate(randomKey());
      operations++;
    }
    return operations;
  }

  private void operate(String key) {
    if (updates && ThreadLocalRandom.current().nextBoolean()) {
      var unused = store.update(table, Documents.withKey(key + NO_RECORD), UPDATE).block();
    } else {
      BsonDocument found = store.findOne(table, Documents.withKey(key), null).block();
      if (found != null) {
        Documents.read(found, new HashMap<>()); // warms up the decoding, too
      }
    }
  }

  String randomKey() {
    return keys.key(ThreadLocalRandom.current().nextInt(keys.size()));
  }

  private static boolean isPositive(Properties properties, String proportion, String unsaid) {
    return Double.parseDouble(properties.getProperty(proportion, unsaid)) > 0;
  }

  private static int threads(Properties properties) {
    return Math.max(1, Integer.parseInt(properties.getProperty(Client.THREAD_COUNT_PROPERTY, "1")));
  }
}
