package dev.onehop.core.targeting;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A set of shard keys: a union of boxes, each the product of one {@link IntervalSet} per field. It
 * contains every key that a matching document can have, and possibly other keys. Immutable.
 */
final class KeySpace {
  /**
   * The largest number of boxes. A larger union is replaced by the smallest single box around it,
   * which is less precise, but still correct.
   */
  private static final int MAX_BOXES = 128;

  private final int fields;
  private final List<IntervalSet[]> boxes;

  private KeySpace(int fields, List<IntervalSet[]> boxes) {
    this.fields = fields;
    this.boxes = boxes;
  }

  static KeySpace all(int fields) {
    IntervalSet[] box = new IntervalSet[fields];
    Arrays.fill(box, IntervalSet.ALL);
    return new KeySpace(fields, List.<IntervalSet[]>of(box));
  }

  static KeySpace none(int fields) {
    return new KeySpace(fields, List.of());
  }

  /** Keys whose field {@code index} is in {@code set}. */
  static KeySpace of(int fields, int index, IntervalSet set) {
    if (set.isEmpty()) {
      return none(fields);
    }
    KeySpace all = all(fields);
    all.boxes.get(0)[index] = set;
    return all;
  }

  List<IntervalSet[]> boxes() {
    return boxes;
  }

  boolean isAll() {
    return boxes.size() == 1 && Arrays.stream(boxes.get(0)).allMatch(IntervalSet::isAll);
  }

  KeySpace and(KeySpace other) {
    if (isAll()) {
      return other;
    }
    if (other.isAll()) {
      return this;
    }
    if ((long) boxes.size() * other.boxes.size() > MAX_BOXES) {
      // The collapsed operand is larger, so the result still contains the whole intersection.
      return boxes.size() <= other.boxes.size() ? collapsed().and(other) : and(other.collapsed());
    }
    List<IntervalSet[]> common = new ArrayList<>();
    for (IntervalSet[] a : boxes) {
      for (IntervalSet[] b : other.boxes) {
        IntervalSet[] box = new IntervalSet[fields];
        boolean empty = false;
        for (int i = 0; i < fields; i++) {
          box[i] = a[i].and(b[i]);
          empty |= box[i].isEmpty();
        }
        if (!empty) {
          common.add(box);
        }
      }
    }
    return new KeySpace(fields, common);
  }

  static KeySpace or(int fields, List<KeySpace> spaces) {
    List<IntervalSet[]> boxes = new ArrayList<>();
    for (KeySpace space : spaces) {
      if (space.isAll()) {
        return space;
      }
      space.boxes.forEach(box -> addOrJoin(boxes, box));
    }
    KeySpace union = new KeySpace(fields, boxes);
    return boxes.size() > MAX_BOXES ? union.collapsed() : union;
  }

  /** Adds a box. If it differs from the last box in one field only, the two boxes are joined. */
  private static void addOrJoin(List<IntervalSet[]> boxes, IntervalSet[] box) {
    int last = boxes.size() - 1;
    if (last >= 0) {
      IntervalSet[] before = boxes.get(last);
      int different = -1;
      for (int i = 0; i < box.length; i++) {
        if (!before[i].sameAs(box[i])) {
          if (different >= 0) {
            boxes.add(box);
            return;
          }
          different = i;
        }
      }
      if (different >= 0) {
        IntervalSet[] joined = before.clone();
        joined[different] = before[different].or(box[different]);
        boxes.set(last, joined);
      }
      return;
    }
    boxes.add(box);
  }

  /** The smallest single box that contains all boxes. */
  private KeySpace collapsed() {
    if (boxes.size() <= 1) {
      return this;
    }
    IntervalSet[] around = new IntervalSet[fields];
    for (int i = 0; i < fields; i++) {
      int field = i;
      List<Interval> any = new ArrayList<>();
      boxes.forEach(box -> any.addAll(box[field].intervals()));
      around[i] = IntervalSet.union(any);
    }
    return new KeySpace(fields, List.<IntervalSet[]>of(around));
  }
}
