package dev.onehop.streams.internal.merge;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.observation.StreamListener;
import dev.onehop.streams.observation.StreamListener.Cause;
import dev.onehop.wire.CapturedLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/** Positions and clocks are small numbers. The position is checked once a second. */
class PositionWatchTest {
  @RegisterExtension
  private final CapturedLog log = new CapturedLog("dev.onehop.streams.internal.merge");

  private final List<String> calls = new ArrayList<>();
  private final PositionWatch watch =
      new PositionWatch(
          new MergedStream.Observation(
              "it.c",
              null,
              new StreamListener() {
                @Override
                public void live(Checkpoint place) {
                  calls.add("live at " + place.clusterTime().getInc());
                }

                @Override
                public void stalled(Stall stall) {
                  calls.add(
                      "%d of %d by %s %s after %d s"
                          .formatted(
                              stall.place().clusterTime().getInc(),
                              stall.clusterTime().getInc(),
                              stall.cause(),
                              stall.shards(),
                              stall.duration().toSeconds()));
                }

                @Override
                public void resumed(Stall stall) {
                  calls.add("resumed");
                }
              },
              Duration.ofSeconds(4)));

  @BeforeEach
  void logAll() {
    ((Logger) LoggerFactory.getLogger(PositionWatch.class)).setLevel(Level.INFO);
  }

  @AfterEach
  void logAsBefore() {
    ((Logger) LoggerFactory.getLogger(PositionWatch.class)).setLevel(null);
  }

  private static Checkpoint place(int time) {
    return Checkpoint.before(Events.at(time));
  }

  private static long seconds(int seconds) {
    return Duration.ofSeconds(seconds).toNanos();
  }

  private void open(int start, int clock) {
    watch.opened(place(start), Set.of("b", "a"), Events.at(clock), 0);
  }

  private Duration look(int second, int position, int clock, Cause cause) {
    return watch.look(
        place(position),
        () -> Events.highWater(clock),
        () -> new PositionWatch.Wait(cause, cause == Cause.SHARDS ? Set.of("b") : Set.of()),
        seconds(second));
  }

  @Test
  void liveAfterReachingClusterTimeOfOpening() {
    open(5, 9);
    look(0, 8, 20, Cause.SHARDS);
    assertThat(calls).isEmpty();
    look(0, 9, 20, Cause.SHARDS);
    look(0, 10, 20, Cause.SHARDS);
    assertThat(calls).containsExactly("live at 9");
    assertThat(log.messages())
        .containsExactly(
            "the change stream of it.c starts at 1970-01-01T00:00:00Z, shards [a, b]",
            "the change stream of it.c is live, 0 s after its start");
  }

  @Test
  void stallLastsUntilPositionAdvances() {
    open(9, 9);
    look(1, 9, 10, Cause.SHARDS);
    look(2, 9, 11, Cause.SHARDS);
    look(3, 9, 12, Cause.SHARDS);
    assertThat(calls).containsExactly("live at 9");
    assertThat(watch.stalledNanos(seconds(3))).isEqualTo(seconds(3));
    look(4, 9, 13, Cause.SHARDS);
    look(5, 9, 14, Cause.SHARDS);
    assertThat(calls).containsExactly("live at 9", "9 of 13 by SHARDS [b] after 4 s");
    look(6, 10, 15, Cause.SHARDS);
    assertThat(calls).last().isEqualTo("resumed");
    assertThat(watch.stalledNanos(seconds(6))).isZero();
    assertThat(log.messages())
        .contains(
            "the position of it.c has not moved for 4 s, although the cluster time has advanced."
                + " The stream waits for shards [b]",
            "the position of it.c moves again, after 6 s");
  }

  /** The cluster is idle and writes no no-ops, so that the cluster time does not advance. */
  @Test
  void noStallWhileClusterTimeIsUnchanged() {
    open(9, 12);
    for (int second = 1; second < 100; second++) {
      look(second, 9, 12, Cause.SHARDS);
    }
    assertThat(calls).isEmpty();
    look(100, 9, 13, Cause.CONFIG_SERVERS);
    assertThat(calls).containsExactly("9 of 13 by CONFIG_SERVERS [] after 100 s");
  }

  /** All events have arrived, and the subscriber requests none of them. */
  @Test
  void reportsStallOfIdleSubscriber() {
    open(9, 12);
    look(5, 9, 12, Cause.SUBSCRIBER);
    assertThat(calls).containsExactly("9 of 12 by SUBSCRIBER [] after 5 s");
  }

  @Test
  void limitsChecksToOncePerSecond() {
    open(9, 9);
    assertThat(look(1, 9, 10, Cause.SHARDS)).isEqualTo(Duration.ofSeconds(1));
    assertThat(watch.look(place(10), () -> "", () -> null, seconds(1) + 1))
        .isEqualTo(Duration.ofSeconds(1).minusNanos(1));
  }
}
