package dev.onehop.wire.connection;

import dev.onehop.wire.LateErrors;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.CallerRunsEventLoop;
import dev.onehop.wire.connection.WireSettings.PoolLimits;
import dev.onehop.wire.message.PoolWaitException;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * The connections to one server. A request takes an idle one, or waits in line for the first that
 * is given back or opened. When the server proves to be gone or restarting, the pool is cleared:
 * connections of an earlier generation serve no further request. Source: the drivers'
 * specifications "Connection Monitoring and Pooling" and "Server Discovery and Monitoring".
 *
 * <p>Thread-safe. Nothing foreign is called under the lock.
 */
final class ServerPool implements Exchange.Pool {
  private final ServerAddressName server;
  private final EventLoopGroup group;
  private final WireSettings settings;
  private final PoolLimits limits;
  private final ConnectionSlots slots;
  private final ConnectionSlots.Pool forOthers = new ForOthers();
  private final @Nullable SharedConnections shared;
  private final @Nullable SharingMeters meters;
  private final Deque<WireConnection> idle = new ArrayDeque<>();
  private final Deque<Exchange> waiting = new ArrayDeque<>();
  // With the loops that they are to be on.
  private final Map<Disposable, EventLoop> opening = new HashMap<>();
  // Those that are open, idle or not.
  private final Set<WireConnection> connections = new HashSet<>();
  private int open;
  private int generation;
  // Whether the server could be reached last time: else none are opened in advance.
  private boolean reachable;
  private boolean closed;

  ServerPool(
      ServerAddressName server,
      EventLoopGroup group,
      WireSettings settings,
      ConnectionSlots slots) {
    this.server = server;
    this.group = group;
    this.settings = settings;
    this.limits = settings.pool();
    this.slots = slots;
    slots.add(forOthers);
    WireSettings.Sharing sharing = settings.sharing();
    if (sharing == null) {
      this.meters = null;
      this.shared = null;
    } else {
      EventLoop loop = group.next();
      this.meters = new SharingMeters(sharing.meters(), server.toString(), this::open);
      this.shared =
          new SharedConnections(
              server,
              new CallerRunsEventLoop(loop),
              limits,
              sharing,
              meters,
              new ForShared(),
              () -> WireConnection.open(loop, server, settings),
              System::nanoTime);
    }
  }

  private final class ForShared implements SharedConnections.Pool {
    @Override
    public int generation() {
      synchronized (ServerPool.this) {
        return generation;
      }
    }

    @Override
    public boolean hasRoom() {
      synchronized (ServerPool.this) {
        return !idle.isEmpty() || slots.hasRoomBeside(waiting.size() - opening.size());
      }
    }

    @Override
    public void takeOwn(Exchange exchange) {
      ServerPool.this.takeOwn(null, exchange);
    }

    @Override
    public void clear(int born) {
      ServerPool.this.clear(born);
    }
  }

  private synchronized int open() {
    return open;
  }

  @Override
  public boolean isShared() {
    return shared != null;
  }

  private final class ForOthers implements ConnectionSlots.Pool {
    @Override
    public void mayOpen() {
      grow(null);
    }

    @Override
    public boolean isWaiting() {
      synchronized (ServerPool.this) {
        return !waiting.isEmpty();
      }
    }

    @Override
    public boolean closeIdle() {
      WireConnection unused;
      synchronized (ServerPool.this) {
        unused = idle.pollLast();
      }
      if (unused != null) {
        unused.close();
      }
      return unused != null;
    }
  }

  /** Gives the exchange a connection, now or as soon as there is one. */
  void take(@Nullable EventLoop preferred, Exchange exchange) {
    if (shared != null && exchange.mayShare()) {
      shared.take(exchange);
    } else {
      takeOwn(preferred, exchange);
    }
  }

  private void takeOwn(@Nullable EventLoop preferred, Exchange exchange) {
    if (meters != null) {
      meters.own();
    }
    List<WireConnection> old = new ArrayList<>(0);
    WireConnection ready;
    boolean late;
    synchronized (this) {
      late = closed;
      ready = late ? null : pollIdle(preferred, System.nanoTime(), old);
      if (ready == null && !late) {
        exchange.waitingSince(System.nanoTime());
        waiting.addLast(exchange);
      }
    }
    Each.of(old, WireConnection::close);
    if (ready != null) {
      exchange.use(ready);
      if (preferred != null && ready.loop() != preferred) {
        growOn(preferred);
      }
    } else if (late) {
      exchange.unable(clientIsClosed());
    } else {
      grow(preferred);
    }
  }

  private @Nullable WireConnection pollIdle(
      @Nullable EventLoop preferred, long now, List<WireConnection> old) {
    WireConnection other = null;
    for (Iterator<WireConnection> each = idle.iterator(); each.hasNext(); ) {
      WireConnection connection = each.next();
      if (isOld(connection, now)) {
        each.remove();
        old.add(connection);
      } else if (preferred == null || connection.loop() == preferred) {
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

  private boolean isOld(WireConnection connection, long now) {
    return connection.lifetime().isOver(limits, generation, now);
  }

  /** Opens as many connections as requests wait for, or as there are to be at least. */
  private void grow(@Nullable EventLoop preferred) {
    while (true) {
      Disposable.Swap connecting = Disposables.swap();
      EventLoop loop = preferred == null ? group.next() : preferred;
      int born;
      boolean room;
      boolean needed;
      synchronized (this) {
        boolean wanted = opening.size() < waiting.size() || (reachable && open < limits.minSize());
        if (closed || !wanted) {
          return;
        }
        needed = opening.size() < waiting.size();
        room = slots.tryOpen();
        if (room) {
          open++;
          opening.put(connecting, loop);
        }
        born = generation;
      }
      if (!room) {
        if (needed) {
          slots.makeRoom(forOthers);
        }
        return;
      }
      connect(loop, connecting, born);
    }
  }

  /**
   * Opens a connection on a loop, after a request from there took one of another loop. Else that
   * one might be taken ever after, and each request and answer would change threads.
   */
  private void growOn(EventLoop loop) {
    Disposable.Swap connecting = Disposables.swap();
    int born;
    synchronized (this) {
      if (closed || !waiting.isEmpty() || opening.containsValue(loop) || !slots.tryOpen()) {
        return;
      }
      open++;
      opening.put(connecting, loop);
      born = generation;
    }
    connect(loop, connecting, born);
  }

  private void connect(EventLoop loop, Disposable.Swap connecting, int born) {
    try {
      connecting.update(
          WireConnection.open(loop, server, settings)
              .subscribe(
                  connection -> opened(connecting, connection, born),
                  failure -> notOpened(connecting, failure, born),
                  null,
                  LateErrors.LOGGED));
    } catch (Throwable failure) {
      notOpened(connecting, WireConnection.unreachable(server, failure), born);
    }
  }

  private void opened(Disposable connecting, WireConnection connection, int born) {
    boolean wanted;
    synchronized (this) {
      wanted = opening.remove(connecting) != null;
      reachable |= wanted;
      if (wanted) {
        connections.add(connection);
      }
      connection.opened(new Lifetime(born, System.nanoTime()));
    }
    if (!wanted) {
      // The pool was cleared or closed meanwhile, and does not count it any more.
      connection.close();
      return;
    }
    try {
      connection.whenClosed(() -> closed(connection));
      giveBack(connection);
    } finally {
      slots.opened();
    }
  }

  private void notOpened(Disposable connecting, Throwable failure, int born) {
    List<Exchange> never = new ArrayList<>();
    synchronized (this) {
      if (opening.remove(connecting) == null) {
        return;
      }
      open--;
      reachable = false;
      for (Exchange next = waiting.pollFirst(); next != null; next = waiting.pollFirst()) {
        never.add(next);
      }
    }
    try {
      failed();
      clear(born);
    } finally {
      fail(never, failure);
      slots.notOpened();
    }
  }

  /** Fails requests, each of them whatever becomes of the others. */
  private static void fail(List<Exchange> never, Throwable why) {
    Each.of(never, exchange -> exchange.unable(why));
  }

  @Override
  public void clear(int born) {
    List<WireConnection> old;
    List<Disposable> connecting;
    int next;
    synchronized (this) {
      if (born != generation) {
        return;
      }
      old = List.copyOf(idle);
      connecting = nextGeneration();
      next = generation;
    }
    Each.of(connecting, this::giveUp);
    Each.of(old, WireConnection::close);
    if (shared != null) {
      shared.clear(next, null);
    }
    grow(null);
  }

  private void giveUp(Disposable connecting) {
    try {
      connecting.dispose();
    } finally {
      slots.notOpened();
    }
  }

  private List<Disposable> nextGeneration() {
    generation++;
    idle.clear();
    List<Disposable> connecting = List.copyOf(opening.keySet());
    opening.clear();
    open -= connecting.size();
    return connecting;
  }

  /**
   * The server is gone, or was: no connection from before is used again.
   *
   * @param interrupt whether requests under way fail now; those that are not sent yet fail, too
   */
  void reset(boolean interrupt, IOException why) {
    List<WireConnection> ended;
    List<Exchange> never = List.of();
    List<Disposable> connecting;
    int next;
    synchronized (this) {
      ended = List.copyOf(interrupt ? connections : idle);
      connecting = nextGeneration();
      next = generation;
      if (interrupt) {
        never = List.copyOf(waiting);
        waiting.clear();
      }
    }
    Each.of(connecting, this::giveUp);
    Each.of(ended, WireConnection::close);
    fail(never, why);
    if (shared != null) {
      shared.clear(next, interrupt ? why : null);
    }
    grow(null);
  }

  @Override
  public void broken(WireConnection connection) {
    failed();
    clear(connection.lifetime().generation());
  }

  private void failed() {
    if (meters != null) {
      meters.failure();
    }
  }

  /** A connection's request was answered, or it was just opened. */
  @Override
  public void giveBack(WireConnection connection) {
    if (!connection.isOpen()) {
      // Those that wait have got another one when it was closed.
      return;
    }
    Exchange next = null;
    boolean wantedElsewhere = slots.isWantedElsewhere(forOthers);
    boolean old;
    synchronized (this) {
      long now = System.nanoTime();
      connection.lifetime().idleSince(now);
      old = closed || isOld(connection, now);
      if (!old) {
        next = waiting.pollFirst();
        if (next == null && !wantedElsewhere) {
          idle.addFirst(connection);
          return;
        }
      }
    }
    if (next != null) {
      next.use(connection);
    } else {
      connection.close();
    }
  }

  private void closed(WireConnection connection) {
    synchronized (this) {
      open--;
      idle.remove(connection);
      connections.remove(connection);
    }
    slots.closed();
  }

  @Override
  public void forget(Exchange exchange) {
    synchronized (this) {
      waiting.remove(exchange);
    }
    if (shared != null && exchange.mayShare()) {
      shared.forget(exchange);
    }
  }

  /** Closes what is too old, fails what has waited for too long, and opens what is to be there. */
  void sweep(long now) {
    List<WireConnection> old = new ArrayList<>();
    List<WireConnection> stalled = new ArrayList<>(0);
    List<Exchange> late = new ArrayList<>();
    long maxWait = limits.maxWait().toNanos();
    synchronized (this) {
      for (Iterator<WireConnection> each = idle.iterator(); each.hasNext(); ) {
        WireConnection connection = each.next();
        if (isOld(connection, now)) {
          each.remove();
          old.add(connection);
        }
      }
      for (WireConnection each : connections) {
        if (each.lifetime().isStalled(each.unsentBytes(), now)) {
          stalled.add(each);
        }
      }
      // For the first in line, connections are being opened, which has an end of its own.
      int served = opening.size();
      for (Iterator<Exchange> each = waiting.iterator(); each.hasNext(); ) {
        Exchange exchange = each.next();
        if (served-- <= 0 && maxWait >= 0 && now - exchange.waitingSince() > maxWait) {
          each.remove();
          late.add(exchange);
        }
      }
    }
    Each.of(old, WireConnection::close);
    Each.of(stalled, each -> each.abort(Lifetime.stalled(server)));
    if (shared != null) {
      shared.sweep();
    }
    Each.of(late, exchange -> exchange.unable(waitedInVain(server, limits.maxWait())));
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
    List<WireConnection> unused;
    List<Exchange> never;
    List<Disposable> connecting;
    synchronized (this) {
      closed = true;
      unused = List.copyOf(idle);
      never = List.copyOf(waiting);
      connecting = List.copyOf(opening.keySet());
      idle.clear();
      waiting.clear();
      opening.clear();
    }
    // The event loops may end before these do.
    Each.of(connecting, this::giveUp);
    Each.of(unused, WireConnection::close);
    fail(never, clientIsClosed());
    if (shared != null) {
      shared.close();
    }
  }

  static IOException clientIsClosed() {
    return new IOException("the client is closed");
  }
}
