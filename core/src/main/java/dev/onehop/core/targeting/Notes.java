package dev.onehop.core.targeting;

import java.util.LinkedHashSet;
import java.util.Set;

/** What a filter holds that could not be turned into bounds, for the reason given later. */
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
