package dev.onehop.routing.internal.wire;

import dev.onehop.routing.internal.reactor.LateErrors;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.time.Duration;
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
    synchronized (this) {
      opening.put(exchange, connecting);
    }
    connecting.update(
        WireConnection.open(loop, server, settings, keys)
            .subscribe(
                connection -> {
                  opened(exchange);
                  connection.whenClosed(() -> closed(connection));
                  exchange.use(connection);
                },
                failure -> {
                  opened(exchange);
                  exchange.unable(failure);
                  closed(null);
                },
                null,
                LateErrors.LOGGED));
  }

  private synchronized void opened(Exchange exchange) {
    opening.remove(exchange);
  }

  /** A connection's request was answered. */
  void giveBack(WireConnection connection) {
    if (!connection.isOpen()) {
      // Whoever waits has got another one when it was closed.
      return;
    }
    Exchange next;
    synchronized (this) {
      next = waiting.pollFirst();
      if (next == null && !closed) {
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
      exchange.unable(waitedInVain(server, settings.maxWait()));
    }
  }

  static IOException waitedInVain(ServerAddressName server, Duration time) {
    return new IOException(
        "waited "
            + time.toMillis()
            + " ms for a connection to "
            + server
            + ": all it may have are in use");
  }

  void close() {
    List<WireConnection> connections;
    List<Exchange> never;
    List<Disposable> connecting;
    synchronized (this) {
      closed = true;
      connections = List.copyOf(idle);
      never = new ArrayList<>(waiting);
      never.addAll(opening.keySet());
      connecting = List.copyOf(opening.values());
      idle.clear();
      waiting.clear();
      opening.clear();
    }
    // The event loops may end before these do.
    connecting.forEach(Disposable::dispose);
    connections.forEach(WireConnection::close);
    never.forEach(exchange -> exchange.unable(new IOException("the client is closed")));
  }
}
