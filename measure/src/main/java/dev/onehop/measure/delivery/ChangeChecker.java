package dev.onehop.measure.delivery;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * Whether a snapshot and the events after it are all changes of a set of documents, each once. A
 * document's versions count from 1. Those up to the snapshot's must not come as events; every later
 * one must, once. Says nothing of the order. Thread-safe.
 */
final class ChangeChecker {

  private final Map<Long, Integer> snapshot = new HashMap<>(); // guarded by this
  private final Map<Long, BitSet> events = new HashMap<>(); // guarded by this
  private long doubled; // guarded by this
  private long seen; // guarded by this

  /**
   * What was wrong.
   *
   * @param lost versions that neither the snapshot nor an event had
   * @param doubled versions that came more than once
   */
  record Verdict(long lost, long doubled) {}

  /** Takes a document of the snapshot. */
  synchronized void snapshot(long number, int version) {
    if (snapshot.put(number, version) != null) {
      doubled++;
    }
  }

  /** Takes an event. */
  synchronized void event(long number, int version) {
    BitSet versions = events.computeIfAbsent(number, key -> new BitSet());
    if (versions.get(version)) {
      doubled++;
    } else {
      versions.set(version);
      seen++;
    }
  }

  /** Documents of the snapshot. */
  synchronized int documents() {
    return snapshot.size();
  }

  /** Events so far, each once. */
  synchronized long seen() {
    return seen;
  }

  /**
   * Compares.
   *
   * @param written the last version of each document that was acknowledged
   */
  synchronized Verdict verdict(Map<Long, Integer> written) {
    long lost = 0;
    long twice = doubled;
    for (Map.Entry<Long, Integer> document : written.entrySet()) {
      int read = snapshot.getOrDefault(document.getKey(), 0);
      BitSet versions = events.getOrDefault(document.getKey(), new BitSet());
      int last = document.getValue();
      lost += Math.max(0, last - read) - versions.get(read + 1, last + 1).cardinality();
      twice += versions.get(0, read + 1).cardinality();
    }
    return new Verdict(lost, twice);
  }
}
