package dev.onehop.routing.internal.transport;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The sockets that short requests share, and the requests that wait for one.
 *
 * <p>There are two sorts of requests. One that may wait in the server, such as a write for its
 * write concern, shares a socket with its like only: never is another one sent behind it, unless
 * there is but one socket. How many of the sockets the ones that may wait get, from the last one
 * on, is their part of all requests. One socket, and one that answers, is left to the others where
 * there are any, or where these could not have one of their own.
 */
final class SharedSockets {
  private final int maxInFlight;
  private final ServerMeters meters;
  private final BooleanSupplier growing;
  private final BooleanSupplier spare;
  private final List<WireSocket> sockets = new ArrayList<>();
  private final WaitingLine quick;
  private final WaitingLine patient;
  private final TurnedAway turnedAway;

  /**
   * @param growing whether there will soon be a further socket
   * @param spare whether a request may have a socket of its own
   */
  SharedSockets(
      int maxInFlight,
      long slowHeadNanos,
      ServerMeters meters,
      BooleanSupplier growing,
      BooleanSupplier spare) {
    this.maxInFlight = maxInFlight;
    this.meters = meters;
    this.growing = growing;
    this.spare = spare;
    this.quick = new WaitingLine(slowHeadNanos);
    this.patient = new WaitingLine(slowHeadNanos);
    this.turnedAway = new TurnedAway(meters);
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

  private WaitingLine line(boolean mayWait) {
    return mayWait ? patient : quick;
  }

  /** The least loaded socket for a request that is sent now, null if all are full or slow. */
  private @Nullable WireSocket pick(boolean mayWait, long now) {
    return mayWait
        ? pickToWait(maxInFlight, !growing.getAsBoolean(), now)
        : pickQuick(maxInFlight, now);
  }

  private @Nullable WireSocket pickQuick(int limit, long now) {
    boolean crowds = sockets.size() == 1 && !growing.getAsBoolean();
    WireSocket best = null;
    for (WireSocket socket : sockets) {
      if ((socket.isClear() || crowds) && socket.inFlight() < limit && flows(socket, now)) {
        best = lessLoaded(best, socket);
      }
    }
    return best;
  }

  /**
   * The same for one that may wait.
   *
   * @param crowds whether it may go on the only socket there is
   */
  private @Nullable WireSocket pickToWait(int limit, boolean crowds, long now) {
    int flowing = 0;
    int waits = 1 + patient.size();
    int others = quick.size();
    for (WireSocket socket : sockets) {
      if (flows(socket, now)) {
        flowing++;
        waits += socket.waits();
        others += socket.inFlight() - socket.waits();
      }
    }
    boolean all = sockets.size() == 1 ? crowds : others == 0 && spare.getAsBoolean();
    int most = all ? flowing : flowing - 1;
    int part = Math.min(most, Math.max(1, Math.round((float) flowing * waits / (waits + others))));
    WireSocket best = null;
    for (int n = sockets.size() - 1; n >= 0 && part > 0; n--) {
      WireSocket socket = sockets.get(n);
      if (flows(socket, now)) {
        part--;
        best = socket.inFlight() < limit ? lessLoaded(best, socket) : best;
      }
    }
    return best;
  }

  private static WireSocket lessLoaded(@Nullable WireSocket best, WireSocket socket) {
    return best == null || socket.inFlight() < best.inFlight() ? socket : best;
  }

  private boolean flows(WireSocket socket, long now) {
    return socket.isWritable() && !socket.isSlow(now, slowThresholdNanos(socket));
  }

  /** Whether on every socket there is something that waits in the server, and for long. */
  boolean areHeldUp(long now) {
    for (WireSocket socket : sockets) {
      if (socket.isClear() || !socket.isSlow(now, slowThresholdNanos(socket))) {
        return false;
      }
    }
    return !sockets.isEmpty();
  }

  /** Whether a socket is shared and takes a request at once. */
  boolean takes(WireSocket socket, long now) {
    return sockets.contains(socket) && socket.inFlight() < maxInFlight && flows(socket, now);
  }

  /**
   * The least loaded socket on which nobody authenticates, null if there is none. A full one will
   * do, too: lanes that are not ready yet cannot wait behind those that are. So will one that does
   * not answer at the moment, or on which requests may wait, if there is no other.
   */
  @Nullable WireSocket pickForConversation(long now) {
    WireSocket best = null;
    int bestRank = -1;
    for (WireSocket socket : sockets) {
      if (socket.conversation != null) {
        continue;
      }
      int rank = !flows(socket, now) ? 0 : socket.isClear() ? 2 : 1;
      if (rank > bestRank
          || (best != null && rank == bestRank && socket.inFlight() < best.inFlight())) {
        best = socket;
        bestRank = rank;
      }
    }
    return best;
  }

  /** Takes the least loaded socket out of sharing, if so many others remain; null if not. */
  @Nullable WireSocket giveUpOne(int others, long now) {
    WireSocket least = sockets.size() > others ? pickForConversation(now) : null;
    if (least != null) {
      remove(least);
    }
    return least;
  }

  /** Sends a request on the least loaded socket, or lets it wait for one. */
  void dispatch(Request request, long now) {
    request.queuedAt = now;
    WaitingLine line = line(request.mayWait);
    WireSocket socket = line.isEmpty() ? pick(request.mayWait, now) : null;
    if (socket == null) {
      line.add(request);
    } else {
      socket.send(request);
    }
  }

  /** A socket that takes a request without a reply at once, ahead of none; null if none does. */
  @Nullable WireSocket pickAtOnce(long now) {
    return patient.isEmpty() ? pickToWait(maxInFlight, true, now) : null;
  }

  /** The lanes whose request without a reply found no socket. */
  TurnedAway turnedAway() {
    return turnedAway;
  }

  /** Sends what waits, as far as it goes. */
  void drain(long now) {
    drain(false, now);
    drain(true, now);
    if (!turnedAway.isEmpty()) {
      offerAgain(now);
    }
  }

  private void drain(boolean mayWait, long now) {
    WaitingLine line = line(mayWait);
    for (Request next = line.first(); next != null; next = line.first()) {
      WireSocket socket = pick(mayWait, now);
      if (socket == null) {
        return;
      }
      line.removeFirst();
      meters.waited(now - next.queuedAt);
      socket.send(next);
    }
  }

  private void offerAgain(long now) {
    // Each of them once: the clock goes on meanwhile, and a socket that was not slow when this
    // began may turn away all of them by now.
    for (Lane lane : turnedAway.lanes()) {
      if (pickAtOnce(now) == null) {
        return;
      }
      lane.end.mayWrite();
    }
  }

  /** Forgets what a lane has waiting. */
  void forget(Lane lane) {
    turnedAway.forget(lane);
    quick.forget(lane);
    patient.forget(lane);
  }

  /**
   * The first in a line, if it has waited for long while every socket that it might use is slow;
   * null if there is none, or if one of the sockets is only full, so that the line moves on.
   */
  @Nullable Request firstStuck(boolean mayWait, long leastNanos, long now) {
    WaitingLine line = line(mayWait);
    Request first = line.first();
    if (first == null
        || now - first.queuedAt < Math.max(leastNanos, line.slowThresholdNanos())
        || (mayWait ? pickToWait(Integer.MAX_VALUE, false, now) : pickQuick(Integer.MAX_VALUE, now))
            != null) {
      return null;
    }
    return first;
  }

  /** Takes the first out of line. */
  void removeFirst(boolean mayWait) {
    line(mayWait).removeFirst();
  }

  /** Takes the first hello out of line, null if there is none. */
  @Nullable Request takeFirstHello() {
    return quick.takeFirstHello();
  }

  /** Breaks the lanes that have waited since {@code since} or longer. */
  void failThoseWaiting(long since, PipelineException cause) {
    quick.failThoseWaiting(since, cause);
    patient.failThoseWaiting(since, cause);
    turnedAway.failThoseWaiting(since, cause);
  }

  /** Breaks the lanes that wait: no socket is going to come. */
  void failWaiting(PipelineException cause) {
    Set<Lane> lanes = new LinkedHashSet<>(turnedAway.lanes());
    lanes.addAll(quick.lanes());
    lanes.addAll(patient.lanes());
    lanes.forEach(lane -> lane.fail(cause));
  }

  /** The first in line, null if nobody waits. */
  @Nullable Request firstWaiting() {
    return quick.isEmpty() ? patient.first() : quick.first();
  }

  boolean hasWaiting() {
    return !quick.isEmpty() || !patient.isEmpty() || !turnedAway.isEmpty();
  }

  /** Learns how long a reply usually takes. */
  void answered(Request request, long now) {
    line(request.mayWait).answered(now - request.sentAt);
  }

  /** How long a socket may owe an answer, by what is on it. */
  long slowThresholdNanos(WireSocket socket) {
    return line(!socket.isClear()).slowThresholdNanos();
  }

  List<WireSocket> all() {
    return List.copyOf(sockets);
  }

  int size() {
    return sockets.size();
  }
}
