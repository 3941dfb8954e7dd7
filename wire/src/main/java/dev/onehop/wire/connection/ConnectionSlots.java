package dev.onehop.wire.connection;

import dev.onehop.wire.connection.WireSettings.PoolLimits;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * How many connections to one server there are, over all pools that have some. Where there may be
 * no more, a pool in need has another one close a connection that is idle.
 *
 * <p>Thread-safe. May be used under a pool's lock where it says so; pools are called without a lock
 * of this.
 */
final class ConnectionSlots {
  private final PoolLimits limits;
  private final List<Pool> pools = new CopyOnWriteArrayList<>();
  private int opening;
  private volatile int open;

  /** A pool of connections to the server. Called without a lock. */
  interface Pool {
    /** A connection may be opened that could not be before. */
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

  /** Whether a connection may be opened, which is begun if so. May be used under a pool's lock. */
  synchronized boolean tryOpen() {
    if (isFull() || (limits.maxConnecting() > 0 && opening >= limits.maxConnecting())) {
      return false;
    }
    open++;
    opening++;
    return true;
  }

  /**
   * Whether there may be more connections than there are. May be used under a pool's lock.
   *
   * @param wanted how many are wanted beside those that are being opened; may be negative
   */
  boolean hasRoomBeside(int wanted) {
    return limits.maxSize() == 0 || open + wanted < limits.maxSize();
  }

  private boolean isFull() {
    return limits.maxSize() > 0 && open >= limits.maxSize();
  }

  /** A connection that was begun is open. */
  void opened() {
    synchronized (this) {
      opening--;
    }
    Each.of(pools, Pool::mayOpen);
  }

  /** A connection that was begun will not be open. */
  void notOpened() {
    synchronized (this) {
      opening--;
      open--;
    }
    Each.of(pools, Pool::mayOpen);
  }

  /** An open connection is closed. */
  void closed() {
    synchronized (this) {
      open--;
    }
    Each.of(pools, Pool::mayOpen);
  }

  /** Has another pool close an idle connection, if there may be no more. */
  void makeRoom(Pool asking) {
    if (isFull()) {
      for (Pool each : pools) {
        if (each != asking && each.closeIdle()) {
          return;
        }
      }
    }
  }

  /** Whether another pool needs a connection that is not needed here any more. */
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
