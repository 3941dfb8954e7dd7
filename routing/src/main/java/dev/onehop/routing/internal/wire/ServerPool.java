package dev.onehop.routing.internal.wire;

import dev.onehop.routing.internal.reactor.LateErrors;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * The connections to one server.
 *
 * <p>Thread-safe. Nothing foreign is called under the lock.
 */
final class ServerPool {
  private final ServerAddressName server;
  private final EventLoopGroup group;
  private final WireSettings settings;
  private final ScramKeys keys;
  private final Deque<WireConnection> idle = new ArrayDeque<>();
  private final Deque<Exchange> waiting = new ArrayDeque<>();
  private final Map<Exchange, Disposable> opening = new HashMap<>();

  /** The connections that are up, idle or not, and the generation of each. */
  private final Map<WireConnection, Integer> connections = new HashMap<>();

  private int generation;
  private int open;
  private boolean closed;

  ServerPool(
      ServerAddressName server, EventLoopGroup group, WireSettings settings, ScramKeys keys) {
    this.server = server;
    this.group = group;
    this.settings = settings;
    this.keys = keys;
  }

  /** Gives the exchange a connection, now or as soon as there is one. */
  void take(@Nullable EventLoop preferred, Exchange exchange) {
    WireConnection ready;
    synchronized (this) {
      ready = pollIdle(preferred);
      if (ready == null) {
        if (settings.maxPoolSize() > 0 && open >= settings.maxPoolSize()) {
          exchange.waitingSince(System.nanoTime());
          waiting.addLast(exchange);
          return;
        }
        open++;
      }
    }
    if (ready != null) {
      exchange.use(ready);
    } else {
      connect(preferred == null ? group.next() : preferred, exchange);
    }
  }

  private @Nullable WireConnection pollIdle(@Nullable EventLoop preferred) {
    if (preferred != null) {
      for (Iterator<WireConnection> each = idle.iterator(); each.hasNext(); ) {
        WireConnection connection = each.next();
        if (connection.loop() == preferred) {
          each.remove();
          return connection;
        }
      }
    }
    return idle.pollFirst();
  }

  private void connect(EventLoop loop, Exchange exchange) {
    Disposable.Swap connecting = Disposables.swap();
    int of;
    synchronized (this) {
      of = generation;
      opening.put(exchange, connecting);
    }
    connecting.update(
        WireConnection.open(loop, server, settings, keys)
            .contextWrite(LateErrors::logged)
            .subscribe(
                connection -> {
                  opened(exchange, connection, of);
                  connection.whenClosed(() -> closed(connection));
                  exchange.use(connection);
                },
                failure -> {
                  if (opened(exchange, null, of)) {
                    exchange.unable(failure);
                    closed(null);
                  }
                }));
  }

  /** Whether it was still waited for. */
  private synchronized boolean opened(
      Exchange exchange, @Nullable WireConnection connection, int of) {
    boolean expected = opening.remove(exchange) != null;
    if (connection != null) {
      connections.put(connection, of);
      open += expected ? 0 : 1;
    }
    return expected;
  }

  /** A connection's request was answered. */
  void giveBack(WireConnection connection) {
    if (!connection.isOpen()) {
      // Whoever waits has got another one when it was closed.
      return;
    }
    Exchange next = null;
    synchronized (this) {
      boolean current = connections.getOrDefault(connection, generation) == generation;
      // What waits instead of this one gets a new one when it is closed.
      next = current ? waiting.pollFirst() : null;
      if (next == null && current && !closed) {
        connection.idleSince(System.nanoTime());
        idle.addFirst(connection);
        return;
      }
    }
    if (next != null) {
      next.use(connection);
    } else {
      connection.close();
    }
  }

  private void closed(@Nullable WireConnection connection) {
    Exchange next;
    synchronized (this) {
      open--;
      if (connection != null) {
        idle.remove(connection);
        connections.remove(connection);
      }
      next = closed ? null : waiting.pollFirst();
      if (next != null) {
        open++;
      }
    }
    if (next != null) {
      connect(group.next(), next);
    }
  }

  synchronized void forget(Exchange exchange) {
    waiting.remove(exchange);
  }

  /** Closes what was idle, and fails what has waited, for too long. */
  void sweep(long now) {
    List<WireConnection> old = new ArrayList<>();
    List<Exchange> late = new ArrayList<>();
    long maxIdle = settings.maxIdle().toNanos();
    long maxWait = settings.maxWait().toNanos();
    synchronized (this) {
      while (maxIdle > 0 && !idle.isEmpty() && now - idle.getLast().idleSince() > maxIdle) {
        old.add(idle.removeLast());
      }
      while (maxWait >= 0
          && !waiting.isEmpty()
          && now - waiting.getFirst().waitingSince() > maxWait) {
        late.add(waiting.removeFirst());
      }
    }
    old.forEach(WireConnection::close);
    for (Exchange exchange : late) {
      exchange.unable(
          new PoolWaitException(
              "waited "
                  + settings.maxWait().toMillis()
                  + " ms for a connection to "
                  + server
                  + ": all it may have are in use"));
    }
  }

  /**
   * The server is gone, or was: no connection from before is used again. As of the drivers'
   * specification "Connection Monitoring and Pooling", clearing a pool.
   *
   * @param interrupt whether requests under way fail now; those that are not sent yet fail, too
   */
  void reset(boolean interrupt, IOException why) {
    List<WireConnection> ended = new ArrayList<>();
    List<Exchange> never = new ArrayList<>();
    List<Disposable> connecting = new ArrayList<>();
    synchronized (this) {
      generation++;
      ended.addAll(interrupt ? connections.keySet() : idle);
      idle.clear();
      if (interrupt) {
        never.addAll(waiting);
        never.addAll(opening.keySet());
        connecting.addAll(opening.values());
        open -= opening.size();
        waiting.clear();
        opening.clear();
      }
    }
    connecting.forEach(Disposable::dispose);
    ended.forEach(WireConnection::close);
    never.forEach(exchange -> exchange.unable(why));
  }

  void close() {
    List<WireConnection> all;
    List<Exchange> never;
    List<Disposable> connecting;
    synchronized (this) {
      closed = true;
      all = List.copyOf(idle);
      never = new ArrayList<>(waiting);
      never.addAll(opening.keySet());
      connecting = List.copyOf(opening.values());
      idle.clear();
      waiting.clear();
      opening.clear();
    }
    // The event loops may end before these do.
    connecting.forEach(Disposable::dispose);
    all.forEach(WireConnection::close);
    never.forEach(exchange -> exchange.unable(new IOException("the client is closed")));
  }
}
