package dev.onehop.core.table;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Numbers the shard names in the order of their appearance, so that a chunk needs two bytes for its
 * owner.
 */
final class ShardNames {
  private static final int MAX = Character.MAX_VALUE;

  private final List<String> names;
  private final Map<String, Integer> indexes = new HashMap<>();

  /** Starts with the names of an older table, which keep their numbers. */
  ShardNames(List<String> known) {
    names = new ArrayList<>(known);
    for (int i = 0; i < known.size(); i++) {
      indexes.put(known.get(i), i);
    }
  }

  int indexOf(String name) {
    Integer index = indexes.get(name);
    if (index == null) {
      if (names.size() > MAX) {
        throw new InconsistentRoutingTableException("more than " + MAX + " shards");
      }
      index = names.size();
      indexes.put(name, index);
      names.add(name);
    }
    return index;
  }

  List<String> names() {
    return List.copyOf(names);
  }
}
