package dev.onehop.copy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.copy.internal.cluster.OplogWindow;
import dev.onehop.copy.internal.full.Counts;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.junit.jupiter.api.Test;

/** Rates, remaining time and the summary of a run, with a simulated clock. */
class ProgressMeterTest {
  private final AtomicLong clock = new AtomicLong(7);
  private final ProgressMeter meter = new ProgressMeter("j", new Counts(), clock::get);

  private void pass(double seconds) {
    clock.addAndGet((long) (seconds * TimeUnit.SECONDS.toNanos(1)));
  }

  private void applied(long events, double lagSeconds) {
    meter.applied(
        events, new BsonTimestamp(9, 1), Duration.ofMillis((long) (lagSeconds * 1_000)), null);
  }

  @Test
  void estimatesRemainingTimeFromSteps() {
    meter.phase(CopyPhase.INDEXES);
    meter.steps(10);
    assertThat(meter.progress().left()).isNull();
    meter.step("small", 2);
    pass(4);
    meter.step("large", 8);
    assertThat(meter.progress().left()).isEqualTo(Duration.ofSeconds(16));
    pass(4);
    meter.share(0.25);
    assertThat(meter.progress().left()).isEqualTo(Duration.ofSeconds(12));
    assertThat(meter.progress().doing()).isEqualTo("large, 25 %");
    meter.share(0.1);
    assertThat(meter.progress().left()).isEqualTo(Duration.ofSeconds(12));
  }

  @Test
  void noRemainingTimeAfterCatchingUp() {
    meter.phase(CopyPhase.INCREMENTAL);
    applied(0, 100);
    meter.progress();
    pass(5);
    applied(1_000, 80);
    CopyProgress behind = meter.progress();
    assertThat(behind.left()).isEqualTo(Duration.ofSeconds(20));
    assertThat(behind.eventsPerSecond()).isEqualTo(200);
    pass(5);
    applied(1_000, 0.1);
    assertThat(meter.progress().left()).isNull();
  }

  /** While the lag grows or stays the same, the progress has no remaining time. */
  @Test
  void noRemainingTimeWithoutCatchingUp() {
    meter.phase(CopyPhase.INCREMENTAL);
    applied(0, 100);
    meter.progress();
    pass(5);
    assertThat(meter.progress().left()).isNull();
    applied(0, 110);
    assertThat(meter.progress().left()).isNull();
  }

  @Test
  void addsPhaseTimesOfAllProcesses() {
    meter.resumed(BsonDocument.parse("{phase: 'FULL', seconds: {structure: 1.5, full: 20.0}}"));
    pass(1);
    meter.phase(CopyPhase.FULL);
    pass(5);
    meter.phase(CopyPhase.INCREMENTAL);
    pass(60);
    applied(10, 0.25);
    meter.phase(CopyPhase.FINISH);
    applied(12, 0);
    pass(2);
    meter.ended(CopyPhase.DONE);
    pass(99);

    assertThat(meter.document().getDocument("seconds"))
        .isEqualTo(
            BsonDocument.parse(
                "{start: 1.0, structure: 1.5, full: 25.0, incremental: 60.0, finish: 2.0}"));
    assertThat(meter.document().getDouble("lagSecondsAtFinish").getValue()).isEqualTo(0.25);
    assertThat(meter.progress().left()).isNull();
    assertThat(meter.progress().times()).doesNotContainKey(CopyPhase.DONE);
  }

  /**
   * A job's document that an earlier release has stored has no times. It must still be accepted.
   */
  @Test
  void resumesJobWithoutTimes() {
    meter.resumed(BsonDocument.parse("{phase: 'FULL', documents: {$numberLong: '5'}}"));
    pass(1);
    assertThat(meter.progress().times()).containsOnlyKeys(CopyPhase.START);
  }

  @Test
  void oplogTimeLeftIsWindowMinusLag() {
    meter.phase(CopyPhase.INCREMENTAL);
    applied(0, 40);
    assertThat(meter.progress().oplogLeft()).isNull();
    meter.window(new OplogWindow("", Duration.ofSeconds(100)));
    assertThat(meter.progress().oplogLeft()).isEqualTo(Duration.ofSeconds(60));
  }

  @Test
  void noEstimateFromFirstIndexKeys() {
    meter.phase(CopyPhase.INDEXES);
    meter.steps(1);
    meter.step("one", 1);
    meter.share(0.0002);
    pass(1);
    assertThat(meter.progress().left()).isNull();
    meter.share(0.5);
    assertThat(meter.progress().left()).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void noRemainingTimeWhilePaused() {
    meter.phase(CopyPhase.INDEXES);
    meter.steps(2);
    meter.step("one", 1);
    pass(4);
    meter.step("two", 1);
    meter.paused(true);
    assertThat(meter.progress().left()).isNull();
  }
}
