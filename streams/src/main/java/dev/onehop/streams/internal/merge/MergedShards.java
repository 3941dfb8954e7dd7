package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.internal.token.Tokens;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * The shards of a {@link Merge}. Reads the events of the shards and the placement when the merge
 * needs them. When the placement changes, shards are added and removed.
 *
 * <p>Used by one thread at a time. Replies are handled in {@link MergedSubscription#post}.
 */
final class MergedShards {
  private static final Logger log = LoggerFactory.getLogger(MergedShards.class);

  // These times are short, because a shard without events replies to a getMore only at the end of
  // maxTimeMS. Events of other shards may wait for the newer token in this reply.
  private static final Duration AWAIT_HELD = Duration.ofMillis(3);
  private static final Duration AWAIT_TOTAL = Duration.ofMillis(10);
  private static final Duration AWAIT_PER_KEY = Duration.ofMillis(50);

  /**
   * How long to read a removed shard that cannot be reached. After this time, the shard's remaining
   * events count as lost.
   */
  private static final Duration LEAVING = Duration.ofMinutes(1);

  private final Cluster cluster;
  private final MergeSettings settings;
  private final @Nullable StreamMeter meters;
  private final MergedSubscription owner;
  private final Merge merge;
  private final Map<String, ShardReader> readers = new HashMap<>();
  private final Map<String, Leaving> leaving = new HashMap<>();
  private Cluster.@Nullable Placement placement;
  private boolean placing;
  private long placedNanos = System.nanoTime();
  private int placingFailures;

  private record Leaving(String bound, long untilNanos) {}

  MergedShards(
      Cluster cluster,
      Cluster.Opening opening,
      MergeSettings settings,
      @Nullable StreamMeter meters,
      MergedSubscription owner) {
    this.cluster = cluster;
    this.settings = settings;
    this.meters = meters;
    this.owner = owner;
    Checkpoint start = opening.start();
    Cluster.Placement first = opening.placement();
    this.merge =
        new Merge(settings.order(), first != null, start.low(), settings.groupTransactions());
    this.placement = first;
    opening.shards().forEach(shard -> add(shard, start.token(shard)));
    if (first != null) {
      // A resumed stream starts before the first read of the placement. The placement may have
      // changed in between, so this read counts as a change.
      merge.placed(first.through(), opening.resumed() ? first.latest() : null);
    }
  }

  Merge merge() {
    return merge;
  }

  /** Whether a shard is merged. */
  boolean has(String shard) {
    return readers.containsKey(shard);
  }

  private void add(String shard, String after) {
    merge.add(shard, after);
    ShardStream stream = cluster.stream(shard);
    StreamMeter.ShardMeter meter = meters == null ? null : meters.shard(shard, stream);
    readers.put(shard, new ShardReader(shard, stream, after, settings, meter, owner));
  }

  /** Sends the requests for the events and the placement that the merge needs. */
  void read() {
    if (placement != null) {
      place();
    }
    List<String> holders = merge.holders();
    if (meters != null) {
      meters.awaited(holders);
    }
    for (ShardReader reader : List.copyOf(readers.values())) {
      String shard = reader.shard();
      boolean held = holders.contains(shard) || leaving.containsKey(shard);
      if (held) {
        reader.advance();
      }
      leave(shard);
      if (has(shard) && merge.bytes(shard) < settings.bufferPerShard()) {
        reader.read(await(held));
      }
    }
  }

  private Duration await(boolean held) {
    if (readers.size() == 1) {
      return settings.maxAwaitTime();
    }
    Duration most = AWAIT_PER_KEY;
    if (held) {
      most = AWAIT_HELD;
    } else if (settings.order() == Order.TOTAL) {
      most = AWAIT_TOTAL;
    }
    return most.compareTo(settings.maxAwaitTime()) < 0 ? most : settings.maxAwaitTime();
  }

  private void place() {
    if (placing) {
      return;
    }
    boolean wanted = merge.waitsForPlacement();
    Duration interval = wanted ? settings.heartbeatInterval() : settings.progressInterval();
    if (placingFailures > 0) {
      interval = Pauses.after(placingFailures);
    }
    long left = placedNanos + interval.toNanos() - System.nanoTime();
    if (left > 0) {
      owner.wakeIn(Duration.ofNanos(left));
      return;
    }
    placing = true;
    placedNanos = System.nanoTime();
    cluster
        .placement(wanted)
        .subscribe(
            found -> owner.post(() -> placed(found)), cause -> owner.post(() -> notPlaced(cause)));
  }

  private void endPlacing(boolean ok) {
    placing = false;
    if (meters != null) {
      meters.placed(System.nanoTime() - placedNanos, ok);
    }
  }

  private void placed(Cluster.Placement found) {
    endPlacing(true);
    placingFailures = 0;
    Cluster.Placement before = placement;
    if (before == null) {
      return;
    }
    boolean changed = !found.state().equals(before.state());
    placement = found;
    String since = Tokens.after(before.through());
    for (String shard : found.shards()) {
      if (!has(shard)) {
        // The shard was not in the earlier placement, so all its events are later than the time of
        // that placement.
        log.info("shard {} was added, its stream is merged", shard);
        add(shard, since);
      }
      leaving.remove(shard);
    }
    for (String shard : readers.keySet()) {
      if (!found.shards().contains(shard) && !leaving.containsKey(shard)) {
        log.info("shard {} was removed, its stream is read to the end", shard);
        leaving.put(
            shard,
            new Leaving(Tokens.after(found.through()), System.nanoTime() + LEAVING.toNanos()));
      }
    }
    merge.placed(found.through(), changed ? found.latest() : null);
  }

  private void notPlaced(Throwable cause) {
    endPlacing(false);
    if (!ReadFailure.isPassing(cause)) {
      owner.failed(ReadFailure.cause(cause));
      return;
    }
    placingFailures++;
    if (placingFailures == 3) {
      log.warn("events wait for the config servers, which don't answer: {}", cause.getMessage());
    }
  }

  /** Stops reading a removed shard once all events before its removal are emitted. */
  private void leave(String shard) {
    Leaving going = leaving.get(shard);
    if (going == null || !merge.isEmpty(shard)) {
      return;
    }
    boolean late = going.untilNanos() - System.nanoTime() <= 0;
    if (merge.mark(shard).compareTo(going.bound()) < 0 && !late) {
      owner.wakeIn(Duration.ofMillis(100));
      return;
    }
    if (late) {
      owner.lost(shard, Tokens.clusterTime(merge.mark(shard)), Tokens.clusterTime(going.bound()));
    }
    leaving.remove(shard);
    merge.remove(shard);
    ShardReader reader = readers.remove(shard);
    if (reader != null) {
      reader.close().subscribe();
    }
  }

  /** Closes all cursors. */
  List<Mono<Void>> close() {
    return readers.values().stream().map(ShardReader::close).toList();
  }
}
