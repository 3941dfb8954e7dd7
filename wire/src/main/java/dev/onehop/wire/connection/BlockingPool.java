package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.NotSentException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Blocking connections to any number of servers, for threads that send and wait themselves. {@code
 * minSize} is not kept: a thread that needs a connection opens it. Is cleared and reset as a {@link
 * ServerPool} is, but connections that threads are opening at the time end only if requests under
 * way fail, too.
 *
 * <p>Thread-safe. A thread that waits for a connection is interruptible.
 */
public final class BlockingPool implements AutoCloseable {
  private static final long SWEEP_MILLIS = 500;

  private final WireSettings settings;
  private final WireSettings.PoolLimits limits;
  private final Function<ServerAddressName, ConnectionSlots> slotsOf;
  private final ScheduledExecutorService timer;
  private final Map<ServerAddressName, Server> servers = new ConcurrentHashMap<>();
  private final Future<?> sweeping;
  private volatile boolean closed;

  /**
   * @param timer ends what takes too long; stays the caller's
   */
  public BlockingPool(WireSettings settings, ScheduledExecutorService timer) {
    this(settings, timer, server -> new ConnectionSlots(settings.pool()));
  }

  /**
   * @param timer ends what takes too long; stays the caller's
   * @param slots of each server, which other pools may use, too
   */
  BlockingPool(
      WireSettings settings,
      ScheduledExecutorService timer,
      Function<ServerAddressName, ConnectionSlots> slots) {
    this.slotsOf = slots;
    this.settings = settings;
    this.limits = settings.pool();
    this.timer = timer;
    this.sweeping =
        timer.scheduleWithFixedDelay(
            () -> Each.of(servers.values(), Server::sweep),
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
      server.released(connection);
    }
  }

  /** Closes a connection that broke, and the idle ones beside it, which may have broken, too. */
  public void broken(BlockingConnection connection) {
    discard(connection);
    Server server = servers.get(connection.server());
    if (server != null) {
      server.clear(connection.lifetime().generation());
    }
  }

  /**
   * Uses no connection to a server again that was opened before, for the server is gone or was.
   *
   * @param interrupt whether what is under way there fails now, too, with {@code why}
   */
  public void reset(ServerAddressName server, boolean interrupt, IOException why) {
    Server pool = servers.get(server);
    if (pool != null) {
      pool.reset(interrupt, why);
    }
  }

  /** The servers that anything was sent to. */
  public Set<ServerAddressName> servers() {
    return Set.copyOf(servers.keySet());
  }

  /** Closes the connections that are idle now, the others when they are given back. */
  @Override
  public void close() {
    closed = true;
    sweeping.cancel(false);
    Each.of(servers.values(), Server::close);
  }

  /** What a thread waits for: a connection, or nothing, and then it may open one. */
  private static final class Turn extends CompletableFuture<Optional<BlockingConnection>> {
    /** The generation in which it began to wait. */
    final int born;

    Turn(int born) {
      this.born = born;
    }
  }

  /** The connections to one server. Nothing foreign is called under the lock. */
  private final class Server implements ConnectionSlots.Pool {
    private final ServerAddressName name;
    private final ConnectionSlots slots;
    private final Deque<BlockingConnection> idle = new ArrayDeque<>();
    // Those that are open, idle or not.
    private final Set<BlockingConnection> connections = new HashSet<>();
    // Ends those that are being opened.
    private final Set<Abort> openings = new HashSet<>();
    private final Deque<Turn> waiting = new ArrayDeque<>();
    private int generation;

    Server(ServerAddressName name) {
      this.name = name;
      this.slots = slotsOf.apply(name);
      slots.add(this);
    }

    BlockingConnection take(TimeLimit limit, Abort abort) throws IOException {
      Turn turn = null;
      List<BlockingConnection> old = new ArrayList<>(0);
      BlockingConnection ready;
      synchronized (this) {
        if (closed) {
          throw ServerPool.clientIsClosed();
        }
        ready = pollIdle(old);
        if (ready == null && !slots.tryOpen()) {
          turn = new Turn(generation);
          waiting.addLast(turn);
        }
      }
      close(old);
      if (turn != null) {
        slots.makeRoom(this);
      }
      if (ready != null) {
        return ready;
      }
      Optional<BlockingConnection> handed =
          turn == null ? Optional.empty() : await(turn, limit, abort);
      return handed.isPresent() ? handed.get() : open(limit, abort);
    }

    private @Nullable BlockingConnection pollIdle(List<BlockingConnection> old) {
      long now = System.nanoTime();
      BlockingConnection next = idle.pollFirst();
      while (next != null && next.lifetime().isOver(limits, generation, now)) {
        old.add(next);
        next = idle.pollFirst();
      }
      return next;
    }

    private BlockingConnection open(TimeLimit limit, Abort abort) throws IOException {
      Abort ending = new Abort();
      abort.by(ending::abort);
      int born;
      synchronized (this) {
        born = generation;
        openings.add(ending);
      }
      BlockingConnection opened;
      try {
        opened = BlockingConnection.open(name, settings, timer, limit, ending);
      } catch (Throwable failure) {
        synchronized (this) {
          openings.remove(ending);
        }
        notOpened(born, isOfTheCaller(failure, abort) ? null : failure);
        throw failure;
      }
      synchronized (this) {
        openings.remove(ending);
        connections.add(opened);
        opened.opened(new Lifetime(born, System.nanoTime()));
      }
      slots.opened();
      return opened;
    }

    /** Whether it says nothing of the server: the caller's time is up, or it gave up. */
    private static boolean isOfTheCaller(Throwable failure, Abort abort) {
      return failure instanceof InterruptedIOException
          || abort.isAborted()
          || Thread.currentThread().isInterrupted();
    }

    /**
     * @param failure of the server, which what has waited since then would have, too; else null
     */
    private void notOpened(int born, @Nullable Throwable failure) {
      if (failure == null) {
        slots.notOpened();
        return;
      }
      List<Turn> never;
      synchronized (this) {
        never = waiting.stream().filter(each -> each.born <= born).toList();
        waiting.removeAll(never);
      }
      try {
        clear(born);
      } finally {
        Each.of(never, each -> each.completeExceptionally(failure));
        slots.notOpened();
      }
    }

    private Optional<BlockingConnection> await(Turn turn, TimeLimit limit, Abort abort)
        throws IOException {
      abort.by(() -> turn.cancel(false));
      try {
        long wait = wait(limit);
        try {
          return wait < 0 ? turn.get() : turn.get(wait, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
          if (turn.cancel(false)) {
            throw limit.isPassed()
                ? TimeLimit.timedOut()
                : ServerPool.waitedInVain(name, limits.maxWait());
          }
          return turn.get();
        }
      } catch (InterruptedException e) {
        if (!turn.cancel(false) && !turn.isCompletedExceptionally()) {
          turn.join().ifPresentOrElse(this::giveBack, () -> notOpened(0, null));
        }
        throw BlockingConnection.interrupted(e);
      } catch (CancellationException e) {
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
      } finally {
        synchronized (this) {
          waiting.removeIf(each -> each == turn);
        }
      }
    }

    /** How long to wait in milliseconds, less than nothing for any time. */
    private long wait(TimeLimit limit) throws IOException {
      long most = limits.maxWait().toMillis();
      int left = limit.remainingMillis();
      return left == 0 ? most : most < 0 ? left : Math.min(left, most);
    }

    void giveBack(BlockingConnection connection) {
      if (connection.serverEnds()) {
        clear(connection.lifetime().generation());
      }
      while (connection.isOpen()) {
        Turn next;
        boolean wantedElsewhere = slots.isWantedElsewhere(this);
        synchronized (this) {
          long now = System.nanoTime();
          connection.lifetime().idleSince(now);
          if (closed || connection.lifetime().isOver(limits, generation, now)) {
            break;
          }
          next = waiting.pollFirst();
          if (next == null && wantedElsewhere) {
            break;
          }
          if (next == null) {
            idle.addFirst(connection);
            return;
          }
        }
        if (next.complete(Optional.of(connection))) {
          return;
        }
      }
      close(List.of(connection));
    }

    /** There is one connection less. */
    void released(BlockingConnection connection) {
      synchronized (this) {
        connections.remove(connection);
      }
      slots.closed();
    }

    /** Lets threads that wait open connections, as many as may be. */
    @Override
    public void mayOpen() {
      while (true) {
        Turn next;
        synchronized (this) {
          if (waiting.isEmpty()) {
            return;
          }
          next = slots.tryOpen() ? waiting.pollFirst() : null;
        }
        if (next == null) {
          slots.makeRoom(this);
          return;
        }
        if (!next.complete(Optional.empty())) {
          slots.notOpened();
        }
      }
    }

    @Override
    public synchronized boolean isWaiting() {
      return !waiting.isEmpty();
    }

    @Override
    public boolean closeIdle() {
      BlockingConnection unused;
      synchronized (this) {
        unused = idle.pollLast();
      }
      if (unused != null) {
        close(List.of(unused));
      }
      return unused != null;
    }

    void sweep() {
      List<BlockingConnection> old = new ArrayList<>();
      synchronized (this) {
        long now = System.nanoTime();
        for (Iterator<BlockingConnection> each = idle.iterator(); each.hasNext(); ) {
          BlockingConnection connection = each.next();
          if (connection.lifetime().isOver(limits, generation, now)) {
            each.remove();
            old.add(connection);
          }
        }
      }
      close(old);
      // What another pool has given up meanwhile without a word.
      mayOpen();
    }

    /**
     * Closes what is idle, as the server was found to be gone.
     *
     * @param born the generation of the connection that found it, which may be of the past
     */
    void clear(int born) {
      List<BlockingConnection> old;
      synchronized (this) {
        if (born != generation) {
          return;
        }
        generation++;
        old = List.copyOf(idle);
        idle.clear();
      }
      close(old);
    }

    /** The server is gone, or was: no connection from before is used again. */
    void reset(boolean interrupt, IOException why) {
      List<BlockingConnection> unused;
      List<BlockingConnection> used = List.of();
      List<Abort> unopened = List.of();
      List<Turn> never = List.of();
      synchronized (this) {
        generation++;
        unused = List.copyOf(idle);
        idle.clear();
        if (interrupt) {
          used = List.copyOf(connections);
          unopened = List.copyOf(openings);
          never = List.copyOf(waiting);
          waiting.clear();
        }
      }
      close(unused);
      // Those that have them see to the rest.
      Each.of(used, each -> each.close(why));
      Each.of(unopened, Abort::abort);
      Each.of(never, each -> each.completeExceptionally(why));
    }

    private void close(List<BlockingConnection> ended) {
      Each.of(
          ended,
          connection -> {
            try {
              connection.close();
            } finally {
              released(connection);
            }
          });
    }

    void close() {
      List<Turn> never;
      List<BlockingConnection> unused;
      synchronized (this) {
        never = List.copyOf(waiting);
        waiting.clear();
        unused = List.copyOf(idle);
        idle.clear();
      }
      Each.of(never, each -> each.completeExceptionally(ServerPool.clientIsClosed()));
      close(unused);
    }
  }
}
