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

/** A request to one server and its reply. Thread-safe. */
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
  // Null until the request has a connection that it does not share.
  private volatile @Nullable WireConnection connection;
  // A copy of the message, in case the connection has to authenticate again.
  private final AtomicReference<@Nullable ByteBuf> again = new AtomicReference<>();
  private volatile long waitingSince;

  /** The pool from which a request gets its connection. Thread-safe. */
  interface Pool {
    /** Whether the pool also has shared connections. */
    boolean isShared();

    /** Called when a request was cancelled before it was sent. */
    void forget(Exchange exchange);

    /** Called when the request of a connection has its reply. */
    void giveBack(WireConnection connection);

    /** Called when a connection broke during a request. */
    void broken(WireConnection connection);

    /**
     * Closes unused connections that were opened before the server was found to be down.
     *
     * @param born the generation of the connection that broke. Nothing happens if the pool has a
     *     later generation
     */
    void clear(int born);
  }

  /** Receives the outcome of a request: only one of the methods is called, and only once. */
  public interface Outcome {
    /**
     * The reply has arrived.
     *
     * @param message the whole message; the caller releases it
     */
    void replied(ByteBuf message);

    /**
     * An unacknowledged request was sent. If the pool has shared connections, the server has also
     * executed the request.
     */
    void sent();

    /**
     * No reply will arrive; it is unknown whether the request was executed.
     *
     * @param cause an {@link IOException}, or a {@link ServerRefusedException}
     */
    void failed(Throwable cause);

    /**
     * The request was certainly not sent, because there was no connection. The default
     * implementation calls {@link #failed}.
     *
     * @param cause as in {@link #failed}, or a {@link PoolWaitException}
     */
    default void unsent(Throwable cause) {
      failed(cause);
    }
  }

  /**
   * @param use the kind of connection for the request, as the sharing rules decide
   */
  Exchange(
      Pool pool, ByteBuf message, boolean expectsReply, SharingRules.Use use, Outcome outcome) {
    this.pool = pool;
    this.message = message;
    this.expectsReply = expectsReply;
    this.use = use;
    this.outcome = outcome;
  }

  /** Whether the request may use a shared connection. */
  boolean mayShare() {
    return use != SharingRules.Use.OWN;
  }

  /**
   * Whether the request may wait in the server. On its connection, only requests that may wait,
   * too, may follow it.
   */
  boolean mayWait() {
    return use == SharingRules.Use.MAY_WAIT;
  }

  /** Whether the request has its reply, has failed or was cancelled. */
  boolean isDone() {
    return state.get() == DONE;
  }

  /**
   * Returns the message, to send it on a shared connection.
   *
   * @param mayBeRefused whether the server may require the connection to authenticate again
   * @return null if the request was cancelled, so that nothing is sent
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
   * Prepares a request for another attempt, after the server refused it on a shared connection.
   *
   * @return false if the request was cancelled, or its message was not kept
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

  /**
   * Completes the request with a reply from a shared connection. Returns false if the request was
   * cancelled.
   */
  boolean answered(ByteBuf reply) {
    if (!state.compareAndSet(SENT, DONE)) {
      return false;
    }
    forgetMessage();
    outcome.replied(reply);
    return true;
  }

  /** Fails the request, because its shared connection broke. */
  void broken(IOException cause) {
    if (state.compareAndSet(SENT, DONE)) {
      forgetMessage();
      outcome.failed(cause);
    }
  }

  /** Sends the request on a connection that it does not share. */
  void use(WireConnection taken) {
    connection = taken;
    if (!state.compareAndSet(WAITING, SENT)) {
      // The request was cancelled before it was sent.
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
      // The client's next request may use another connection, but the server must execute this
      // request first. The reply to a ping on this connection shows that the server has executed
      // it.
      ByteBuf ping = ByteBufAllocator.DEFAULT.buffer(64);
      PING.encode(ping);
      taken.send(ping, new Reply(taken));
    } else {
      state.set(DONE);
      pool.giveBack(taken);
      outcome.sent();
    }
  }

  /** Fails the request, because there is no connection. */
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
   * Cancels the request. If the reply has not arrived, an unshared connection is closed; on a
   * shared connection, the reply is dropped.
   *
   * @return whether the cancellation was in time. The {@link Outcome} is then never called
   */
  public boolean cancel() {
    // The checks are in a loop, because between them restart may change the state from SENT to
    // WAITING.
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
        // The server has not executed the command, so it can be sent again.
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
        // The request was cancelled during the authentication.
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
