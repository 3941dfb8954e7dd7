package dev.onehop.measure.delivery;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * What has come by one path of the objects and signals of a run's tests: each has to come once.
 * Tests are numbered from 0; the first is not timed. Thread-safe.
 */
final class Arrivals {

  private final int run;
  private final int signals;
  private final Samples sinceDue = new Samples();
  private final Samples sinceBegan = new Samples();
  private final Map<Integer, Test> tests = new HashMap<>(); // guarded by this
  private long distinct; // guarded by this
  private long doubled; // guarded by this

  /** One test. Signals stand before objects. */
  private static final class Test {
    private final BitSet seen = new BitSet();
    private int signals;
    private long lastSignalMicros;
  }

  /**
   * @param run which items are looked at
   * @param signals how many each test has
   */
  Arrivals(int run, int signals) {
    this.run = run;
    this.signals = signals;
  }

  /** Takes what has come, at a time of the writer's clock. */
  void take(Item item, long seenMicros) {
    if (item.run() != run) {
      return;
    }
    synchronized (this) {
      Test test = tests.computeIfAbsent(item.group(), number -> new Test());
      int place = Math.toIntExact(item.isSignal() ? -1 - item.number() : signals + item.number());
      if (test.seen.get(place)) {
        doubled++;
        return;
      }
      test.seen.set(place);
      distinct++;
      if (item.isSignal()) {
        test.signals++;
        test.lastSignalMicros = Math.max(test.lastSignalMicros, seenMicros);
      }
      if (item.group() > 0 && !item.isSignal()) {
        sinceDue.add(seenMicros - item.dueMicros());
        sinceBegan.add(seenMicros - item.beganMicros());
      }
    }
  }

  /** Whether all of a test has come. */
  synchronized boolean isComplete(int number, int objects) {
    Test test = tests.get(number);
    return test != null && test.seen.cardinality() == signals + objects;
  }

  /** When the last signal of a test came; all of them must have come. */
  synchronized long lastSignalMicros(int number) {
    Test test = tests.get(number);
    if (test == null || test.signals < signals) {
      throw new IllegalStateException("signals of test " + number + " are missing");
    }
    return test.lastSignalMicros;
  }

  /** Whether all signals of a test have come. */
  synchronized boolean isSignalled(int number) {
    Test test = tests.get(number);
    return test != null && test.signals == signals;
  }

  /** Objects and signals that have come, each once. */
  synchronized long distinct() {
    return distinct;
  }

  /** Those that have come again. */
  synchronized long doubled() {
    return doubled;
  }

  /** Times of objects from when their writes were meant to begin. */
  Samples sinceDue() {
    return sinceDue;
  }

  /** Times of objects from when their writes began. */
  Samples sinceBegan() {
    return sinceBegan;
  }
}
