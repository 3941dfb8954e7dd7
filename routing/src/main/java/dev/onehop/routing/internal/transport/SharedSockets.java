package dev.onehop.routing.internal.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The sockets that short requests share, and the requests that wait for one. */
final class SharedSockets {
  // How much slower than usual an answer has to be before it counts as slow.
  private static final int SLOW_FACTOR = 4;
  // Weight of one reply in the usual time to a reply: 1/8, as TCP's round trip estimate has it.
  private static final int SMOOTHING = 8;

  private final int maxInFlight;
  private final long slowHeadNanos;
  private final ServerMeters meters;
  private final List<WireSocket> sockets = new ArrayList<>();
  private final Queue<Request> waiting = new ArrayDeque<>();
  // Since when, first come first; one leaves when its request is taken or the lane is closed.
  private final Map<Lane, Long> turnedAway = new LinkedHashMap<>();
  private long usualNanos;

  SharedSockets(int maxInFlight, long slowHeadNanos, ServerMeters meters) {
    this.maxInFlight = maxInFlight;
    this.slowHeadNanos = slowHeadNanos;
    this.meters = meters;
  }

  void add(WireSocket socket) {
    socket.number = meters.takeNumber();
    sockets.add(socket);
  }

  /** Takes a socket out of sharing; false if it was not shared. */
  boolean remove(WireSocket socket) {
    if (!sockets.remove(socket)) {
      return false;
    }
    meters.returnNumber(socket.number);
    socket.number = -1;
    return true;
  }

  /** The least loaded socket for a request that is sent now, null if all are full or slow. */
  @Nullable WireSocket pick(long now) {
    WireSocket best = null;
    int least = maxInFlight;
    long threshold = slowThresholdNanos();
    for (WireSocket socket : sockets) {
      int inFlight = socket.inFlight();
      if (inFlight < least && flows(socket, now, threshold)) {
        best = socket;
        least = inFlight;
      }
    }
    return best;
  }

  private static boolean flows(WireSocket socket, long now, long threshold) {
    return socket.isWritable() && !socket.isSlow(now, threshold);
  }

  /**
   * The least loaded socket on which nobody authenticates, null if there is none. A full one will
   * do, too: lanes that are not ready yet cannot wait behind those that are. So will one that does
   * not answer at the moment, if there is no other.
   */
  @Nullable WireSocket pickForConversation(long now) {
    WireSocket best = null;
    boolean bestFlows = false;
    long threshold = slowThresholdNanos();
    for (WireSocket socket : sockets) {
      if (socket.conversation != null) {
        continue;
      }
      boolean flows = flows(socket, now, threshold);
      if (best == null || (flows == bestFlows ? socket.inFlight() < best.inFlight() : flows)) {
        best = socket;
        bestFlows = flows;
      }
    }
    return best;
  }

  /** Takes the least loaded socket out of sharing, if others remain; null if not. */
  @Nullable WireSocket giveUpOne(long now) {
    WireSocket least = sockets.size() > 1 ? pickForConversation(now) : null;
    if (least != null) {
      remove(least);
    }
    return least;
  }

  /** Sends a request on the least loaded socket, or lets it wait for one. */
  void dispatch(Request request, long now) {
    request.queuedAt = now;
    WireSocket socket = waiting.isEmpty() ? pick(now) : null;
    if (socket == null) {
      waiting.add(request);
    } else {
      socket.send(request);
    }
  }

  /** A socket that takes a request at once, ahead of nobody; null if there is none. */
  @Nullable WireSocket pickAtOnce(long now) {
    return waiting.isEmpty() ? pick(now) : null;
  }

  /** Remembers a lane whose request without a reply was turned away, now or before. */
  void turnAway(Lane lane, long now) {
    turnedAway.putIfAbsent(lane, now);
  }

  /** The request of a lane that may have been turned away before was taken. */
  void admit(Lane lane, long now) {
    Long since = turnedAway.remove(lane);
    if (since != null) {
      meters.waited(now - since);
    }
  }

  /** Sends what waits, as far as it goes. */
  void drain(long now) {
    while (!waiting.isEmpty()) {
      WireSocket socket = pick(now);
      if (socket == null) {
        return;
      }
      Request next = waiting.remove();
      meters.waited(now - next.queuedAt);
      socket.send(next);
    }
    if (!turnedAway.isEmpty()) {
      offerAgain(now);
    }
  }

  private void offerAgain(long now) {
    // Each of them once: the clock goes on meanwhile, and a socket that was not slow when this
    // began
    // may turn away all of them by now.
    for (Lane lane : List.copyOf(turnedAway.keySet())) {
      if (!waiting.isEmpty() || pick(now) == null) {
        return;
      }
      lane.end.mayWrite();
    }
  }

  /** Forgets what a lane has waiting. */
  void forget(Lane lane) {
    turnedAway.remove(lane);
    waiting.removeIf(request -> request.lane == lane);
  }

  /**
   * The first in line, if it has waited since {@code since} or longer while every socket is slow;
   * null if there is none, or if one of the sockets is only full, so that the line moves on.
   */
  @Nullable Request firstStuck(long now, long since) {
    long threshold = slowThresholdNanos();
    for (WireSocket socket : sockets) {
      if (!socket.isSlow(now, threshold)) {
        return null;
      }
    }
    Request first = waiting.peek();
    return first != null && first.queuedAt - since <= 0 ? first : null;
  }

  /** Takes the first out of line. */
  void removeFirst() {
    waiting.remove();
  }

  /** Takes the first hello out of line, null if there is none. */
  @Nullable Request takeFirstHello() {
    for (Request request : waiting) {
      if (request.kind == Request.Kind.LATER_HELLO) {
        waiting.remove(request);
        return request;
      }
    }
    return null;
  }

  /** Breaks the lanes that have waited since {@code since} or longer. */
  void failThoseWaiting(long since, PipelineException cause) {
    failThoseWaiting(waiting, since, cause);
    List<Lane> late = new ArrayList<>();
    turnedAway.forEach(
        (lane, turnedAwayAt) -> {
          if (turnedAwayAt - since <= 0) {
            late.add(lane);
          }
        });
    late.forEach(lane -> lane.fail(cause));
  }

  static void failThoseWaiting(Queue<Request> line, long since, PipelineException cause) {
    List<Lane> late = new ArrayList<>();
    for (Request request : line) {
      if (request.lane != null && request.queuedAt - since <= 0) {
        late.add(request.lane);
      }
    }
    late.forEach(lane -> lane.fail(cause));
  }

  /** Breaks the lanes that wait: no socket is going to come. */
  void failWaiting(PipelineException cause) {
    Set<Lane> lanes = new LinkedHashSet<>(turnedAway.keySet());
    for (Request request : waiting) {
      if (request.lane != null) {
        lanes.add(request.lane);
      }
    }
    lanes.forEach(lane -> lane.fail(cause));
  }

  /** The first in line, null if nobody waits. */
  @Nullable Request firstWaiting() {
    return waiting.peek();
  }

  boolean hasWaiting() {
    return !waiting.isEmpty() || !turnedAway.isEmpty();
  }

  /** Learns how long a reply usually takes. */
  void answered(long nanos) {
    usualNanos = usualNanos == 0 ? nanos : usualNanos + (nanos - usualNanos) / SMOOTHING;
  }

  long slowThresholdNanos() {
    return Math.max(slowHeadNanos, SLOW_FACTOR * usualNanos);
  }

  List<WireSocket> all() {
    return List.copyOf(sockets);
  }

  int size() {
    return sockets.size();
  }
}
