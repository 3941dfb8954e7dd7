package dev.onehop.core.targeting;

import dev.onehop.core.bson.SortableKeyBuilder;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.ShardKeyField;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;

/**
 * Converts the boxes of a {@link KeySpace} into ranges of whole keys, and these ranges into chunks.
 */
final class KeyRanges {
  /**
   * The largest number of ranges for one box. If a box needs more ranges, only its first fields are
   * used, and the ranges are wider.
   */
  private static final int MAX_RANGES = 16_384;

  private static final byte[] EMPTY = new byte[0];
  private static final byte[] LEAST =
      new SortableKeyBuilder(1).add(new BsonMinKey(), false).build();
  private static final byte[] LEAST_DESCENDING =
      new SortableKeyBuilder(1).add(new BsonMaxKey(), true).build();

  private final RoutingTable table;
  private final List<ShardKeyField> fields;
  private final BitSet chunks;

  private KeyRanges(RoutingTable table) {
    this.table = table;
    this.fields = table.shardKeyPattern().fields();
    this.chunks = new BitSet();
  }

  /** The chunks that may contain keys of the space. */
  static BitSet chunks(RoutingTable table, KeySpace space) {
    KeyRanges ranges = new KeyRanges(table);
    for (IntervalSet[] box : space.boxes()) {
      ranges.addBox(box);
    }
    return ranges.chunks;
  }

  private void addBox(IntervalSet[] ascending) {
    IntervalSet[] box = new IntervalSet[ascending.length];
    for (int i = 0; i < box.length; i++) {
      if (ascending[i].isEmpty()) {
        return;
      }
      box[i] = fields.get(i).descending() ? ascending[i].flipped() : ascending[i];
    }
    int depth = 1;
    for (long ranges = box[0].intervals().size(); depth < box.length; depth++) {
      ranges *= box[depth].intervals().size();
      if (ranges > MAX_RANGES) {
        break;
      }
    }
    addRanges(box, 0, depth, EMPTY);
  }

  private void addRanges(IntervalSet[] box, int field, int depth, byte[] prefix) {
    for (Interval interval : box[field].intervals()) {
      byte[] first = interval.first();
      if (interval.isPoint() && first != null && field + 1 < depth) {
        addRanges(box, field + 1, depth, concat(prefix, first));
      } else {
        addRange(
            concat(prefix, lower(box, field, interval)),
            concat(prefix, upper(box, field, interval)));
      }
    }
  }

  private byte[] lower(IntervalSet[] box, int field, Interval interval) {
    byte[] first = interval.first();
    if (interval.from().length == 0) {
      first = fields.get(field).descending() ? LEAST_DESCENDING : LEAST;
    }
    if (first == null || field + 1 == box.length) {
      return first == null ? interval.from() : first;
    }
    return concat(first, lower(box, field + 1, box[field + 1].intervals().get(0)));
  }

  private static byte[] upper(IntervalSet[] box, int field, Interval interval) {
    byte[] last = interval.last();
    if (last == null || field + 1 == box.length) {
      return interval.to();
    }
    List<Interval> next = box[field + 1].intervals();
    return concat(last, upper(box, field + 1, next.get(next.size() - 1)));
  }

  private void addRange(byte[] from, byte[] to) {
    if (Arrays.compareUnsigned(from, to) < 0) {
      chunks.set(table.chunkIndexOf(from), table.lastChunkBelow(to) + 1);
    }
  }

  private static byte[] concat(byte[] a, byte[] b) {
    if (a.length == 0) {
      return b;
    }
    byte[] both = Arrays.copyOf(a, a.length + b.length);
    System.arraycopy(b, 0, both, a.length, b.length);
    return both;
  }
}
