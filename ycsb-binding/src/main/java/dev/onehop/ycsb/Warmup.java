package dev.onehop.ycsb;

import java.util.HashMap;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import org.bson.BsonDocument;
import site.ycsb.Client;
import site.ycsb.Utils;
import site.ycsb.workloads.CoreWorkload;

/**
 * Unmeasured point reads before a run, so that neither connecting nor the just-in-time compiler is
 * part of what is measured.
 *
 * <p>Keys are named as YCSB's {@link CoreWorkload} names them, drawn evenly from the records that
 * the run's properties say there are. Before a load they are not there yet, which is as good for
 * warming up.
 */
final class Warmup {
  private static final int RECORDS_IF_UNSAID = 1_000_000;

  private final DocumentStore store;
  private final String table;
  private final boolean hashed;
  private final int zeroPadding;
  private final long firstRecord;
  private final long records;

  Warmup(DocumentStore store, Properties properties) {
    this.store = store;
    table =
        properties.getProperty(
            CoreWorkload.TABLENAME_PROPERTY, CoreWorkload.TABLENAME_PROPERTY_DEFAULT);
    hashed =
        !properties
            .getProperty(
                CoreWorkload.INSERT_ORDER_PROPERTY, CoreWorkload.INSERT_ORDER_PROPERTY_DEFAULT)
            .equals("ordered");
    zeroPadding = (int) number(properties, CoreWorkload.ZERO_PADDING_PROPERTY, 1);
    firstRecord = number(properties, "insertstart", 0);
    long said =
        number(
            properties,
            Client.INSERT_COUNT_PROPERTY,
            number(properties, Client.RECORD_COUNT_PROPERTY, 0));
    records = said > 0 ? said : RECORDS_IF_UNSAID;
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
    return keyOf(firstRecord + ThreadLocalRandom.current().nextLong(records));
  }

  private String keyOf(long number) {
    String digits = Long.toString(hashed ? Utils.hash(number) : number);
    return "user" + "0".repeat(Math.max(0, zeroPadding - digits.length())) + digits;
  }

  private static long number(Properties properties, String name, long unsaid) {
    String value = properties.getProperty(name);
    try {
      return value == null ? unsaid : Long.parseLong(value.strip());
    } catch (NumberFormatException e) {
      throw new InvalidPropertyException(
          "%s must be a whole number, not \"%s\"".formatted(name, value), e);
    }
  }
}
