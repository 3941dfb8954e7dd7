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
 * The connections to one server. A request takes an idle one, or waits in line for the first that
 * is given back or opened. When the server proves to be gone or restarting, the pool is cleared:
 * connections of an earlier generation serve no further request. Source: the drivers'
 * specifications "Connection Monitoring and Pooling" and "Server Discovery and Monitoring".
 *
 * <p>Who opens a connection depends on the kind. Either the pool does, for the first in line when
 * it is open. Or who waits opens it for itself, and leaves the line for that; then {@code minSize}
 * is not kept, and clearing the pool leaves the opening to whom it belongs.
 *
 * <p>Thread-safe. Nothing foreign is called under the lock.
 *
 * @param <C> a connection
 * @param <W> waits for one
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
  // Those that are open, idle or not.
  private final Set<C> connections = new HashSet<>();
  private int generation;
  // Whether the server could be reached last time: else none are opened in advance.
  private boolean reachable;
  private boolean closed;

  /** A connection that is being opened. */
  static final class Opening {
    /** The generation in which it began. */
    final int born;

    /** The event loop that the connection is to be on, null for none. */
    final @Nullable EventLoop loop;

    /** Ends it. */
    final Cancellation abort = new Cancellation();

    Opening(int born, @Nullable EventLoop loop) {
      this.born = born;
      this.loop = loop;
    }
  }

  /**
   * A place in the line.
   *
   * @param born the generation in which the waiting began
   * @param since when it began, by {@link System#nanoTime}
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
   * @param slots of the server, which other pools may use, too
   * @param waitersOpen whether who waits for a connection opens one for itself
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
   * Begins to open a connection; {@link #opened} or {@link #notOpened} ends that.
   *
   * @param waiter who is to open it, null if the pool is
   */
  abstract void open(Opening opening, @Nullable W waiter);

  /** Gives a connection to who waited for it; false if that does not wait any more. */
  abstract boolean hand(W waiter, C connection);

  /** There is no connection for it. */
  abstract void fail(W waiter, Throwable why);

  /** The event loop for the next connection, null if connections are on none. */
  @Nullable EventLoop nextLoop() {
    return null;
  }

  /** A connection broke, or could not be opened. */
  void failed() {}

  /**
   * Connections of earlier generations are to be closed.
   *
   * @param why requests under way fail, null if they do not
   */
  void cleared(int now, @Nullable IOException why) {}

  ServerAddressName server() {
    return server;
  }

  PoolLimits limits() {
    return limits;
  }

  /** How many connections are open or being opened. */
  final synchronized int open() {
    return connections.size() + openings.size();
  }

  final synchronized int generation() {
    return generation;
  }

  /** Whether one more request would have a connection without waiting for another's. */
  final synchronized boolean hasRoom() {
    return !idle.isEmpty() || slots.hasRoomBeside(line.size() - openings.size());
  }

  /**
   * Takes an idle connection.
   *
   * @param waiter gets one later, or why there is none, if this returns null
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

  /** Opens as many connections as requests wait for, or as there are to be at least. */
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
   * Opens a connection on a loop, after a request from there took one of another loop. Else that
   * one might be taken ever after, and each request and answer would change threads.
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
   * A connection is open. If the pool opened it, the first in line gets it.
   *
   * @return false if the opening was given up meanwhile: the connection is closed
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
   * A connection could not be opened.
   *
   * @param failure of the server, which what has waited since then would have, too; null if it says
   *     nothing of the server
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

  /** Fails requests, each of them whatever becomes of the others. */
  private void fail(List<W> never, Throwable why) {
    Each.of(never, waiter -> fail(waiter, why));
  }

  /**
   * Ends what was opened before the server was found to be gone, as far as it is not in use.
   *
   * @param born the generation of the connection that found it, which may be of the past
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
   * The server is gone, or was: no connection from before is used again.
   *
   * @param interrupt whether requests under way fail now; those that are not sent yet fail, too
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

  /** A connection broke under a request. */
  public final void broken(C connection) {
    failed();
    clear(connection.lifetime().generation());
  }

  /** A connection's request was answered, or it was just opened. */
  public final void giveBack(C connection) {
    // Those that wait have got another one when it was closed.
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

  /** It does not wait any more. */
  final synchronized void leave(W waiter) {
    line.removeIf(place -> place.waiter() == waiter);
  }

  /** Closes what is too old, fails what has waited for too long, and opens what is to be there. */
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
      // For the first in line, connections are being opened, which has an end of its own.
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
            + ": all it may have are in use");
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
    // The event loops may end before these do.
    Each.of(ended, this::giveUp);
    Each.of(unused, PooledConnection::close);
    fail(never, clientIsClosed());
  }

  static IOException clientIsClosed() {
    return new IOException("the client is closed");
  }
}
