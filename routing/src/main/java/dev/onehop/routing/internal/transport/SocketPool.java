package dev.onehop.routing.internal.transport;

import dev.onehop.routing.internal.transport.SharingRules.Use;
import dev.onehop.routing.internal.wire.WireProtocolException;
import dev.onehop.routing.transport.PipeliningSettings;
import io.netty.buffer.ByteBuf;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The lanes of one identity and the sockets that serve them.
 *
 * <p>A lane belongs to no socket: each request goes where it is best off, except during
 * authentication and for lanes that need a socket for themselves.
 */
final class SocketPool {
  private static final long ABANDONED_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long RELIEF_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Identity identity;
  private final ServerSockets server;
  private final PipeliningSettings settings;
  private final Set<Lane> lanes = new LinkedHashSet<>();
  private final Set<WireSocket> sockets = new LinkedHashSet<>();
  private final SharedSockets shared;
  private final OwnSockets own;
  private final Handshakes handshakes;
  private final UnacknowledgedRequests unacknowledged;
  private boolean closed;

  SocketPool(Identity identity, ServerSockets server) {
    this.identity = identity;
    this.server = server;
    this.settings = server.settings();
    this.shared =
        new SharedSockets(
            settings.maxInFlightPerSocket(),
            settings.slowHead().toNanos(),
            server.meters(),
            this::isGrowing,
            this::isSpare);
    this.own = new OwnSockets(this, settings.maxOwnSockets());
    this.handshakes = new Handshakes(this);
    this.unacknowledged = new UnacknowledgedRequests(this);
  }

  /** A lane said hello for the first time. */
  void join(Lane lane, HelloMessage hello, ByteBuf message) {
    lane.pool = this;
    lane.hello = hello;
    lanes.add(lane);
    handshakes.join(lane, message);
  }

  /** Takes a request after the first; see {@link Lane#offer}. */
  boolean offer(Lane lane, ByteBuf message) throws PipelineException {
    CommandHead head = CommandHead.of(message);
    if (!head.areFlagsKnown()) {
      throw new PipelineException("a compressed request that cannot be decompressed");
    }
    Use use = server.rules().use(head);
    if (use == Use.REFUSED) {
      throw new PipelineException(
          head.name() + " would hold for every operation that shares the socket");
    }
    if (lane.pinned != null) {
      handshakes.sendPinned(lane, lane.pinned, use, head, message);
      return true;
    }
    if (identity.authenticates()
        && !lane.authenticated
        && use != Use.AUTHENTICATION
        && use != Use.HELLO) {
      throw new PipelineException(head.name() + " before the connection is authenticated");
    }
    boolean ordinary = use == Use.SHARED || use == Use.OWN;
    if (ordinary && UnacknowledgedRequests.isFollowing(lane) && lane.trail != null) {
      return unacknowledged.follow(lane, lane.trail, use, head, message);
    }
    if (!head.expectsReply()) {
      return unacknowledged.offer(lane, use, message);
    }
    switch (use) {
      case AUTHENTICATION -> handshakes.authenticate(lane, head, message);
      case HELLO -> handshakes.hello(lane, head, message);
      case SHARED -> share(lane, head, message);
      default -> own.dispatch(lane, request(Request.Kind.OWN, lane, message));
    }
    return true;
  }

  private void share(Lane lane, CommandHead head, ByteBuf message) {
    boolean mayWait = SharingRules.mayWait(head);
    boolean alone =
        mayWait
            // There is no second one to share.
            ? settings.socketsPerServer() == 1 && canReplay()
            : shared.areHeldUp(now()) && own.hasRoom();
    if (alone) {
      own.dispatch(lane, request(Request.Kind.OWN, lane, message));
      return;
    }
    Request request = request(Request.Kind.SHARED, lane, message);
    request.mayWait = mayWait;
    dispatchShared(request);
  }

  /** A request of a lane that expects a reply. */
  static Request request(Request.Kind kind, Lane lane, ByteBuf message) {
    Request request = new Request(kind, lane, message.retain(), true);
    lane.current = request;
    return request;
  }

  void dispatchShared(Request request) {
    meters().shared.increment();
    shared.dispatch(request, now());
    if (request.socket == null || request.socket.inFlight() > 1) {
      grow();
    }
  }

  /** Whether there will soon be a further socket to share. */
  private boolean isGrowing() {
    return shared.size() < settings.socketsPerServer()
        && (handshakes.areUnderWay() || handshakes.mayGrow());
  }

  private boolean isSpare() {
    return own.hasRoom();
  }

  /** More sockets would be of use to those that share them. */
  void grow() {
    keepUp();
    if (shared.size() < settings.socketsPerServer()) {
      handshakes.growShared();
    }
  }

  /** A reply came, under the lane's own id; this takes it over. */
  void replied(Request request, WireSocket socket, ByteBuf reply, boolean more)
      throws PipelineException {
    if (request.isAbandoned()) {
      meters().lateReplies.increment();
      reply.release();
      drain();
      return;
    }
    Lane lane = request.lane;
    try {
      switch (request.kind) {
        case SHARED -> shared.answered(request, now());
        case MARKER -> {
          shared.answered(request, now());
          unacknowledged.markerAnswered(socket);
        }
        case FORERUNNER -> {
          reply.release();
          if (lane != null) {
            unacknowledged.forerunnerAnswered(lane, socket);
          }
          drain();
          return;
        }
        case OWN -> {
          if (!more && socket.owner == request.lane && socket.isSettled()) {
            release(socket, request.lane);
          }
        }
        default -> reply = handshakes.replied(request, socket, reply);
      }
    } catch (WireProtocolException e) {
      reply.release();
      throw new PipelineException(server.name() + " sent an unreadable reply", e);
    } catch (PipelineException | RuntimeException e) {
      reply.release();
      throw e;
    }
    if (lane == null) {
      reply.release();
      drain();
      return;
    }
    if (!more) {
      lane.current = null;
    }
    drain();
    lane.end.deliver(reply);
  }

  private void release(WireSocket socket, @Nullable Lane lane) {
    if (lane == null || lane.pinned == socket) {
      return;
    }
    place(socket);
  }

  /** A usable socket that nobody uses: to share, or for whoever needs one alone. */
  void place(WireSocket socket) {
    socket.owner = null;
    if (socket.isClosed()) {
      return;
    }
    if (shared.size() < settings.socketsPerServer() && !own.hasWaiting()) {
      shared.add(socket);
      drain();
    } else {
      own.add(socket);
    }
  }

  /** Whether one more socket would only stay idle. */
  boolean hasEnough() {
    return shared.size() >= settings.socketsPerServer() && own.hasEnough();
  }

  /** Sends what waits, as far as it goes. */
  void drain() {
    shared.drain(now());
    handshakes.drain();
  }

  /** A lane is closed; its reply, if one is due, is dropped when it comes. */
  void leave(Lane lane) {
    lanes.remove(lane);
    shared.forget(lane);
    own.forget(lane);
    handshakes.forget(lane);
    unacknowledged.forget(lane);
    Request current = lane.current;
    if (current != null && current.socket == null) {
      current.release();
    }
    PipelineException cause = new PipelineException("the driver closed the connection");
    if (lane.pinned != null) {
      lane.pinned.retire(cause);
    } else {
      // The server stops what it was doing for this lane when the socket is closed.
      sockets.stream().filter(s -> s.owner == lane).toList().forEach(s -> s.retire(cause));
    }
    // What it had waiting may have been what others waited for.
    drain();
  }

  /** A socket is gone: exactly the lanes that wait for something on it break. */
  void socketClosed(WireSocket socket, List<Request> unanswered, PipelineException cause) {
    sockets.remove(socket);
    shared.remove(socket);
    own.remove(socket);
    Set<Lane> broken = new LinkedHashSet<>();
    for (Request request : unanswered) {
      if (request.lane != null) {
        broken.add(request.lane);
      }
    }
    for (Lane lane : lanes) {
      boolean elsewhere = lane.current != null && lane.current.socket != socket;
      if (lane.pinned == socket && elsewhere) {
        // It was to be used from the next request on.
        lane.pinned = null;
        lane.monitoring = false;
      } else if (lane.pinned == socket || lane.conversation == socket) {
        broken.add(lane);
      }
    }
    handshakes.socketClosed(socket, cause);
    unacknowledged.socketClosed(socket);
    broken.forEach(lane -> lane.fail(cause));
    if (!closed) {
      keepUp();
      drain();
      own.drain();
    }
  }

  /** Sees to it that what waits is not waiting for nothing. */
  void keepUp() {
    if (closed || shared.size() > 0 || handshakes.areUnderWay()) {
      return;
    }
    WireSocket idle = own.takeIdle();
    if (idle != null) {
      place(idle);
      return;
    }
    Request first = shared.firstWaiting();
    if (first != null && first.kind == Request.Kind.LATER_HELLO && first.lane != null) {
      shared.forget(first.lane);
      first.release();
      handshakes.foundAgain(first.lane);
    } else if (canReplay()) {
      if (hasWaiting()) {
        handshakes.growShared();
      }
    } else {
      PipelineException cause =
          new PipelineException("no authenticated socket to " + server.name() + " is left");
      List.copyOf(lanes).stream()
          .filter(lane -> lane.current == null || lane.current.socket == null)
          .forEach(lane -> lane.fail(cause));
    }
  }

  /** Opens a socket with a lane's own hello; the lane fails if that does. */
  void replay(Lane lane, Consumer<WireSocket> whenReady) {
    handshakes.replay(lane, whenReady, lane::fail);
  }

  /** Whether a socket can be opened without a lane's help. */
  boolean canReplay() {
    return identity.isReplayable() && server.canOpen();
  }

  void claim(WireSocket socket) {
    socket.pool = this;
    sockets.add(socket);
  }

  /** Sockets that are neither shared nor idle nor watching the server, those being opened too. */
  int ownInUse() {
    return (int) sockets.stream().filter(s -> s.isOpening() || isOwnBusy(s)).count();
  }

  /** The same without those that are being opened. */
  int ownBusy() {
    return (int) sockets.stream().filter(SocketPool::isOwnBusy).count();
  }

  private static boolean isOwnBusy(WireSocket socket) {
    return socket.number < 0 && socket.owner != null && !socket.owner.monitoring;
  }

  void sweep(long now) {
    for (WireSocket socket : shared.all()) {
      long abandonedAfter = Math.max(ABANDONED_NANOS, shared.slowThresholdNanos(socket));
      if (socket.isOnlyAbandoned() && socket.isSlow(now, abandonedAfter)) {
        socket.close(new PipelineException("nobody waits for what the server is busy with"));
      }
    }
    own.sweep(now);
    own.drain();
    if (hasWaiting()) {
      grow();
      drain();
      relieve(false, now);
      relieve(true, now);
    }
    failWhatWaitsTooLong(now);
  }

  boolean hasWaiting() {
    return shared.hasWaiting() || handshakes.hasWaiting();
  }

  /**
   * What all shared sockets would hold up for long goes on sockets of its own, if there is room.
   */
  private void relieve(boolean mayWait, long now) {
    Request stuck = shared.firstStuck(mayWait, RELIEF_NANOS, now);
    while (stuck != null && stuck.lane != null) {
      Lane lane = stuck.lane;
      boolean hello = stuck.kind == Request.Kind.LATER_HELLO;
      if (hello ? !mayFound() : !own.hasRoom()) {
        letALaterOneFound(now);
        return;
      }
      shared.removeFirst(mayWait);
      meters().waited(now - stuck.queuedAt);
      if (hello) {
        stuck.release();
        handshakes.foundAgain(lane);
      } else {
        own.dispatch(lane, stuck.kind == Request.Kind.FORERUNNER ? stuck : alone(lane, stuck));
      }
      stuck = shared.firstStuck(mayWait, RELIEF_NANOS, now);
    }
  }

  private static Request alone(Lane lane, Request stuck) {
    Request alone = new Request(Request.Kind.OWN, lane, stuck.takeMessage(), true);
    lane.current = alone;
    return alone;
  }

  private boolean mayFound() {
    return own.mayGrow() && server.canOpen();
  }

  // With SCRAM, only a new lane brings a new socket, and it may be behind those that need one.
  private void letALaterOneFound(long now) {
    Request hello = mayFound() ? shared.takeFirstHello() : null;
    if (hello != null && hello.lane != null) {
      meters().waited(now - hello.queuedAt);
      hello.release();
      handshakes.foundAgain(hello.lane);
    }
  }

  private void failWhatWaitsTooLong(long now) {
    long since = now - settings.maxWaitTime().toNanos();
    PipelineException cause =
        new PipelineException(
            "no socket to "
                + server.name()
                + " took the request within "
                + settings.maxWaitTime().toMillis()
                + " ms: all owe answers");
    shared.failThoseWaiting(since, cause);
    unacknowledged.failThoseWaiting(since, cause);
    own.failThoseWaiting(since, cause);
    handshakes.failThoseWaiting(since, cause);
  }

  void close() {
    closed = true;
    PipelineException cause = new PipelineException("the driver closed its connections");
    List.copyOf(sockets).forEach(socket -> socket.retire(cause));
  }

  boolean isEmpty() {
    return lanes.isEmpty();
  }

  Identity identity() {
    return identity;
  }

  ServerSockets server() {
    return server;
  }

  SharedSockets shared() {
    return shared;
  }

  OwnSockets own() {
    return own;
  }

  /** A lane that is not closed, null if there is none. */
  @Nullable Lane anyLane() {
    return lanes.isEmpty() ? null : lanes.iterator().next();
  }

  int sockets() {
    return sockets.size();
  }

  PipeliningSettings settings() {
    return settings;
  }

  ServerMeters meters() {
    return server.meters();
  }

  long now() {
    return server.now();
  }
}
