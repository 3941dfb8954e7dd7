package dev.onehop.routing.internal.wire;

import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The connections to one server that short requests share: many are under way on each, and the
 * server answers them in order. A request goes to the one with the fewest, past any that owes an
 * answer for unusually long.
 *
 * <p>Thread-safe. Nothing foreign is called under the lock.
 */
final class SharedConnections {
  // Weight of the newest answer in the usual time, as TCP weighs its round trips (RFC 6298).
  private static final int SMOOTHING = 8;
  private static final int UNUSUAL = 4;

  private final ServerAddressName server;
  private final EventLoopGroup group;
  private final WireSettings settings;
  private final WireSettings.Sharing sharing;
  private final List<Shared> connections = new ArrayList<>();
  private final Deque<Exchange> waiting = new ArrayDeque<>();
  private int opening;
  private long usualNanos;
  private boolean closed;

  SharedConnections(
      ServerAddressName server,
      EventLoopGroup group,
      WireSettings settings,
      WireSettings.Sharing sharing) {
    this.server = server;
    this.group = group;
    this.settings = settings;
    this.sharing = sharing;
  }

  /** A connection and what is under way on it. */
  final class Shared {
    private final WireConnection connection;
    private int inFlight;
    private long lastProgress;

    private Shared(WireConnection connection) {
      this.connection = connection;
    }

    WireConnection connection() {
      return connection;
    }

    /**
     * A request is no longer under way.
     *
     * @param nanos how long its answer took, 0 if there was none
     */
    void answered(long nanos) {
      Exchange next;
      Shared free;
      synchronized (SharedConnections.this) {
        inFlight--;
        lastProgress = System.nanoTime();
        if (nanos > 0) {
          usualNanos += (nanos - usualNanos) / SMOOTHING;
        }
        free = waiting.isEmpty() ? null : pick();
        next = free == null ? null : waiting.pollFirst();
        if (free != null && next != null) {
          free.began();
        }
      }
      if (free != null && next != null) {
        next.useShared(free);
      }
    }

    private void began() {
      if (inFlight++ == 0) {
        lastProgress = System.nanoTime();
      }
    }

    private boolean isSlow(long now) {
      return inFlight > 0
          && now - lastProgress > Math.max(sharing.slowHead().toNanos(), UNUSUAL * usualNanos);
    }
  }

  void send(Exchange exchange) {
    Shared chosen;
    boolean grow;
    synchronized (this) {
      chosen = pick();
      grow =
          !closed
              && connections.size() + opening < sharing.sockets()
              && (chosen == null || chosen.inFlight > 0);
      if (grow) {
        opening++;
      }
      if (chosen == null) {
        exchange.waitingSince(System.nanoTime());
        waiting.addLast(exchange);
      } else {
        chosen.began();
      }
    }
    if (grow) {
      open();
    }
    if (chosen != null) {
      exchange.useShared(chosen);
    }
  }

  /** The connection with the fewest requests; a slow one only if all are. */
  private @Nullable Shared pick() {
    long now = System.nanoTime();
    Shared least = null;
    boolean leastSlow = false;
    for (Shared each : connections) {
      if (each.inFlight >= sharing.maxInFlight()) {
        continue;
      }
      boolean slow = each.isSlow(now);
      if (least == null
          || (leastSlow && !slow)
          || (leastSlow == slow && each.inFlight < least.inFlight)) {
        least = each;
        leastSlow = slow;
      }
    }
    return least;
  }

  private void open() {
    WireConnection.open(group.next(), server, settings)
        .subscribe(
            connection -> {
              Shared shared = new Shared(connection);
              List<Exchange> next = new ArrayList<>();
              synchronized (this) {
                opening--;
                connections.add(shared);
                while (!waiting.isEmpty() && shared.inFlight < sharing.maxInFlight()) {
                  shared.began();
                  next.add(waiting.removeFirst());
                }
              }
              connection.whenClosed(() -> closed(shared));
              next.forEach(exchange -> exchange.useShared(shared));
            },
            this::notOpened);
  }

  private void notOpened(Throwable failure) {
    List<Exchange> hopeless = new ArrayList<>();
    synchronized (this) {
      opening--;
      if (connections.isEmpty() && opening == 0) {
        hopeless.addAll(waiting);
        waiting.clear();
      }
    }
    hopeless.forEach(exchange -> exchange.unable(failure));
  }

  private void closed(Shared shared) {
    boolean reopen;
    synchronized (this) {
      connections.remove(shared);
      reopen = !closed && !waiting.isEmpty() && connections.isEmpty() && opening == 0;
      if (reopen) {
        opening++;
      }
    }
    if (reopen) {
      open();
    }
  }

  synchronized void forget(Exchange exchange) {
    waiting.remove(exchange);
  }

  /** Moves what has waited for too long. */
  synchronized void late(long now, long maxWaitNanos, List<Exchange> into) {
    for (Iterator<Exchange> each = waiting.iterator(); each.hasNext(); ) {
      Exchange exchange = each.next();
      if (now - exchange.waitingSince() > maxWaitNanos) {
        each.remove();
        into.add(exchange);
      }
    }
  }

  void close() {
    List<Shared> open;
    List<Exchange> never;
    synchronized (this) {
      closed = true;
      open = List.copyOf(connections);
      never = List.copyOf(waiting);
      waiting.clear();
    }
    open.forEach(shared -> shared.connection().close());
    never.forEach(exchange -> exchange.unable(new IOException("the client is closed")));
  }
}
