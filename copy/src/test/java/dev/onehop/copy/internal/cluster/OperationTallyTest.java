package dev.onehop.copy.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.bson.BsonTimestamp;
import org.junit.jupiter.api.Test;

class OperationTallyTest {
  private final OperationTally tally = new OperationTally();

  private static BsonTimestamp time(int seconds, int increment) {
    return new BsonTimestamp(seconds, increment);
  }

  @Test
  void countsAllBeforeFirstAndNoneAfterLast() {
    tally.add(time(10, 1), time(10, 100), 100);
    tally.add(time(20, 1), time(20, 50), 50);
    assertThat(tally.since(time(1, 1))).isEqualTo(150);
    assertThat(tally.since(time(10, 1))).isEqualTo(150);
    assertThat(tally.since(time(10, 101))).isEqualTo(50);
    assertThat(tally.since(time(20, 1))).isEqualTo(50);
    assertThat(tally.since(time(20, 50))).isEqualTo(1);
    assertThat(tally.since(time(20, 51))).isZero();
  }

  @Test
  void spreadsOperationsEvenlyInBetween() {
    tally.add(time(10, 1), time(10, 100), 100);
    assertThat(tally.since(time(10, 26))).isEqualTo(75);
    tally.forget(time(10, 26));
    assertThat(tally.since(time(10, 26))).isEqualTo(75);
    assertThat(tally.since(time(10, 76))).isEqualTo(25);
  }

  @Test
  void mergesOldPointsAndKeepsTotal() {
    int seconds = 100_000;
    for (int second = 1; second <= seconds; second++) {
      tally.add(time(second, 1), time(second, 10), 10);
    }
    assertThat(tally.since(time(1, 1))).isEqualTo(10L * seconds);
    assertThat(tally.since(time(seconds - 100, 1))).isEqualTo(10 * 101);
    assertThat(tally.since(time(seconds / 2, 1)))
        .isBetween(10L * seconds / 2 - 5_000, 10L * seconds / 2 + 5_000);
    assertThat(tally.points()).isLessThan(2_001);
  }
}
