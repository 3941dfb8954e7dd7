package dev.onehop.routing.internal.wire;

import java.io.IOException;
import java.net.SocketException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Blocking connections to any number of servers, for threads that send and wait themselves. Has the
 * limits of {@link WireSettings} for itself, beside those of a {@link WirePool}.
 *
 * <p>Thread-safe. A thread that waits for a connection is interruptible.
 */
public final class BlockingPool implements AutoCloseable {
  private static final long SWEEP_MILLIS = 500;

  private final WireSettings settings;
  private final ScheduledExecutorService timer;
  private final ScramKeys keys = new ScramKeys();
  private final Map<ServerAddressName, Server> servers = new ConcurrentHashMap<>();
  private final Future<?> sweeping;
  private volatile boolean closed;

  /**
   * @param timer ends what takes too long; stays the caller's
   */
  public BlockingPool(WireSettings settings, ScheduledExecutorService timer) {
    this.settings = settings;
    this.timer = timer;
    this.sweeping =
        timer.scheduleWithFixedDelay(
            () -> servers.values().forEach(Server::sweep),
            SWEEP_MILLIS,
            SWEEP_MILLIS,
            TimeUnit.MILLISECONDS);
  }

  /**
   * Takes an idle connection, opens one, or waits for one where the server has as many as it may.
   *
   * @param limit until when
   * @param abort ends the waiting, and what is done with the connection until it is cleared
   * @return to be given back or discarded
   * @throws java.net.SocketTimeoutException if the limit passes
   * @throws java.io.InterruptedIOException if the thread is interrupted
   * @throws IOException if the server can't be reached
   * @throws ServerRefusedException if it does not take the user
   */
  public BlockingConnection take(ServerAddressName server, TimeLimit limit, Abort abort)
      throws IOException {
    BlockingConnection taken = servers.computeIfAbsent(server, Server::new).take(limit, abort);
    abort.by(taken::close);
    return taken;
  }

  /** Takes back a connection whose request was answered. */
  public void giveBack(BlockingConnection connection) {
    Server server = servers.get(connection.server());
    if (server != null) {
      server.giveBack(connection);
    }
  }

  /** Closes a connection whose answer is no longer wanted. */
  public void discard(BlockingConnection connection) {
    connection.close();
    Server server = servers.get(connection.server());
    if (server != null) {
      server.released();
    }
  }

  /** Closes a connection that broke, and the idle ones beside it, which may have broken, too. */
  public void broken(BlockingConnection connection) {
    discard(connection);
    Server server = servers.get(connection.server());
    if (server != null) {
      server.clear();
    }
  }

  /** Closes the connections that are idle now, the others when they are given back. */
  @Override
  public void close() {
    closed = true;
    sweeping.cancel(false);
    servers.values().forEach(Server::close);
  }

  private static IOException closedPool() {
    return new IOException("the client is closed");
  }

  /** The connections to one server. Nothing foreign is called under the lock. */
  private final class Server {
    private final ServerAddressName name;
    private final Deque<BlockingConnection> idle = new ArrayDeque<>();
    // A connection, or nothing: then one may be opened.
    private final Deque<CompletableFuture<Optional<BlockingConnection>>> waiting =
        new ArrayDeque<>();
    private int open;

    Server(ServerAddressName name) {
      this.name = name;
    }

    BlockingConnection take(TimeLimit limit, Abort abort) throws IOException {
      CompletableFuture<Optional<BlockingConnection>> turn = null;
      synchronized (this) {
        if (closed) {
          throw closedPool();
        }
        BlockingConnection ready = idle.pollFirst();
        if (ready != null) {
          return ready;
        }
        if (settings.maxPoolSize() > 0 && open >= settings.maxPoolSize()) {
          turn = new CompletableFuture<>();
          waiting.addLast(turn);
        } else {
          open++;
        }
      }
      Optional<BlockingConnection> handed =
          turn == null ? Optional.empty() : await(turn, limit, abort);
      return handed.isPresent() ? handed.get() : open(limit, abort);
    }

    private BlockingConnection open(TimeLimit limit, Abort abort) throws IOException {
      BlockingConnection opened = null;
      try {
        opened = BlockingConnection.open(name, settings, keys, timer, limit, abort);
        return opened;
      } finally {
        if (opened == null) {
          released();
        }
      }
    }

    private Optional<BlockingConnection> await(
        CompletableFuture<Optional<BlockingConnection>> turn, TimeLimit limit, Abort abort)
        throws IOException {
      abort.by(() -> turn.cancel(false));
      try {
        long wait = wait(limit);
        return wait < 0 ? turn.get() : turn.get(wait, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        if (!turn.cancel(false)) {
          return turn.join();
        }
        throw limit.isPassed() ? TimeLimit.timedOut() : tooLong();
      } catch (InterruptedException e) {
        if (!turn.cancel(false) && !turn.isCompletedExceptionally()) {
          turn.join().ifPresentOrElse(this::giveBack, this::released);
        }
        throw BlockingConnection.interrupted(e);
      } catch (CancellationException e) {
        throw new SocketException("Socket closed");
      } catch (ExecutionException e) {
        throw closedPool();
      } finally {
        synchronized (this) {
          waiting.removeIf(each -> each == turn);
        }
      }
    }

    /** How long to wait in milliseconds, less than nothing for any time. */
    private long wait(TimeLimit limit) throws IOException {
      long most = settings.maxWait().toMillis();
      int left = limit.remainingMillis();
      return left == 0 ? most : most < 0 ? left : Math.min(left, most);
    }

    private IOException tooLong() {
      return ServerPool.waitedInVain(name, settings.maxWait());
    }

    void giveBack(BlockingConnection connection) {
      if (!connection.isOpen()) {
        released();
        return;
      }
      while (true) {
        CompletableFuture<Optional<BlockingConnection>> next;
        synchronized (this) {
          next = waiting.pollFirst();
          if (next == null && !closed) {
            connection.idleSince(System.nanoTime());
            idle.addFirst(connection);
            return;
          }
        }
        if (next == null) {
          connection.close();
          return;
        }
        if (next.complete(Optional.of(connection))) {
          return;
        }
      }
    }

    /** There is one connection less: one may be opened for whoever waits. */
    void released() {
      while (true) {
        CompletableFuture<Optional<BlockingConnection>> next;
        synchronized (this) {
          next = waiting.pollFirst();
          if (next == null) {
            open--;
            return;
          }
        }
        if (next.complete(Optional.empty())) {
          return;
        }
      }
    }

    void sweep() {
      long maxIdle = settings.maxIdle().toNanos();
      if (maxIdle > 0) {
        long now = System.nanoTime();
        close(takeIdle(last -> now - last.idleSince() > maxIdle));
      }
    }

    void clear() {
      close(takeIdle(last -> true));
    }

    private List<BlockingConnection> takeIdle(
        java.util.function.Predicate<BlockingConnection> which) {
      List<BlockingConnection> taken = new ArrayList<>();
      synchronized (this) {
        @Nullable BlockingConnection last = idle.peekLast();
        while (last != null && which.test(last)) {
          taken.add(idle.removeLast());
          last = idle.peekLast();
        }
      }
      return taken;
    }

    private void close(List<BlockingConnection> connections) {
      for (BlockingConnection connection : connections) {
        connection.close();
        released();
      }
    }

    void close() {
      List<CompletableFuture<Optional<BlockingConnection>>> never;
      synchronized (this) {
        never = List.copyOf(waiting);
        waiting.clear();
      }
      never.forEach(each -> each.completeExceptionally(closedPool()));
      clear();
    }
  }
}
