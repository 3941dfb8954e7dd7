package dev.onehop.wire.connection;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Three threads change the state of a request: the event loop of its connection, the thread that
 * sends or cancels it, and the thread that checks the pools.
 */
public final class ExchangeRaces {
  private static final IOException FAILURE = new IOException("broken");

  private ExchangeRaces() {}

  /** A request whose connection may have to authenticate again. It counts its outcomes. */
  abstract static class Request implements Exchange.Outcome, Exchange.Pool {
    final ByteBuf message = Unpooled.buffer(4, 4);
    final AtomicInteger outcomes = new AtomicInteger();
    final Exchange exchange = new Exchange(this, message, true, SharingRules.Use.QUICK, this);

    @Override
    public void replied(ByteBuf reply) {
      outcomes.incrementAndGet();
    }

    @Override
    public void sent() {
      outcomes.incrementAndGet();
    }

    @Override
    public void failed(Throwable cause) {
      outcomes.incrementAndGet();
    }

    @Override
    public boolean isShared() {
      return true;
    }

    @Override
    public void forget(Exchange forgotten) {}

    @Override
    public void giveBack(WireConnection connection) {}

    @Override
    public void broken(WireConnection connection) {}

    @Override
    public void clear(int born) {}
  }

  /**
   * The reply arrives while the connection is being closed. The request has one outcome, and the
   * copy of its message is released.
   */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "one outcome; only the sender has a reference")
  @Outcome(expect = FORBIDDEN, desc = "no outcome, two outcomes, or a leak")
  @State
  public static class AnsweredAndBroken extends Request {
    public AnsweredAndBroken() {
      exchange.begin(true);
    }

    @Actor
    public void answer() {
      exchange.answered(Unpooled.EMPTY_BUFFER);
    }

    @Actor
    public void close() {
      exchange.broken(FAILURE);
    }

    @Arbiter
    public void look(II_Result result) {
      result.r1 = outcomes.get();
      result.r2 = message.refCnt();
    }
  }

  /**
   * The reply arrives while the request is being cancelled. Either there is an outcome, or {@code
   * cancel} returns true.
   */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 1", "0, 1, 1"},
      expect = ACCEPTABLE,
      desc = "answered or cancelled")
  @Outcome(expect = FORBIDDEN, desc = "both, neither, or a leak")
  @State
  public static class AnsweredAndCancelled extends Request {
    public AnsweredAndCancelled() {
      exchange.begin(true);
    }

    @Actor
    public void answer() {
      exchange.answered(Unpooled.EMPTY_BUFFER);
    }

    @Actor
    public void cancel(III_Result result) {
      result.r2 = exchange.cancel() ? 1 : 0;
    }

    @Arbiter
    public void look(III_Result result) {
      result.r1 = outcomes.get();
      result.r3 = message.refCnt();
    }
  }

  /**
   * A waiting request gets its connection while the request is being cancelled. No copy of its
   * message stays in memory.
   */
  @JCStressTest
  @Outcome(id = "0, 1, 0", expect = ACCEPTABLE, desc = "cancelled first: not sent, and released")
  @Outcome(
      id = "1, 1, 1",
      expect = ACCEPTABLE,
      desc = "sent first: only the sender has a reference")
  @Outcome(expect = FORBIDDEN, desc = "not cancelled, or a leak")
  @State
  public static class BegunAndCancelled extends Request {
    @Actor
    public void begin(III_Result result) {
      result.r1 = exchange.begin(true) == null ? 0 : 1;
    }

    @Actor
    public void cancel(III_Result result) {
      result.r2 = exchange.cancel() ? 1 : 0;
    }

    @Arbiter
    public void look(III_Result result) {
      result.r3 = message.refCnt();
    }
  }

  /** A waiting request gets its connection at the moment in which its wait times out. */
  @JCStressTest
  @Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "sent, and no outcome yet")
  @Outcome(id = "0, 1, 0", expect = ACCEPTABLE, desc = "timed out, and released")
  @Outcome(expect = FORBIDDEN, desc = "both, neither, or a leak")
  @State
  public static class HandedOverAndTimedOut extends Request {
    @Actor
    public void handOver(III_Result result) {
      result.r1 = exchange.begin(false) == null ? 0 : 1;
    }

    @Actor
    public void timeOut() {
      exchange.unable(FAILURE);
    }

    @Arbiter
    public void look(III_Result result) {
      result.r2 = outcomes.get();
      result.r3 = message.refCnt();
    }
  }

  /**
   * The client prepares another attempt of a refused request while the request is being cancelled.
   * In both orders, the request ends as cancelled.
   */
  @JCStressTest
  @Outcome(
      id = {"0, 1, 1", "1, 1, 1"},
      expect = ACCEPTABLE,
      desc = "cancelled before or after")
  @Outcome(expect = FORBIDDEN, desc = "not cancelled, or a leak")
  @State
  public static class RestartedAndCancelled extends Request {
    public RestartedAndCancelled() {
      exchange.begin(true);
    }

    @Actor
    public void restart(III_Result result) {
      result.r1 = exchange.restart() ? 1 : 0;
    }

    @Actor
    public void cancel(III_Result result) {
      result.r2 = exchange.cancel() ? 1 : 0;
    }

    @Arbiter
    public void look(III_Result result) {
      result.r3 = message.refCnt();
    }
  }
}
