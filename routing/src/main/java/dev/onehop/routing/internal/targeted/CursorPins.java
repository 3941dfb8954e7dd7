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
 * The mongos of each open cursor, by the cursor id that the driver uses. The driver uses the
 * mongos' id of the cursor, unless a cursor of another mongos has the same id. A cursor is removed
 * when it ends, or when it was unused for 35 minutes. The server closes an unused cursor earlier:
 * after ten minutes, or when its session ends after half an hour if the cursor has no timeout.
 *
 * <p>Thread-safe.
 */
final class CursorPins {
  /**
   * The time after which an unused cursor is removed. It is longer than the server's {@code
   * localLogicalSessionTimeoutMinutes}, so the server has already closed the cursor.
   */
  static final Duration MOST_IDLE = Duration.ofMinutes(35);

  private static final Duration BETWEEN_SWEEPS = Duration.ofMinutes(1);

  private final Map<Long, Pin> open = new ConcurrentHashMap<>();
  private final LongSupplier nanoTime;
  private final AtomicLong nextSweepNanos;

  /** The location of a cursor. */
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

    /** The cursor's id at its server. */
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

  /** For tests, with a fake clock. */
  CursorPins(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.nextSweepNanos = new AtomicLong(nanoTime.getAsLong() + BETWEEN_SWEEPS.toNanos());
  }

  /**
   * Adds a cursor that a mongos has opened.
   *
   * @param id the mongos' id of the cursor
   * @return the cursor id for the driver: {@code id}, unless another cursor already has this id
   */
  long add(ServerAddressName server, long id, boolean changeStream) {
    long now = nanoTime.getAsLong();
    sweep(now);
    Pin pin = new Pin(server, id, changeStream, now);
    long driverId = id;
    while (driverId == 0 || open.putIfAbsent(driverId, pin) != null) {
      driverId = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    }
    return driverId;
  }

  /** Returns the location of a cursor and marks it as used; null if it is unknown. */
  @Nullable Pin use(long driverId) {
    Pin pin = open.get(driverId);
    if (pin != null) {
      pin.usedNanos = nanoTime.getAsLong();
    }
    return pin;
  }

  /** Removes a cursor that has ended; returns null if it was unknown. */
  @Nullable Pin remove(long driverId) {
    return open.remove(driverId);
  }

  int size() {
    return open.size();
  }

  /**
   * Removes expired cursors. It inspects all cursors, so it runs at most once a minute and only
   * when cursors are added.
   */
  private void sweep(long now) {
    long next = nextSweepNanos.get();
    if (now - next >= 0 && nextSweepNanos.compareAndSet(next, now + BETWEEN_SWEEPS.toNanos())) {
      open.values().removeIf(pin -> now - pin.usedNanos > MOST_IDLE.toNanos());
    }
  }
}
