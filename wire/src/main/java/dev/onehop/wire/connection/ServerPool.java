package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.WireSettings.PoolLimits;
import dev.onehop.wire.message.PoolWaitException;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The connections to one server. A request takes an idle connection, or queues for the first
 * connection that is given back or opened. When the server is found to be down or restarting, the
 * pool is cleared: connections of an earlier generation serve no further request. Source: the
 * drivers' specifications "Connection Monitoring and Pooling" and "Server Discovery and
 * Monitoring".
 *
 * <p>There are two kinds of pools. In the first kind, the pool opens connections and assigns each
 * to the first waiter in the queue. In the second kind, a waiter leaves the queue and opens a
 * connection for itself. Such a pool ignores {@code minSize}, and clearing it does not end the
 * waiters' openings.
 *
 * <p>Thread-safe. No code outside the pool is called under the lock.
 *
 * @param <C> the type of connections
 * @param <W> the type of waiters
 */
abstract class ServerPool<C extends PooledConnection, W> {
  private final ServerAddressName server;
  private final PoolLimits limits;
  private final ConnectionSlots slots;
  private final boolean waitersOpen;
  private final ConnectionSlots.Pool forOthers = new ForOthers();
  private final Deque<C> idle = new ArrayDeque<>();
  private final Deque<Place<W>> line = new ArrayDeque<>();
  private final Set<Opening> openings = new HashSet<>();
  // The open connections, idle or not.
  private final Set<C> connections = new HashSet<>();
  private int generation;
  // Whether the last attempt reached the server; otherwise no connection is opened in advance.
  private boolean reachable;
  private boolean closed;

  /** A connection that is being opened. */
  static final class Opening {
    /** The generation in which the opening began. */
    final int born;

    /** The event loop for the connection, null for none. */
    final @Nullable EventLoop loop;

    /** Ends the opening. */
    final Cancellation abort = new Cancellation();

    Opening(int born, @Nullable EventLoop loop) {
      this.born = born;
      this.loop = loop;
    }
  }

  /**
   * A place in the queue.
   *
   * @param born the generation in which the wait began
   * @param since the time when the wait began, by {@link System#nanoTime}
   */
  private record Place<W>(W waiter, int born, long since) {}

  private final class ForOthers implements ConnectionSlots.Pool {
    @Override
    public void mayOpen() {
      grow(null);
    }

    @Override
    public boolean isWaiting() {
      synchronized (ServerPool.this) {
        return !line.isEmpty();
      }
    }

    @Override
    public boolean closeIdle() {
      C unused;
      synchronized (ServerPool.this) {
        unused = idle.pollLast();
      }
      if (unused != null) {
        unused.close();
      }
      return unused != null;
    }
  }

  /**
   * @param slots the connection slots of the server, which other pools may share
   * @param waitersOpen whether a waiter opens a connection for itself
   */
  ServerPool(
      ServerAddressName server, PoolLimits limits, ConnectionSlots slots, boolean waitersOpen) {
    this.server = server;
    this.limits = limits;
    this.slots = slots;
    this.waitersOpen = waitersOpen;
    slots.add(forOthers);
  }

  /**
   * Starts to open a connection; {@link #opened} or {@link #notOpened} must be called at the end.
   *
   * @param waiter the waiter that opens the connection, null if the pool opens it
   */
  abstract void open(Opening opening, @Nullable W waiter);

  /** Assigns a connection to a waiter; returns false if the waiter has left. */
  abstract boolean hand(W waiter, C connection);

  /** Fails a waiter. */
  abstract void fail(W waiter, Throwable why);

  /** The event loop for the next connection, null for connections without event loops. */
  @Nullable EventLoop nextLoop() {
    return null;
  }

  /** Called when a connection broke or could not be opened. */
  void failed() {}

  /**
   * Called to close connections of earlier generations.
   *
   * @param now the new generation
   * @param why the reason with which requests in flight fail, null if they continue
   */
  void cleared(int now, @Nullable IOException why) {}

  ServerAddressName server() {
    return server;
  }

  PoolLimits limits() {
    return limits;
  }

  /** The number of connections that are open or being opened. */
  final synchronized int open() {
    return connections.size() + openings.size();
  }

  final synchronized int generation() {
    return generation;
  }

  /**
   * Whether one more request would get a connection without waiting until another request returns
   * its connection.
   */
  final synchronized boolean hasRoom() {
    return !idle.isEmpty() || slots.hasRoomBeside(line.size() - openings.size());
  }

  /**
   * Takes an idle connection.
   *
   * @param waiter receives a connection or a failure later, if this returns null
   * @param preferred the event loop whose connections to prefer, null for any
   */
  final @Nullable C take(W waiter, @Nullable EventLoop preferred) {
    List<C> old = new ArrayList<>(0);
    C ready;
    boolean late;
    synchronized (this) {
      long now = System.nanoTime();
      late = closed;
      ready = late ? null : pollIdle(preferred, now, old);
      if (ready == null && !late) {
        line.addLast(new Place<>(waiter, generation, now));
      }
    }
    Each.of(old, PooledConnection::close);
    if (late) {
      fail(waiter, clientIsClosed());
    } else if (ready == null) {
      grow(preferred);
    }
    return ready;
  }

  private @Nullable C pollIdle(@Nullable EventLoop preferred, long now, List<C> old) {
    C other = null;
    for (Iterator<C> each = idle.iterator(); each.hasNext(); ) {
      C connection = each.next();
      if (isOld(connection, now)) {
        each.remove();
        old.add(connection);
      } else if (preferred == null || connection.isOn(preferred)) {
        each.remove();
        return connection;
      } else if (other == null) {
        other = connection;
      }
    }
    if (other != null) {
      idle.remove(other);
    }
    return other;
  }

  private boolean isOld(C connection, long now) {
    return connection.lifetime().isOver(limits, generation, now);
  }

  /** Opens the connections that waiters need or that minSize requires. */
  private void grow(@Nullable EventLoop preferred) {
    while (true) {
      EventLoop loop = preferred == null ? nextLoop() : preferred;
      Opening opening = null;
      W waiter = null;
      boolean needed;
      synchronized (this) {
        needed = line.size() > (waitersOpen ? 0 : openings.size());
        boolean inAdvance = !waitersOpen && reachable && open() < limits.minSize();
        if (closed || !(needed || inAdvance)) {
          return;
        }
        if (slots.tryOpen()) {
          opening = new Opening(generation, loop);
          openings.add(opening);
          waiter = waitersOpen ? line.removeFirst().waiter() : null;
        }
      }
      if (opening == null) {
        if (needed) {
          slots.makeRoom(forOthers);
        }
        return;
      }
      open(opening, waiter);
    }
  }

  /**
   * Opens a connection on a loop, after a request of this loop took a connection of another loop.
   * Otherwise the loop's requests might always use the other loop's connection, and each request
   * and reply would need a context switch.
   */
  final void growOn(EventLoop loop) {
    Opening opening;
    synchronized (this) {
      if (closed
          || !line.isEmpty()
          || openings.stream().anyMatch(each -> each.loop == loop)
          || !slots.tryOpen()) {
        return;
      }
      opening = new Opening(generation, loop);
      openings.add(opening);
    }
    open(opening, null);
  }

  /**
   * Called when a connection is open. If the pool opened it, the first waiter receives it.
   *
   * @return false if the opening was abandoned before, so that the connection is closed
   */
  final boolean opened(Opening opening, C connection) {
    boolean wanted;
    synchronized (this) {
      wanted = openings.remove(opening);
      reachable |= wanted;
      if (wanted) {
        connections.add(connection);
      }
      connection.opened(new Lifetime(opening.born, System.nanoTime()));
    }
    if (!wanted) {
      connection.close();
      return false;
    }
    try {
      connection.whenClosed(() -> closed(connection));
      if (!waitersOpen) {
        giveBack(connection);
      }
    } finally {
      slots.opened();
    }
    return true;
  }

  /**
   * Called when a connection could not be opened.
   *
   * @param failure the failure of the server; null if the server is not the cause. Waiters of the
   *     opening's generation and of earlier generations fail with the same exception
   */
  final void notOpened(Opening opening, @Nullable Throwable failure) {
    List<W> never = List.of();
    synchronized (this) {
      if (!openings.remove(opening)) {
        return;
      }
      if (failure != null) {
        reachable = false;
        never = leaveLine(place -> place.born() <= opening.born);
      }
    }
    try {
      if (failure != null) {
        failed();
        clear(opening.born);
      }
    } finally {
      if (failure != null) {
        fail(never, failure);
      }
      slots.notOpened();
    }
  }

  private List<W> leaveLine(Predicate<Place<W>> condition) {
    List<W> left = new ArrayList<>(0);
    line.removeIf(place -> condition.test(place) && left.add(place.waiter()));
    return left;
  }

  /** Fails all waiters. If the call for one waiter throws, the other waiters are failed, too. */
  private void fail(List<W> never, Throwable why) {
    Each.of(never, waiter -> fail(waiter, why));
  }

  /**
   * Closes unused connections that were opened before the server was found to be down.
   *
   * @param born the generation of the connection that broke. Nothing happens if the pool has a
   *     later generation
   */
  public final void clear(int born) {
    List<C> old;
    List<Opening> ended;
    int next;
    synchronized (this) {
      if (born != generation) {
        return;
      }
      old = List.copyOf(idle);
      ended = nextGeneration(!waitersOpen);
      next = generation;
    }
    Each.of(ended, this::giveUp);
    Each.of(old, PooledConnection::close);
    cleared(next, null);
    grow(null);
  }

  private void giveUp(Opening opening) {
    try {
      opening.abort.abort();
    } finally {
      slots.notOpened();
    }
  }

  private List<Opening> nextGeneration(boolean endsOpenings) {
    generation++;
    idle.clear();
    List<Opening> ended = endsOpenings ? List.copyOf(openings) : List.of();
    ended.forEach(openings::remove);
    return ended;
  }

  /**
   * Stops the use of all open connections, because the server is or was down.
   *
   * @param interrupt whether requests in flight and waiting requests fail now
   */
  final void reset(boolean interrupt, IOException why) {
    List<C> unused;
    List<C> used = List.of();
    List<W> never = List.of();
    List<Opening> ended;
    int next;
    synchronized (this) {
      unused = List.copyOf(idle);
      ended = nextGeneration(interrupt || !waitersOpen);
      next = generation;
      if (interrupt) {
        used = List.copyOf(connections);
        never = leaveLine(place -> true);
      }
    }
    Each.of(ended, this::giveUp);
    Each.of(unused, PooledConnection::close);
    Each.of(used, connection -> connection.abort(why));
    fail(never, why);
    cleared(next, interrupt ? why : null);
    grow(null);
  }

  /** Called when a connection broke during a request. */
  public final void broken(C connection) {
    failed();
    clear(connection.lifetime().generation());
  }

  /** Called when a connection has no request: it was just opened, or the reply has arrived. */
  public final void giveBack(C connection) {
    // The loop ends if the connection is closed. Waiters then get other connections.
    while (connection.isOpen()) {
      Place<W> next = null;
      boolean wantedElsewhere = slots.isWantedElsewhere(forOthers);
      boolean old;
      synchronized (this) {
        long now = System.nanoTime();
        connection.lifetime().idleSince(now);
        old = closed || isOld(connection, now);
        if (!old) {
          next = line.pollFirst();
          if (next == null && !wantedElsewhere) {
            idle.addFirst(connection);
            return;
          }
        }
      }
      if (next == null) {
        connection.close();
      } else if (hand(next.waiter(), connection)) {
        return;
      }
    }
  }

  private void closed(C connection) {
    synchronized (this) {
      idle.remove(connection);
      connections.remove(connection);
    }
    slots.closed();
  }

  /** Removes a waiter from the queue. */
  final synchronized void leave(W waiter) {
    line.removeIf(place -> place.waiter() == waiter);
  }

  /**
   * Closes connections that are too old, fails waiters after their time limit, and opens
   * connections up to minSize.
   */
  void sweep(long now) {
    List<C> old = new ArrayList<>();
    List<C> stalled = new ArrayList<>(0);
    List<W> late = new ArrayList<>();
    long maxWait = limits.maxWait().toNanos();
    synchronized (this) {
      for (Iterator<C> each = idle.iterator(); each.hasNext(); ) {
        C connection = each.next();
        if (isOld(connection, now)) {
          each.remove();
          old.add(connection);
        }
      }
      for (C each : connections) {
        if (each.lifetime().isStalled(each.unsentBytes(), now)) {
          stalled.add(each);
        }
      }
      // The limit does not apply to the first waiters. Their connections are being opened, and an
      // opening has its own time limit.
      int served = waitersOpen ? 0 : openings.size();
      for (Iterator<Place<W>> each = line.iterator(); each.hasNext(); ) {
        Place<W> place = each.next();
        if (served-- <= 0 && maxWait >= 0 && now - place.since() > maxWait) {
          each.remove();
          late.add(place.waiter());
        }
      }
    }
    Each.of(old, PooledConnection::close);
    Each.of(stalled, each -> each.abort(Lifetime.stalled(server)));
    fail(late, waitedInVain(server, limits.maxWait()));
    grow(null);
  }

  static IOException waitedInVain(ServerAddressName server, Duration time) {
    return new PoolWaitException(
        "timed out after "
            + time.toMillis()
            + " ms while waiting for a connection to "
            + server
            + ": all connections are in use");
  }

  void close() {
    List<C> unused;
    List<W> never;
    List<Opening> ended;
    synchronized (this) {
      closed = true;
      unused = List.copyOf(idle);
      idle.clear();
      never = leaveLine(place -> true);
      ended = List.copyOf(openings);
      openings.clear();
    }
    // The openings are ended here, because the event loops may end first. The openings would then
    // never end.
    Each.of(ended, this::giveUp);
    Each.of(unused, PooledConnection::close);
    fail(never, clientIsClosed());
  }

  static IOException clientIsClosed() {
    return new IOException("the client is closed");
  }
}
