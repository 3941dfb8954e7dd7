package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.internal.token.Tokens;
import dev.onehop.streams.observation.StreamListener.Cause;
import dev.onehop.streams.observation.StreamListener.Stall;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the position of a subscription. It logs where the stream starts. It reports when the
 * stream is live (all events from before the start are emitted), and when the position does not
 * move although the cluster time advances. All times are {@link System#nanoTime}.
 *
 * <p>Used by one thread at a time, except {@link #stalledNanos}.
 */
final class PositionWatch {
  private static final Logger log = LoggerFactory.getLogger(PositionWatch.class);
  private static final Duration MOST = Duration.ofSeconds(1);

  private final MergedStream.Observation settings;
  private final Duration interval;
  private String goal = "";
  private boolean live;
  private long openedNanos;
  private String low = "";
  // The latest token of the cluster when the position last moved.
  private String latestThen = "";
  private long lookedNanos;
  private @Nullable Stall stall;
  private volatile long sinceNanos;
  private volatile boolean behind;

  /** The reason why a position does not move, with the shards if shards are the reason. */
  record Wait(Cause cause, Collection<String> shards) {}

  PositionWatch(MergedStream.Observation settings) {
    this.settings = settings;
    Duration some = settings.stallAfter().dividedBy(4);
    this.interval = some.compareTo(MOST) < 0 ? some : MOST;
  }

  /**
   * Called when the stream starts.
   *
   * @param clock the latest known cluster time; null if it is unknown
   */
  void opened(Checkpoint start, Set<String> shards, @Nullable BsonTimestamp clock, long now) {
    goal = clock == null ? "" : Tokens.highWater(clock);
    openedNanos = now;
    moved(start.low(), goal, now);
    lookedNanos = now;
    log.info(
        "the change stream of {} starts at {}, shards {}",
        settings.stream(),
        Instant.ofEpochSecond(start.clusterTime().getTime()),
        new TreeSet<>(shards));
  }

  /**
   * Checks whether the position has moved.
   *
   * @param latest returns {@code _data} of the latest known token of the cluster
   * @param waits returns the reason why the position does not move
   * @return the time until the next check
   */
  Duration look(Checkpoint place, Supplier<String> latest, Supplier<Wait> waits, long now) {
    if (!live && place.low().compareTo(goal) >= 0) {
      live = true;
      log.info(
          "the change stream of {} is live, {} s after its start",
          settings.stream(),
          Duration.ofNanos(now - openedNanos).toSeconds());
      settings.listener().live(place);
    }
    long left = lookedNanos + interval.toNanos() - now;
    if (left > 0) {
      return Duration.ofNanos(left);
    }
    lookedNanos = now;
    String clock = latest.get();
    if (!place.low().equals(low)) {
      moved(place.low(), clock, now);
    } else if (stall == null) {
      wait(place, clock, waits.get(), now);
    }
    return interval;
  }

  private void moved(String to, String clock, long now) {
    Stall before = stall;
    low = to;
    latestThen = Tokens.max(to, clock);
    behind = false;
    stall = null;
    if (before != null) {
      log.info(
          "the position of {} moves again, after {} s",
          settings.stream(),
          Duration.ofNanos(now - sinceNanos).toSeconds());
      settings.listener().resumed(before);
    }
    sinceNanos = now;
  }

  private void wait(Checkpoint place, String clock, Wait waits, long now) {
    // Events may have waited for the subscriber since the last move of the position. So a position
    // that waits for the subscriber is behind if the cluster time is after the position. A position
    // that waits for servers is behind if the cluster time has advanced since the last move.
    String then = waits.cause() == Cause.SUBSCRIBER ? low : latestThen;
    behind = clock.compareTo(then) > 0;
    Duration time = Duration.ofNanos(now - sinceNanos);
    if (!behind || time.compareTo(settings.stallAfter()) < 0) {
      return;
    }
    Stall found =
        new Stall(
            place, Tokens.clusterTime(clock), time, waits.cause(), Set.copyOf(waits.shards()));
    stall = found;
    log.warn(
        "the position of {} has not moved for {} s, although the cluster time has advanced. The"
            + " stream waits for {}",
        settings.stream(),
        time.toSeconds(),
        switch (waits.cause()) {
          case SHARDS -> "shards " + new TreeSet<>(waits.shards());
          case CONFIG_SERVERS -> "the config servers";
          case SUBSCRIBER -> "the subscriber, which requests no events";
        });
    settings.listener().stalled(found);
  }

  /**
   * The time for which the position has not moved although the cluster time has advanced; 0 while
   * the position moves.
   */
  long stalledNanos(long now) {
    return behind ? now - sinceNanos : 0;
  }
}
