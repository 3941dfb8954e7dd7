package dev.onehop.wire.connection;

import dev.onehop.wire.connection.WireSettings.PoolLimits;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Counts the connections to one server in all pools, and applies the limits of their number. At the
 * limit, a pool that needs a connection makes another pool close an idle one.
 *
 * <p>Thread-safe. A caller may hold a pool's lock only for the methods whose comments allow it.
 * This class calls the pools without its lock.
 */
final class ConnectionSlots {
  private final PoolLimits limits;
  private final List<Pool> pools = new CopyOnWriteArrayList<>();
  private int opening;
  private volatile int open;

  /** A pool of connections to the server. The caller of its methods holds no lock. */
  interface Pool {
    /** Called when a connection may be opened that could not be opened before. */
    void mayOpen();

    /** Whether a request waits for a connection. */
    boolean isWaiting();

    /** Closes an idle connection, if there is one. */
    boolean closeIdle();
  }

  ConnectionSlots(PoolLimits limits) {
    this.limits = limits;
  }

  void add(Pool pool) {
    pools.add(pool);
  }

  /**
   * Reserves a slot for a new connection, if the limits allow it. May be called under a pool's
   * lock.
   */
  synchronized boolean tryOpen() {
    if (isFull() || (limits.maxConnecting() > 0 && opening >= limits.maxConnecting())) {
      return false;
    }
    open++;
    opening++;
    return true;
  }

  /**
   * Whether the limits allow more connections. May be called under a pool's lock.
   *
   * @param wanted the number of waiting requests minus the number of connections that are being
   *     opened; may be negative
   */
  boolean hasRoomBeside(int wanted) {
    return limits.maxSize() == 0 || open + wanted < limits.maxSize();
  }

  private boolean isFull() {
    return limits.maxSize() > 0 && open >= limits.maxSize();
  }

  /** Called when a reserved connection is open. */
  void opened() {
    synchronized (this) {
      opening--;
    }
    Each.of(pools, Pool::mayOpen);
  }

  /** Called when a reserved connection could not be opened. */
  void notOpened() {
    synchronized (this) {
      opening--;
      open--;
    }
    Each.of(pools, Pool::mayOpen);
  }

  /** Called when an open connection is closed. */
  void closed() {
    synchronized (this) {
      open--;
    }
    Each.of(pools, Pool::mayOpen);
  }

  /** Makes another pool close an idle connection, if the limit is reached. */
  void makeRoom(Pool asking) {
    if (isFull()) {
      for (Pool each : pools) {
        if (each != asking && each.closeIdle()) {
          return;
        }
      }
    }
  }

  /**
   * Whether the limit is reached and another pool waits for a connection. This pool then closes a
   * connection that it does not need.
   */
  boolean isWantedElsewhere(Pool asking) {
    if (isFull()) {
      for (Pool each : pools) {
        if (each != asking && each.isWaiting()) {
          return true;
        }
      }
    }
    return false;
  }
}
