package dev.onehop.copy.internal.full;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.bson.BsonDocument;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonValue;

/**
 * A range of keys of a collection.
 *
 * @param collection the number of the collection in the job
 * @param number the number of the range in the collection, from 0
 * @param shard the shard that owned the range when it was planned
 * @param min the lower bound, inclusive; it has a value for each field of the key
 * @param max the upper bound, exclusive. Only if it is the bound above all keys, it is inclusive
 * @param started whether some documents of the range may have been read and written before
 */
public record KeyRange(
    int collection, int number, String shard, BsonDocument min, BsonDocument max, boolean started) {
  /**
   * Creates the ranges of a collection, from the lowest key to the highest key.
   *
   * @param key the fields of the bounds
   * @param bounds the bounds between the ranges, in order
   * @param shard returns the shard of a range, given the range's number and lower bound
   */
  public static List<KeyRange> between(
      int collection,
      BsonDocument key,
      List<BsonDocument> bounds,
      BiFunction<Integer, BsonDocument, String> shard) {
    List<KeyRange> ranges = new ArrayList<>();
    BsonDocument from = lowest(key);
    for (int number = 0; number <= bounds.size(); number++) {
      BsonDocument to = number < bounds.size() ? bounds.get(number) : highest(key);
      ranges.add(
          new KeyRange(
              collection, number, shard.apply(number, from), from, to, /* started= */ false));
      from = to;
    }
    return ranges;
  }

  /** The part of the range from a key on, including the key. */
  public KeyRange from(BsonDocument key) {
    return new KeyRange(collection, number, shard, key, max, true);
  }

  /** The bound below all keys. */
  public static BsonDocument lowest(BsonDocument key) {
    return all(key, new BsonMinKey());
  }

  /** The bound above all keys. */
  public static BsonDocument highest(BsonDocument key) {
    return all(key, new BsonMaxKey());
  }

  private static BsonDocument all(BsonDocument key, BsonValue value) {
    BsonDocument bound = new BsonDocument();
    key.keySet().forEach(field -> bound.append(field, value));
    return bound;
  }

  /** Whether a bound is below all keys. */
  public static boolean isLowest(BsonDocument bound) {
    return bound.values().stream().allMatch(BsonMinKey.class::isInstance);
  }

  /** Whether a bound is above all keys. */
  public static boolean isHighest(BsonDocument bound) {
    return bound.values().stream().allMatch(BsonMaxKey.class::isInstance);
  }
}
