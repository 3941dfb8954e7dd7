package dev.onehop.routing.internal.transport;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The lanes whose request was not taken yet, first come first: it stays with the driver, which
 * writes it again when it may.
 */
final class TurnedAway {
  private final Map<Lane, Long> since = new LinkedHashMap<>();
  private final ServerMeters meters;

  TurnedAway(ServerMeters meters) {
    this.meters = meters;
  }

  /** Remembers a lane whose request was turned away, now or before. */
  void add(Lane lane, long now) {
    since.putIfAbsent(lane, now);
  }

  /** The request of a lane that may have been turned away before was taken. */
  void admit(Lane lane, long now) {
    Long turnedAwayAt = since.remove(lane);
    if (turnedAwayAt != null) {
      meters.waited(now - turnedAwayAt);
    }
  }

  void forget(Lane lane) {
    since.remove(lane);
  }

  boolean isEmpty() {
    return since.isEmpty();
  }

  Collection<Lane> lanes() {
    return List.copyOf(since.keySet());
  }

  /** Breaks the lanes that have waited since {@code time} or longer. */
  void failThoseWaiting(long time, PipelineException cause) {
    List<Lane> late = new ArrayList<>();
    since.forEach(
        (lane, turnedAwayAt) -> {
          if (turnedAwayAt - time <= 0) {
            late.add(lane);
          }
        });
    late.forEach(lane -> lane.fail(cause));
  }
}
