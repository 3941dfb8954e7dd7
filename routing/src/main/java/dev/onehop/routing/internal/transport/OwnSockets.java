package dev.onehop.routing.internal.transport;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Sockets for requests that must not share: each serves one at a time, and then waits idle for the
 * next for a while.
 *
 * <p>Where a hello is enough to open a socket, one is opened when it is needed. With SCRAM, only a
 * lane's own conversation can authenticate a socket: then a reserve is kept, as many as were lately
 * needed at once, and until lanes have filled it a socket is taken out of sharing, or, when only
 * one is left to share, the request goes among the others.
 */
final class OwnSockets {
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final SocketPool pool;
  private final int most;
  private final Deque<WireSocket> idle = new ArrayDeque<>();
  private final Queue<Request> waiting = new ArrayDeque<>();
  private int reserve;
  private int neededAtOnce;
  private long countedSince;

  OwnSockets(SocketPool pool, int most) {
    this.pool = pool;
    this.most = most;
    this.countedSince = pool.now();
  }

  /** Sends a request on a socket that nobody else uses, as soon as there is one. */
  void dispatch(Lane lane, Request request) {
    WireSocket socket = takeIdle();
    if (socket != null) {
      use(socket, lane, request);
    } else if (!pool.canReplay()) {
      borrow(lane, request);
    } else if (mayGrow()) {
      pool.replay(lane, opened -> useIfWanted(opened, lane, request));
    } else {
      request.queuedAt = pool.now();
      waiting.add(request);
    }
  }

  /**
   * Whether {@link #dispatch} would send a request at once or as soon as a socket is open, without
   * taking one from those that are shared.
   */
  boolean hasRoom() {
    return !idle.isEmpty() || (pool.canReplay() && mayGrow());
  }

  /** Whether there may be one more. */
  boolean mayGrow() {
    return pool.ownInUse() + idle.size() < most;
  }

  private void borrow(Lane lane, Request request) {
    needed(pool.ownBusy() + 1);
    reserve = Math.max(reserve, neededAtOnce);
    // One of those that remain is for what may wait, one for the rest.
    int others = Math.min(2, pool.settings().socketsPerServer() - 1);
    WireSocket socket = pool.shared().giveUpOne(Math.max(1, others), pool.now());
    if (socket == null) {
      pool.meters().crowded.increment();
      request.mayWait = true;
      pool.dispatchShared(request);
    } else {
      use(socket, lane, request);
    }
  }

  private void useIfWanted(WireSocket socket, Lane lane, Request request) {
    if (lane.isClosed()) {
      pool.place(socket);
    } else {
      use(socket, lane, request);
    }
  }

  private void use(WireSocket socket, Lane lane, Request request) {
    socket.owner = lane;
    if (reserve > 0) {
      needed(pool.ownBusy());
    }
    pool.meters().own.increment();
    socket.send(request);
  }

  private void needed(int atOnce) {
    neededAtOnce = Math.max(neededAtOnce, Math.min(most, atOnce));
  }

  /** Takes an idle socket, null if there is none. */
  @Nullable WireSocket takeIdle() {
    return idle.pollLast();
  }

  /** A socket that nobody uses: for the next in line, or idle until there is one. */
  void add(WireSocket socket) {
    Request next = waiting.poll();
    if (next != null && next.lane != null) {
      pool.meters().waited(pool.now() - next.queuedAt);
      use(socket, next.lane, next);
    } else {
      socket.idleSince = pool.now();
      idle.addLast(socket);
    }
  }

  /** Breaks the lanes that have waited since {@code since} or longer. */
  void failThoseWaiting(long since, PipelineException cause) {
    WaitingLine.failThoseWaiting(waiting, since, cause);
  }

  /** Whether one more would only stay idle. */
  boolean hasEnough() {
    return waiting.isEmpty() && idle.size() >= reserve;
  }

  boolean hasWaiting() {
    return !waiting.isEmpty();
  }

  /** Serves who waits, as far as there is room. */
  void drain() {
    while (!waiting.isEmpty() && mayGrow()) {
      Request next = waiting.remove();
      if (next.lane != null) {
        pool.meters().waited(pool.now() - next.queuedAt);
        dispatch(next.lane, next);
      }
    }
  }

  void remove(WireSocket socket) {
    idle.remove(socket);
  }

  void forget(Lane lane) {
    waiting.removeIf(request -> request.lane == lane);
  }

  /** How many sockets are wanted beyond the shared ones, where opening one takes a lane. */
  int wantedReserve() {
    return reserve;
  }

  /** Closes what has been idle for long, unless it could not be opened again. */
  void sweep(long now) {
    if (now - countedSince > IDLE_NANOS) {
      reserve = Math.min(reserve, neededAtOnce);
      neededAtOnce = 0;
      needed(pool.ownBusy());
      countedSince = now;
    }
    if (!pool.server().canOpen()) {
      return;
    }
    int spare = idle.size() - (pool.identity().isReplayable() ? 0 : reserve);
    Iterator<WireSocket> oldestFirst = List.copyOf(idle).iterator();
    while (spare > 0 && oldestFirst.hasNext()) {
      WireSocket socket = oldestFirst.next();
      if (now - socket.idleSince > IDLE_NANOS) {
        socket.close(new PipelineException("idle for " + (now - socket.idleSince) + " ns"));
        spare--;
      }
    }
  }
}
