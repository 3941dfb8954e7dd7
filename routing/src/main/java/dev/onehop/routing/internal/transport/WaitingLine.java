package dev.onehop.routing.internal.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Requests of one sort that wait for a shared socket, and how long the server takes for them. */
final class WaitingLine {
  // How much slower than usual an answer has to be before it counts as slow.
  private static final int SLOW_FACTOR = 4;
  // Weight of one reply in the usual time to a reply: 1/8, as TCP's round trip estimate has it.
  private static final int SMOOTHING = 8;

  private final Queue<Request> requests = new ArrayDeque<>();
  private final long slowHeadNanos;
  private long usualNanos;

  WaitingLine(long slowHeadNanos) {
    this.slowHeadNanos = slowHeadNanos;
  }

  void add(Request request) {
    requests.add(request);
  }

  /** The first in line, null if there is none. */
  @Nullable Request first() {
    return requests.peek();
  }

  void removeFirst() {
    requests.remove();
  }

  boolean isEmpty() {
    return requests.isEmpty();
  }

  int size() {
    return requests.size();
  }

  /** Takes the first hello out of line, null if there is none. */
  @Nullable Request takeFirstHello() {
    for (Request request : requests) {
      if (request.kind == Request.Kind.LATER_HELLO) {
        requests.remove(request);
        return request;
      }
    }
    return null;
  }

  /** Forgets what a lane has waiting. */
  void forget(Lane lane) {
    requests.removeIf(request -> request.lane == lane);
  }

  /** The lanes that wait. */
  List<Lane> lanes() {
    List<Lane> lanes = new ArrayList<>();
    for (Request request : requests) {
      if (request.lane != null) {
        lanes.add(request.lane);
      }
    }
    return lanes;
  }

  /** Breaks the lanes that have waited since {@code since} or longer. */
  void failThoseWaiting(long since, PipelineException cause) {
    failThoseWaiting(requests, since, cause);
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

  /** Learns how long a reply usually takes. */
  void answered(long nanos) {
    usualNanos = usualNanos == 0 ? nanos : usualNanos + (nanos - usualNanos) / SMOOTHING;
  }

  /** How long an answer may take before its socket is passed over. */
  long slowThresholdNanos() {
    return Math.max(slowHeadNanos, SLOW_FACTOR * usualNanos);
  }
}
