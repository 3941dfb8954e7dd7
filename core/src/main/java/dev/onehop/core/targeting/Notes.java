package dev.onehop.core.targeting;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The conditions of a filter that give no bounds. The reason of a decision names these conditions.
 */
final class Notes {
  private static final int MAX = 3;

  private final Set<String> notes = new LinkedHashSet<>(4);

  void add(String note) {
    if (notes.size() < MAX) {
      notes.add(note);
    }
  }

  boolean isEmpty() {
    return notes.isEmpty();
  }

  @Override
  public String toString() {
    return String.join("; ", notes);
  }
}
