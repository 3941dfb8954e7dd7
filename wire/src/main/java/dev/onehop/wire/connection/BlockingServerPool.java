package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.NotSentException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The blocking connections to one server. A thread that needs a connection opens it.
 *
 * <p>Thread-safe.
 */
final class BlockingServerPool extends ServerPool<BlockingConnection, BlockingServerPool.Turn> {
  private final WireSettings settings;
  private final ScheduledExecutorService timer;

  /**
   * The wait of a thread. It ends with a connection, or with an {@link Opening}: the thread must
   * then open a connection itself.
   */
  static final class Turn extends CompletableFuture<Optional<BlockingConnection>> {
    private volatile @Nullable Opening opening;

    /** The opening with which the wait ended; called only if it ended without a connection. */
    Opening opening() {
      return Objects.requireNonNull(opening);
    }
  }

  /**
   * @param timer enforces time limits
   */
  BlockingServerPool(
      ServerAddressName server,
      WireSettings settings,
      ScheduledExecutorService timer,
      ConnectionSlots slots) {
    super(server, settings.pool(), slots, true);
    this.settings = settings;
    this.timer = timer;
  }

  /** Like {@link BlockingPool#take}. */
  BlockingConnection take(TimeLimit limit, Cancellation abort) throws IOException {
    Turn turn = new Turn();
    BlockingConnection ready = take(turn, null);
    if (ready != null) {
      return ready;
    }
    Optional<BlockingConnection> handed = await(turn, limit, abort);
    return handed.isPresent() ? handed.get() : open(turn.opening(), limit, abort);
  }

  @Override
  void open(Opening opening, @Nullable Turn waiter) {
    Turn turn = Objects.requireNonNull(waiter);
    turn.opening = opening;
    if (!turn.complete(Optional.empty())) {
      notOpened(opening, null);
    }
  }

  @Override
  boolean hand(Turn turn, BlockingConnection connection) {
    return turn.complete(Optional.of(connection));
  }

  @Override
  void fail(Turn turn, Throwable why) {
    turn.completeExceptionally(why);
  }

  private BlockingConnection open(Opening opening, TimeLimit limit, Cancellation abort)
      throws IOException {
    abort.by(opening.abort::abort);
    BlockingConnection connection;
    try {
      connection = BlockingConnection.open(server(), settings, timer, limit, opening.abort);
    } catch (Throwable failure) {
      notOpened(opening, isOfTheCaller(failure, abort) ? null : failure);
      throw failure;
    }
    if (!opened(opening, connection)) {
      throw new SocketException("Socket closed");
    }
    return connection;
  }

  /**
   * Whether the caller has caused a failure, by its time limit, an interrupt or a cancellation.
   * Otherwise the server has caused it.
   */
  private static boolean isOfTheCaller(Throwable failure, Cancellation abort) {
    return failure instanceof InterruptedIOException
        || abort.isAborted()
        || Thread.currentThread().isInterrupted();
  }

  private Optional<BlockingConnection> await(Turn turn, TimeLimit limit, Cancellation abort)
      throws IOException {
    abort.by(() -> turn.cancel(false));
    try {
      long wait = wait(limit);
      return wait < 0 ? turn.get() : turn.get(wait, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      giveUp(turn);
      throw limit.isPassed()
          ? TimeLimit.timedOut()
          : ServerPool.waitedInVain(server(), limits().maxWait());
    } catch (SocketTimeoutException e) {
      giveUp(turn);
      throw e;
    } catch (InterruptedException e) {
      giveUp(turn);
      throw BlockingConnection.interrupted(e);
    } catch (CancellationException e) {
      leave(turn);
      throw new SocketException("Socket closed");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof ServerRefusedException refused) {
        throw refused;
      }
      if (e.getCause() instanceof NotSentException unsent) {
        throw unsent;
      }
      Throwable cause = Objects.requireNonNull(e.getCause());
      throw new IOException(String.valueOf(cause.getMessage()), cause);
    }
  }

  /** Ends the wait. If a connection has arrived in the meantime, it goes back to the pool. */
  private void giveUp(Turn turn) {
    leave(turn);
    if (!turn.cancel(false) && !turn.isCompletedExceptionally()) {
      turn.join().ifPresentOrElse(this::giveBack, () -> notOpened(turn.opening(), null));
    }
  }

  /** The longest wait in milliseconds, negative for no limit. */
  private long wait(TimeLimit limit) throws IOException {
    long most = limits().maxWait().toMillis();
    int left = limit.remainingMillis();
    return left == 0 ? most : most < 0 ? left : Math.min(left, most);
  }
}
