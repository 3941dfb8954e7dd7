package dev.onehop.routing.internal.wire;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A request on its way to one server, and the answer on its way back. Thread-safe. */
public final class Exchange {
  private static final int WAITING = 0;
  private static final int SENT = 1;
  private static final int DONE = 2;

  private final ServerPool pool;
  private final ByteBuf message;
  private final boolean expectsReply;
  private final Outcome outcome;
  private final AtomicInteger state = new AtomicInteger(WAITING);
  private volatile @Nullable WireConnection connection;
  // The message for a second time, where a connection may have to authenticate again.
  private final AtomicReference<@Nullable ByteBuf> again = new AtomicReference<>();
  private volatile long waitingSince;

  /** Told what became of a request: one of the methods is called, once. */
  public interface Outcome {
    /**
     * The answer came.
     *
     * @param message the whole message; the caller releases it
     */
    void replied(ByteBuf message);

    /** The request, which expects no answer, was sent. */
    void sent();

    /**
     * No answer will come; whether the request was carried out is not known.
     *
     * @param cause an {@link IOException}, or a {@link ServerRefusedException}
     */
    void failed(Throwable cause);

    /**
     * It was certainly not sent, for there was no connection to be had: to be taken for a failure
     * unless that makes a difference.
     *
     * @param cause as of {@link #failed}, or a {@link PoolWaitException}
     */
    default void unsent(Throwable cause) {
      failed(cause);
    }
  }

  Exchange(ServerPool pool, ByteBuf message, boolean expectsReply, Outcome outcome) {
    this.pool = pool;
    this.message = message;
    this.expectsReply = expectsReply;
    this.outcome = outcome;
  }

  void use(WireConnection taken) {
    connection = taken;
    if (!state.compareAndSet(WAITING, SENT)) {
      // Cancelled, and nothing was sent.
      pool.giveBack(taken);
      return;
    }
    if (expectsReply) {
      if (taken.authenticates()) {
        again.set(message.retainedDuplicate());
        if (state.get() == DONE) {
          forgetMessage();
        }
      }
      taken.send(message, new Reply(taken));
    } else {
      taken.send(message, null);
      state.set(DONE);
      pool.giveBack(taken);
      outcome.sent();
    }
  }

  /** There is no connection for it. */
  void unable(Throwable cause) {
    if (state.compareAndSet(WAITING, DONE)) {
      message.release();
      outcome.unsent(cause);
    }
  }

  /**
   * Nobody wants the answer any more; ends the connection if it is still to come.
   *
   * @return whether that came in time: the outcome is told nothing then, neither now nor later
   */
  public boolean cancel() {
    if (state.compareAndSet(WAITING, DONE)) {
      message.release();
      pool.forget(this);
      return true;
    }
    if (!state.compareAndSet(SENT, DONE)) {
      return false;
    }
    WireConnection used = connection;
    if (used != null) {
      used.close();
    }
    forgetMessage();
    return true;
  }

  private void forgetMessage() {
    ByteBuf kept = again.getAndSet(null);
    if (kept != null) {
      kept.release();
    }
  }

  void waitingSince(long nanos) {
    waitingSince = nanos;
  }

  long waitingSince() {
    return waitingSince;
  }

  private final class Reply implements ReplyHandler {
    private final WireConnection used;

    Reply(WireConnection used) {
      this.used = used;
    }

    @Override
    public void replied(ByteBuf reply) {
      int code = ReplyCode.of(reply);
      ByteBuf second = ReplyCode.wantsAuthentication(code) ? again.getAndSet(null) : null;
      if (second != null) {
        // The server has refused the command before it looked at it.
        used.authenticateAgain(() -> sendAgain(second), failure -> notAgain(second, failure));
        return;
      }
      if (state.compareAndSet(SENT, DONE)) {
        forgetMessage();
        if (ReplyCode.isShutdown(code)) {
          pool.clear(used.lifetime().generation());
        }
        pool.giveBack(used);
        outcome.replied(reply);
      }
    }

    private void sendAgain(ByteBuf second) {
      if (state.get() == SENT) {
        used.send(second, this);
      } else {
        // Cancelled meanwhile.
        second.release();
      }
    }

    private void notAgain(ByteBuf second, Throwable cause) {
      second.release();
      if (state.compareAndSet(SENT, DONE)) {
        outcome.failed(cause);
      }
      used.close();
    }

    @Override
    public void failed(IOException cause) {
      if (state.compareAndSet(SENT, DONE)) {
        forgetMessage();
        pool.broken(used);
        outcome.failed(cause);
      }
    }
  }
}
