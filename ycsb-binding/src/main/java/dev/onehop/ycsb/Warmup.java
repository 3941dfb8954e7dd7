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
 * Unmeasured operations before a run, so that neither connecting nor the just-in-time compilers are
 * part of what is measured: not the client's, and not those of routers that run on a JVM.
 *
 * <p>A thread or two with a far shard at the end of every second operation would never make code
 * hot, so a few more threads than the run's own may take part. At the end only the run's own
 * threads are left. All keys are random, so that each server's pool is opened as the run needs it.
 * They are drawn evenly from the {@link KeyPopulation} of the run's properties. Before a load they
 * are not there yet, which is as good for warming up. Where the workload updates, so does this, but
 * only keys that no record has: no data changes.
 */
final class Warmup {
  private static final String RECORDS_IF_UNSAID = "1000000";

  /** Threads that take part at least, over all of the run's. */
  private static final int LEAST_WORKERS = 32;

  /** YCSB's keys end with a digit. */
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
   * Prepares one of a run's threads.
   *
   * @throws InvalidPropertyException if the properties describe no keys
   */
  Warmup(DocumentStore store, Properties properties) {
    this(store, properties, threads(properties));
  }

  /**
   * Prepares one of some threads.
   *
   * @param threads how many there are
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

  /** Works until the time is over, but at least one operation, and counts them in the tally. */
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
        Documents.read(found, new HashMap<>()); // the decoding is warmed up too
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
