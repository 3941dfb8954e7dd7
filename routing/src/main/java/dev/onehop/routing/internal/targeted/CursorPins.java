package dev.onehop.routing.internal.targeted;

import dev.onehop.wire.ServerAddressName;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The mongos that each open cursor is at, by the id that the driver has for it: the mongos' own, or
 * another one where a cursor of a second mongos has the same. A cursor is forgotten when it ends,
 * or when it was not used for longer than any server keeps one: ten minutes, or half an hour, the
 * life of a session, if it was opened without a time-out.
 *
 * <p>Thread-safe.
 */
final class CursorPins {
  /** Longer than {@code localLogicalSessionTimeoutMinutes} of the server. */
  static final Duration MOST_IDLE = Duration.ofMinutes(35);

  private static final Duration BETWEEN_SWEEPS = Duration.ofMinutes(1);

  private final Map<Long, Pin> open = new ConcurrentHashMap<>();
  private final LongSupplier nanoTime;
  private final AtomicLong nextSweepNanos;

  /** Where a cursor is. */
  static final class Pin {
    private final ServerAddressName server;
    private final long id;
    private final boolean changeStream;
    private volatile long usedNanos;

    private Pin(ServerAddressName server, long id, boolean changeStream, long now) {
      this.server = server;
      this.id = id;
      this.changeStream = changeStream;
      this.usedNanos = now;
    }

    ServerAddressName server() {
      return server;
    }

    /** Its id at that server. */
    long id() {
      return id;
    }

    boolean isChangeStream() {
      return changeStream;
    }
  }

  CursorPins() {
    this(System::nanoTime);
  }

  /** For tests, with a clock of their own. */
  CursorPins(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.nextSweepNanos = new AtomicLong(nanoTime.getAsLong() + BETWEEN_SWEEPS.toNanos());
  }

  /**
   * A mongos has opened a cursor.
   *
   * @param id as the mongos says
   * @return the id for the driver: the same unless another cursor has it
   */
  long add(ServerAddressName server, long id, boolean changeStream) {
    long now = nanoTime.getAsLong();
    sweep(now);
    Pin pin = new Pin(server, id, changeStream, now);
    long told = id;
    while (told == 0 || open.putIfAbsent(told, pin) != null) {
      told = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    }
    return told;
  }

  /** Where a cursor is that is used now; null if it is not known. */
  @Nullable Pin use(long told) {
    Pin pin = open.get(told);
    if (pin != null) {
      pin.usedNanos = nanoTime.getAsLong();
    }
    return pin;
  }

  /** Forgets a cursor that has ended; null if it was not known. */
  @Nullable Pin remove(long told) {
    return open.remove(told);
  }

  int size() {
    return open.size();
  }

  /** Only once in a while, and only when there are new ones: it looks at all of them. */
  private void sweep(long now) {
    long next = nextSweepNanos.get();
    if (now - next >= 0 && nextSweepNanos.compareAndSet(next, now + BETWEEN_SWEEPS.toNanos())) {
      open.values().removeIf(pin -> now - pin.usedNanos > MOST_IDLE.toNanos());
    }
  }
}
