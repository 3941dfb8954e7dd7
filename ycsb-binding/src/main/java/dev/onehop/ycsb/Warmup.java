package dev.onehop.ycsb;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import org.bson.BsonDocument;
import site.ycsb.Client;
import site.ycsb.workloads.CoreWorkload;

/**
 * Unmeasured point reads before a run, so that neither connecting nor the just-in-time compiler is
 * part of what is measured.
 *
 * <p>Keys are drawn evenly from the {@link KeyPopulation} of the run's properties. Before a load
 * they are not there yet, which is as good for warming up.
 */
final class Warmup {
  private static final String RECORDS_IF_UNSAID = "1000000";

  private final DocumentStore store;
  private final String table;
  private final KeyPopulation keys;

  /**
   * Prepares for a run's properties.
   *
   * @throws InvalidPropertyException if they describe no keys
   */
  Warmup(DocumentStore store, Properties properties) {
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
  }

  /**
   * Reads until {@link System#nanoTime} is {@code endNanos}, but at least once, and counts the
   * reads in {@code tally}.
   */
  void run(long endNanos, Tally tally) {
    do {
      BsonDocument found = store.findOne(table, Documents.withKey(randomKey()), null);
      if (found != null) {
        Documents.read(found, new HashMap<>()); // the decoding is warmed up too
      }
      tally.warmupOperation();
    } while (System.nanoTime() - endNanos < 0);
  }

  String randomKey() {
    return keys.key(ThreadLocalRandom.current().nextInt(keys.size()));
  }
}
