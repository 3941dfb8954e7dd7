package dev.onehop.measure.propagate;

import dev.onehop.measure.results.PropagateResults.Clocks;
import java.util.ArrayList;
import java.util.List;

/**
 * How far another machine's clock is ahead of this one's, bounded by round trips: the other clock
 * was read after a question was sent and before its answer came, wherever in between. Round trips
 * of the same two seconds narrow the bounds together. What is taken for the offset stays the same
 * from the first of them on; the error covers the bounds of all, so that clocks which run apart
 * widen it. Thread-safe.
 */
final class ClockOffset {

  private static final long WINDOW_MICROS = 2_000_000;

  /** What a microsecond that is not rounded up hides. */
  private static final long RESOLUTION = 1;

  private final List<Window> windows = new ArrayList<>(); // guarded by this
  private long roundTrips; // guarded by this
  private long shortest = Long.MAX_VALUE; // guarded by this
  private long offset; // guarded by this

  /** The bounds of some round trips: their common ones, and the widest of a single one. */
  private static final class Window {
    private final long beganMicros;
    private long low = Long.MIN_VALUE;
    private long high = Long.MAX_VALUE;
    private long lowest = Long.MAX_VALUE;
    private long highest = Long.MIN_VALUE;

    Window(long beganMicros) {
      this.beganMicros = beganMicros;
    }

    void add(long least, long most) {
      low = Math.max(low, least);
      high = Math.min(high, most);
      lowest = Math.min(lowest, least);
      highest = Math.max(highest, most);
    }

    /** Whether one offset fits all of its round trips. */
    boolean fits() {
      return low <= high;
    }

    long least() {
      return fits() ? low : lowest;
    }

    long most() {
      return fits() ? high : highest;
    }
  }

  /**
   * Adds a round trip.
   *
   * @param sent when the question was sent, by this clock, in microseconds
   * @param remote when it was answered, by the other clock
   * @param received when the answer came, by this clock
   */
  synchronized void add(long sent, long remote, long received) {
    if (windows.isEmpty() || received - last().beganMicros >= WINDOW_MICROS) {
      windows.add(new Window(received));
    }
    last().add(remote - received - RESOLUTION, remote - sent + RESOLUTION);
    roundTrips++;
    shortest = Math.min(shortest, received - sent);
  }

  private Window last() {
    return windows.get(windows.size() - 1);
  }

  /**
   * Takes the middle of the bounds so far for the offset, from now on.
   *
   * @return the offset: what the other clock is ahead
   */
  synchronized long fix() {
    long low = windows.stream().mapToLong(Window::least).min().orElse(0);
    long high = windows.stream().mapToLong(Window::most).max().orElse(0);
    offset = low + (high - low) / 2;
    return offset;
  }

  /**
   * What is known now.
   *
   * @param peer the other machine
   */
  synchronized Clocks clocks(String peer) {
    long error = 0;
    long low = Long.MIN_VALUE;
    long high = Long.MAX_VALUE;
    boolean consistent = true;
    for (Window window : windows) {
      error = Math.max(error, Math.max(window.most() - offset, offset - window.least()));
      low = Math.max(low, window.least());
      high = Math.min(high, window.most());
      consistent &= window.fits();
    }
    return new Clocks(peer, offset, error, roundTrips, shortest, consistent && low <= high);
  }
}
