package dev.onehop.copy.verify;

import dev.onehop.copy.internal.KeyFields;
import dev.onehop.copy.internal.full.KeyRange;
import dev.onehop.copy.internal.structure.KeySamples;
import dev.onehop.copy.verify.Rounds.Result;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The comparison of the documents of two collections, in ranges. Thread-safe after {@link #divide}
 * has returned.
 */
final class CollectionWork {
  private static final int MEGABYTE = 1 << 20;
  private static final int MOST_IN_BATCH = 1_000;
  private static final int LARGEST_BATCH = 16 * MEGABYTE;
  private static final int MOST_RANGES = 4_096;
  private static final long RANGE_BYTES = 64L * MEGABYTE;
  private static final int SAMPLES_PER_RANGE = 8;
  private static final int LEAST_SAMPLES = 100;
  private static final int MOST_SAMPLES = 20_000;

  // The batches of a cursor in memory: one is compared, one waits, and one arrives.
  private static final int BATCHES_PER_CURSOR = 3;

  private final CollectionPair pair;
  private final Reader from;
  private final Reader to;
  private final Reader larger;
  private final long estimate;
  private final int shards;
  private final VerifyMeter meter;
  private final @Nullable StateFile state;
  private int batch = 1;
  private int megabytes = 1;
  private Result result = Result.NONE; // guarded by this

  /**
   * Creates the work, and estimates the number of documents.
   *
   * @param state records finished ranges; null if they are not recorded
   */
  CollectionWork(
      CollectionPair pair,
      Side source,
      Side destination,
      VerifyMeter meter,
      @Nullable StateFile state)
      throws InterruptedException {
    this.pair = pair;
    this.from = Reader.from(source, pair);
    this.to = Reader.to(destination, pair);
    this.shards = source.shards() + destination.shards();
    this.meter = meter;
    this.state = state;
    long ofFrom = from.estimate();
    long ofTo = to.estimate();
    this.estimate = Math.max(ofFrom, ofTo);
    this.larger = ofFrom >= ofTo ? from : to;
    meter.expected.addAndGet(estimate);
  }

  /**
   * Divides the collections into ranges, or takes the ranges of an earlier run from the state file.
   *
   * @param perRange the largest number of documents that a range should have
   * @return the ranges that are not finished
   */
  List<RangeWork> divide(long perRange) throws InterruptedException {
    Sample sizes = estimate == 0 ? Sample.EMPTY : larger.sample(LEAST_SAMPLES, estimate);
    batch = (int) Math.max(1, Math.min(MOST_IN_BATCH, MEGABYTE / sizes.averageSize()));
    long batchBytes = Math.max(MEGABYTE, Math.min(LARGEST_BATCH, batch * sizes.largestSize()));
    megabytes = (int) (batchBytes * BATCHES_PER_CURSOR * shards / MEGABYTE);
    StateFile.Known known = state == null ? null : state.take(pair);
    List<BsonValue> bounds = known == null ? bounds(perRange, sizes) : known.bounds();
    Map<Integer, Result> done = known == null ? Map.of() : known.done();
    if (state != null && known == null) {
      state.begin(pair, bounds);
    }
    synchronized (this) {
      result = done.values().stream().reduce(Result.NONE, Result::plus);
      meter.resumed(done.size(), result.details().size());
    }
    List<KeyRange> all =
        KeyRange.between(
            0,
            KeyFields.BY_ID,
            bounds.stream().map(bound -> new BsonDocument("_id", bound)).toList(),
            (number, from) -> "");
    meter.allRanges.addAndGet(all.size());
    meter.expected.addAndGet(-estimate * done.size() / all.size());
    List<RangeWork> open = new ArrayList<>();
    for (KeyRange range : all) {
      if (!done.containsKey(range.number())) {
        open.add(new RangeWork(this, range));
      }
    }
    return open;
  }

  private List<BsonValue> bounds(long perRange, Sample sizes) throws InterruptedException {
    long documents = Math.max(1, Math.min(perRange, RANGE_BYTES / sizes.averageSize()));
    int count = (int) Math.min(MOST_RANGES, estimate / documents + 1);
    if (count == 1 || !pair.hasRanges()) {
      return List.of();
    }
    int samples = Math.min(MOST_SAMPLES, count * SAMPLES_PER_RANGE);
    return KeySamples.quantiles(larger.sample(samples, estimate).keys(), count - 1, 0);
  }

  CollectionPair pair() {
    return pair;
  }

  Reader from() {
    return from;
  }

  Reader to() {
    return to;
  }

  VerifyMeter meter() {
    return meter;
  }

  /** The batch size of a cursor, in documents. */
  int batch() {
    return batch;
  }

  /** An estimate: the comparison of a range takes at most this many megabytes of memory. */
  int megabytes() {
    return megabytes;
  }

  /** The result of all finished ranges. */
  synchronized Result result() {
    return result;
  }

  /** Adds the result of a finished range. */
  void done(int number, Result found) {
    // A range is not recorded if some of its keys kept changing. The next run then compares it
    // again.
    if (state != null && found.unsettled() == 0) {
      state.done(pair, number, found);
    }
    synchronized (this) {
      result = result.plus(found);
    }
    meter.ranges.incrementAndGet();
  }
}
