package dev.onehop.routing.internal.transport;

import dev.onehop.routing.internal.transport.SharingRules.Use;
import io.netty.buffer.ByteBuf;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Requests without a reply of one pool. The driver takes one for done once it is taken; so it is
 * taken when it is sent, and the reply to a marker behind it shows that the server has done it.
 *
 * <p>What may take long gets a socket of its own, as it would with a reply. Until what a lane sent
 * is done, its next request goes to the same socket, or waits: one connection carries out one
 * request after the other.
 */
final class UnacknowledgedRequests {
  private final SocketPool pool;
  private final TurnedAway held;

  UnacknowledgedRequests(SocketPool pool) {
    this.pool = pool;
    this.held = new TurnedAway(pool.meters());
  }

  /** Whether something that a lane sent may not be done yet. */
  static boolean isFollowing(Lane lane) {
    WireSocket trail = lane.trail;
    if (trail != null && trail.isSettled(lane.trailEnd)) {
      lane.trail = null;
    }
    return lane.trail != null;
  }

  /** Takes a request of a lane behind what it sent before; false if it has to wait for that. */
  boolean follow(Lane lane, WireSocket trail, Use use, CommandHead head, ByteBuf message) {
    boolean alone = trail.owner == lane;
    if (!alone && (use != Use.SHARED || !pool.shared().takes(trail, pool.now()))) {
      trail.followers.add(lane);
      held.add(lane, pool.now());
      return false;
    }
    if (head.expectsReply()) {
      held.admit(lane, pool.now());
      (alone ? pool.meters().own : pool.meters().shared).increment();
      Request request =
          SocketPool.request(alone ? Request.Kind.OWN : Request.Kind.SHARED, lane, message);
      request.mayWait = SharingRules.mayWait(head);
      trail.send(request);
    } else {
      send(lane, trail, message);
    }
    return true;
  }

  /** Takes a request without a reply; false if it has to wait. */
  boolean offer(Lane lane, Use use, ByteBuf message) {
    WireSocket granted = lane.granted;
    lane.granted = null;
    WireSocket socket = granted;
    if (socket == null || socket.isClosed()) {
      socket = use == Use.OWN ? alone(lane) : amongOthers(lane);
    }
    if (socket == null) {
      return false;
    }
    send(lane, socket, message);
    return true;
  }

  private @Nullable WireSocket amongOthers(Lane lane) {
    WireSocket socket = pool.shared().pickAtOnce(pool.now());
    if (socket == null) {
      pool.shared().turnedAway().add(lane, pool.now());
    }
    if (socket == null || socket.inFlight() > 0) {
      pool.grow();
    }
    return socket;
  }

  private @Nullable WireSocket alone(Lane lane) {
    WireSocket idle = lane.forerunner == null ? pool.own().takeIdle() : null;
    if (idle != null) {
      idle.owner = lane;
    } else if (lane.forerunner == null) {
      held.add(lane, pool.now());
      Request forerunner = Request.ping(Request.Kind.FORERUNNER, lane, pool.server().allocator());
      lane.forerunner = forerunner;
      pool.own().dispatch(lane, forerunner);
    }
    return idle;
  }

  private void send(Lane lane, WireSocket socket, ByteBuf message) {
    held.admit(lane, pool.now());
    pool.shared().turnedAway().admit(lane, pool.now());
    (socket.owner == lane ? pool.meters().own : pool.meters().shared).increment();
    Request request = new Request(Request.Kind.SHARED, lane, message.retain(), false);
    socket.sendUnacknowledged(request);
    lane.trail = socket;
    lane.trailEnd = socket.unacknowledged();
  }

  /** There is a socket for the request that a lane was turned away with. */
  void forerunnerAnswered(Lane lane, WireSocket socket) {
    lane.forerunner = null;
    lane.granted = socket;
    lane.end.mayWrite();
    if (lane.granted == socket) {
      lane.granted = null;
      releaseIfDone(socket);
    }
  }

  /** Something that was sent on a socket is done. */
  void markerAnswered(WireSocket socket) {
    socket.markerAnswered();
    offerToFollowers(socket);
    releaseIfDone(socket);
  }

  /** Gives a socket back that its lane had for requests without a reply. */
  private void releaseIfDone(WireSocket socket) {
    Lane owner = socket.owner;
    if (owner != null && !owner.isClosed() && owner.pinned != socket && socket.inFlight() == 0) {
      pool.place(socket);
    }
  }

  private static void offerToFollowers(WireSocket socket) {
    List<Lane> followers = List.copyOf(socket.followers);
    socket.followers.clear();
    followers.forEach(lane -> lane.end.mayWrite());
  }

  /** What was sent on a socket will never be known to be done. */
  void socketClosed(WireSocket socket) {
    offerToFollowers(socket);
  }

  void forget(Lane lane) {
    held.forget(lane);
    if (lane.trail != null) {
      lane.trail.followers.remove(lane);
    }
    if (lane.forerunner != null && lane.forerunner.socket == null) {
      lane.forerunner.release();
    }
  }

  /** Breaks the lanes that have waited since {@code since} or longer. */
  void failThoseWaiting(long since, PipelineException cause) {
    held.failThoseWaiting(since, cause);
  }
}
