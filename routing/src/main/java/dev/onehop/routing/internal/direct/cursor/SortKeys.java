package dev.onehop.routing.internal.direct.cursor;

import dev.onehop.core.bson.SortableKey;
import java.util.Arrays;
import java.util.Comparator;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;

/**
 * The order of documents from several shards: each shard adds the values that it sorted by, as an
 * array {@code $sortKey}, when its projection asks for that metadata.
 */
public final class SortKeys {
  static final String FIELD = "$sortKey";

  private SortKeys() {}

  /** A projection that gives what {@code projection} gives, and the sort key. */
  public static BsonDocument projection(BsonDocument projection) {
    BsonDocument extended = new BsonDocument();
    extended.putAll(projection);
    return extended.append(FIELD, new BsonDocument("$meta", new BsonString("sortKey")));
  }

  /** Compares by sort key, each field in its direction. */
  public static Comparator<BsonDocument> comparator(BsonDocument sort) {
    int[] directions =
        sort.values().stream()
            .mapToInt(value -> value.isNumber() ? value.asNumber().intValue() : 1)
            .toArray();
    return (a, b) -> compare(a.getArray(FIELD), b.getArray(FIELD), directions);
  }

  private static int compare(BsonArray a, BsonArray b, int[] directions) {
    for (int i = 0; i < directions.length; i++) {
      int order = compare(a.get(i), b.get(i));
      if (order != 0) {
        return directions[i] < 0 ? -order : order;
      }
    }
    return 0;
  }

  private static int compare(BsonValue a, BsonValue b) {
    return Arrays.compareUnsigned(SortableKey.encode(a), SortableKey.encode(b));
  }
}
