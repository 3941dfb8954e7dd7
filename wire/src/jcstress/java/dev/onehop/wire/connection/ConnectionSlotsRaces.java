package dev.onehop.wire.connection;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.onehop.wire.connection.WireSettings.PoolLimits;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Pools compete for the only connection that the limits allow. */
public final class ConnectionSlotsRaces {
  private ConnectionSlotsRaces() {}

  private static PoolLimits one() {
    return new PoolLimits(1, 0, 0, Duration.ofMinutes(1), Duration.ZERO, Duration.ZERO);
  }

  /** Two pools want to open a connection, and only one of them may. */
  @JCStressTest
  @Outcome(
      id = {"1, 0", "0, 1"},
      expect = ACCEPTABLE,
      desc = "one pool may open a connection")
  @Outcome(expect = FORBIDDEN, desc = "no pool may open a connection, or both may")
  @State
  public static class TwoOpen {
    private final ConnectionSlots slots = new ConnectionSlots(one());

    @Actor
    public void first(II_Result result) {
      result.r1 = slots.tryOpen() ? 1 : 0;
    }

    @Actor
    public void second(II_Result result) {
      result.r2 = slots.tryOpen() ? 1 : 0;
    }
  }

  /**
   * A connection is being closed while a pool begins to wait. The pool may then open exactly one
   * connection.
   */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "one connection is opened for the waiting pool")
  @Outcome(id = "0", expect = FORBIDDEN, desc = "the pool waits for ever")
  @Outcome(expect = FORBIDDEN, desc = "more connections than the limit")
  @State
  public static class ClosedWhileOneBeginsToWait implements ConnectionSlots.Pool {
    private final ConnectionSlots slots = new ConnectionSlots(one());
    private final AtomicInteger begun = new AtomicInteger();
    private boolean waiting;

    public ClosedWhileOneBeginsToWait() {
      slots.add(this);
      slots.tryOpen();
      slots.opened();
    }

    @Actor
    public void need() {
      synchronized (this) {
        waiting = true;
      }
      mayOpen();
    }

    @Actor
    public void close() {
      slots.closed();
    }

    /** Calls {@code tryOpen} under the pool's lock, as the real pools do. */
    @Override
    public void mayOpen() {
      synchronized (this) {
        if (waiting && slots.tryOpen()) {
          begun.incrementAndGet();
        }
      }
    }

    @Override
    public synchronized boolean isWaiting() {
      return waiting;
    }

    @Override
    public boolean closeIdle() {
      return false;
    }

    @Arbiter
    public void look(I_Result result) {
      result.r1 = begun.get();
    }
  }
}
