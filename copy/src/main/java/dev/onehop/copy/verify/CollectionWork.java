package dev.onehop.copy.verify;

import java.util.ArrayList;
import java.util.List;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** The comparison of the documents of two collections, in ranges. */
final class CollectionWork {
  private static final int MEGABYTE = 1 << 20;
  private static final int MOST_IN_BATCH = 1_000;
  private static final int LARGEST_BATCH = 16 * MEGABYTE;
  private static final int MOST_RANGES = 4_096;
  private static final long RANGE_BYTES = 64L * MEGABYTE;
  private static final int SAMPLES_PER_RANGE = 8;
  private static final int LEAST_SAMPLES = 100;
  private static final int MOST_SAMPLES = 20_000;

  // Of one cursor: what is compared, what waits, and what is being received.
  private static final int BATCHES_PER_CURSOR = 3;

  private final CollectionPair pair;
  private final Reader from;
  private final Reader to;
  private final Shared shared;
  private final List<RangeWork> ranges = new ArrayList<>();
  private final List<BsonValue> bounds;
  private final long estimate;
  private final int batch;
  private final int megabytes;

  /** What all collections of a run have in common. Implementations are thread-safe. */
  interface Shared {
    /** A key was compared. */
    void counted();

    /** Whether one more differing key is to be told. */
    boolean wantsDetail();

    /** A range is done. */
    void done(RangeWork range);
  }

  private CollectionWork(
      CollectionPair pair,
      Reader from,
      Reader to,
      Shared shared,
      long estimate,
      Reader.Sample sample,
      List<BsonValue> bounds,
      int shards) {
    this.pair = pair;
    this.from = from;
    this.to = to;
    this.shared = shared;
    this.estimate = estimate;
    this.bounds = bounds;
    this.batch = (int) Math.max(1, Math.min(MOST_IN_BATCH, MEGABYTE / sample.averageSize()));
    long batchBytes = Math.max(MEGABYTE, Math.min(LARGEST_BATCH, batch * sample.largestSize()));
    this.megabytes = (int) (batchBytes * BATCHES_PER_CURSOR * shards / MEGABYTE);
    for (KeyRange range : KeyRange.between(bounds)) {
      ranges.add(new RangeWork(this, ranges.size(), range));
    }
  }

  /**
   * Divides two collections into ranges.
   *
   * @param known the bounds that an earlier run has chosen; null to choose them
   * @param perRange how many documents a range should have, at most
   */
  static CollectionWork plan(
      CollectionPair pair,
      Side source,
      Side destination,
      Shared shared,
      @Nullable List<BsonValue> known,
      long perRange)
      throws InterruptedException {
    Reader from = Reader.from(source, pair);
    Reader to = Reader.to(destination, pair);
    long ofFrom = from.estimate();
    long ofTo = to.estimate();
    long estimate = Math.max(ofFrom, ofTo);
    Reader larger = ofFrom >= ofTo ? from : to;
    Reader.Sample sizes =
        estimate == 0 ? Reader.Sample.EMPTY : larger.sample(LEAST_SAMPLES, estimate);
    List<BsonValue> bounds = known;
    if (bounds == null) {
      long documents = Math.max(1, Math.min(perRange, RANGE_BYTES / sizes.averageSize()));
      int count = (int) Math.min(MOST_RANGES, estimate / documents + 1);
      bounds = List.of();
      if (count > 1 && pair.hasRanges()) {
        int samples = Math.min(MOST_SAMPLES, count * SAMPLES_PER_RANGE);
        bounds = quantiles(larger.sample(samples, estimate).keys(), count);
      }
    }
    return new CollectionWork(
        pair, from, to, shared, estimate, sizes, bounds, source.shards() + destination.shards());
  }

  /** Some of the keys, evenly, so that there are so many ranges, or fewer. */
  static List<BsonValue> quantiles(List<BsonValue> keys, int ranges) {
    List<BsonValue> bounds = new ArrayList<>();
    int last = -1;
    for (int i = 1; i < ranges; i++) {
      int at = (int) ((long) keys.size() * i / ranges);
      if (at > last && at < keys.size()) {
        bounds.add(keys.get(at));
        last = at;
      }
    }
    return bounds;
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

  List<RangeWork> ranges() {
    return ranges;
  }

  List<BsonValue> bounds() {
    return bounds;
  }

  /** How many documents there are, about. */
  long estimate() {
    return estimate;
  }

  /** How many documents are asked for at once. */
  int batch() {
    return batch;
  }

  /** How much memory a range takes while it is read, at most, about. */
  int megabytes() {
    return megabytes;
  }

  void count() {
    shared.counted();
  }

  boolean wantsDetail() {
    return shared.wantsDetail();
  }

  void done(RangeWork range) {
    shared.done(range);
  }
}
