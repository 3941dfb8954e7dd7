package dev.onehop.measure.propagate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.results.PropagateResults.Clocks;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClockOffsetTest {

  private static final int SECOND = 1_000_000;

  private final ClockOffset clocks = new ClockOffset();
  private long now = 5_000_000_000L;

  /** A question takes its time, and the answer another one. */
  private void ask(long ahead, long there, long back) {
    long sent = now;
    now += there + back;
    clocks.add(sent, sent + there + ahead, now);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 500_000, -500_000, 37, -86_400_000_000L})
  void theOffsetIsWithinItsErrorHoweverTheWaysDiffer(long ahead) {
    Random random = new Random(ahead);
    for (int i = 0; i < 200; i++) {
      ask(ahead, 100 + random.nextInt(5_000), 300 + random.nextInt(20_000));
    }
    long fixed = clocks.fix();
    for (int i = 0; i < 2_000; i++) {
      ask(ahead, 100 + random.nextInt(5_000), 300 + random.nextInt(20_000));
      now += 10_000;
    }

    Clocks found = clocks.clocks("b");
    assertThat(found.offsetMicros()).isEqualTo(fixed);
    assertThat(found.errorMicros()).isPositive();
    assertThat(Math.abs(found.offsetMicros() - ahead)).isLessThanOrEqualTo(found.errorMicros());
    assertThat(found.roundTrips()).isEqualTo(2_200);
    assertThat(found.leastRoundTripMicros()).isGreaterThanOrEqualTo(400);
    assertThat(found.consistent()).isTrue();
  }

  @Test
  void manyRoundTripsBoundTighterThanHalfOfTheShortest() {
    ask(500_000, 100, 900);
    ask(500_000, 900, 100);
    long unused = clocks.fix();

    assertThat(clocks.clocks("b").errorMicros()).isBetween(100L, 103L);
  }

  @Test
  void clocksThatRunApartWidenTheError() {
    long least = Long.MAX_VALUE;
    long most = Long.MIN_VALUE;
    ask(0, 100, 100);
    long fixed = clocks.fix();
    for (int i = 0; i < 600; i++) {
      long ahead = i * 10L; // 50 ms a question: 200 ppm.
      ask(ahead, 100, 100);
      now += SECOND / 20;
      least = Math.min(least, ahead);
      most = Math.max(most, ahead);
    }

    Clocks found = clocks.clocks("b");
    assertThat(found.errorMicros()).isGreaterThanOrEqualTo(most - fixed);
    assertThat(found.errorMicros()).isLessThan(most - least + 1_000);
    assertThat(found.consistent()).isFalse();
  }

  @Test
  void aClockThatIsSetIsCovered() {
    ask(0, 100, 100);
    long fixed = clocks.fix();
    ask(700_000, 100, 100);

    Clocks found = clocks.clocks("b");
    assertThat(found.consistent()).isFalse();
    assertThat(found.errorMicros()).isGreaterThanOrEqualTo(700_000 - fixed);
  }
}
