package dev.onehop.wire.connection;

import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.PoolWaitException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/** A request on its way to one server, and the answer on its way back. Thread-safe. */
public final class Exchange {
  private static final int WAITING = 0;
  private static final int SENT = 1;
  private static final int DONE = 2;

  private static final OpMsg PING =
      OpMsg.command(
          new BsonDocument("ping", new BsonInt32(1)).append("$db", new BsonString("admin")));

  private final Pool pool;
  private final boolean expectsReply;
  private final SharingRules.Use use;
  private final Outcome outcome;
  private final AtomicInteger state = new AtomicInteger(WAITING);
  private volatile ByteBuf message;
  // Null as long as it has no connection of its own.
  private volatile @Nullable WireConnection connection;
  // The message for a second time, where a connection may have to authenticate again.
  private final AtomicReference<@Nullable ByteBuf> again = new AtomicReference<>();
  private volatile long waitingSince;

  /** Where a request gets a connection. Thread-safe. */
  interface Pool {
    /** Whether requests share connections beside those that each have one of its own. */
    boolean isShared();

    /** A request was cancelled before it was sent. */
    void forget(Exchange exchange);

    /** A connection's request was answered. */
    void giveBack(WireConnection connection);

    /** A connection broke under a request. */
    void broken(WireConnection connection);

    /**
     * Ends what was opened before the server was found to be gone, as far as it is not in use.
     *
     * @param born the generation of the connection that found it, which may be of the past
     */
    void clear(int born);
  }

  /** Told what became of a request: one of the methods is called, once. */
  public interface Outcome {
    /**
     * The answer came.
     *
     * @param message the whole message; the caller releases it
     */
    void replied(ByteBuf message);

    /** The request, which expects no answer, was sent; where others share connections, done. */
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

  /**
   * @param use whether it may be sent among others, if the pool has connections for that
   */
  Exchange(
      Pool pool, ByteBuf message, boolean expectsReply, SharingRules.Use use, Outcome outcome) {
    this.pool = pool;
    this.message = message;
    this.expectsReply = expectsReply;
    this.use = use;
    this.outcome = outcome;
  }

  /** Whether it may be sent among others. */
  boolean mayShare() {
    return use != SharingRules.Use.OWN;
  }

  /** Whether it may wait in the server, so that only its like may come behind it. */
  boolean mayWait() {
    return use == SharingRules.Use.MAY_WAIT;
  }

  /** Whether it was answered, has failed or was cancelled. */
  boolean isDone() {
    return state.get() == DONE;
  }

  /**
   * Takes the message, to send it among others.
   *
   * @param mayBeRefused whether the server may want the connection to authenticate again
   * @return null if it was cancelled, and nothing is to be sent
   */
  @Nullable ByteBuf begin(boolean mayBeRefused) {
    ByteBuf sent = message;
    if (!state.compareAndSet(WAITING, SENT)) {
      return null;
    }
    if (mayBeRefused) {
      keepMessage(sent);
    }
    return sent;
  }

  private void keepMessage(ByteBuf sent) {
    again.set(sent.retainedDuplicate());
    if (isDone()) {
      forgetMessage();
    }
  }

  /**
   * Begins anew what a shared connection was refused.
   *
   * @return false if it was cancelled, or the message was not kept
   */
  boolean restart() {
    ByteBuf second = again.getAndSet(null);
    if (second == null) {
      return false;
    }
    message = second;
    if (!state.compareAndSet(SENT, WAITING)) {
      second.release();
      return false;
    }
    return true;
  }

  /** The answer came among others. False if nothing waits for it any more. */
  boolean answered(ByteBuf reply) {
    if (!state.compareAndSet(SENT, DONE)) {
      return false;
    }
    forgetMessage();
    outcome.replied(reply);
    return true;
  }

  /** The connection broke that it was sent on among others. */
  void broken(IOException cause) {
    if (state.compareAndSet(SENT, DONE)) {
      forgetMessage();
      outcome.failed(cause);
    }
  }

  /** Sends it on a connection of its own. */
  void use(WireConnection taken) {
    connection = taken;
    if (!state.compareAndSet(WAITING, SENT)) {
      // Cancelled, and nothing was sent.
      pool.giveBack(taken);
      return;
    }
    if (expectsReply) {
      if (taken.authenticates()) {
        keepMessage(message);
      }
      taken.send(message, new Reply(taken));
      return;
    }
    taken.send(message, null);
    if (pool.isShared()) {
      // What the client asks for next may go on another connection: not before this is done.
      ByteBuf ping = ByteBufAllocator.DEFAULT.buffer(64);
      PING.encode(ping);
      taken.send(ping, new Reply(taken));
    } else {
      state.set(DONE);
      pool.giveBack(taken);
      outcome.sent();
    }
  }

  /** There is no connection for it. */
  void unable(Throwable cause) {
    if (state.compareAndSet(WAITING, DONE)) {
      try {
        message.release();
      } finally {
        outcome.unsent(cause);
      }
    }
  }

  /**
   * Drops the answer. If it is still to come, a connection of its own is closed; on one with
   * others, the answer is dropped.
   *
   * @return whether that came in time: the outcome is not called then, neither now nor later
   */
  public boolean cancel() {
    // What was sent may begin anew between the two.
    while (!isDone()) {
      if (state.compareAndSet(WAITING, DONE)) {
        message.release();
        pool.forget(this);
        return true;
      }
      if (state.compareAndSet(SENT, DONE)) {
        WireConnection used = connection;
        if (used != null) {
          used.close();
        }
        forgetMessage();
        return true;
      }
    }
    return false;
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
        if (expectsReply) {
          outcome.replied(reply);
        } else {
          outcome.sent();
        }
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
