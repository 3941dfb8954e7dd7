package dev.onehop.measure.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ArrivalLogTest {

  private static final int RUN = 9;

  private final List<Row> timed = new ArrayList<>();
  private final ArrivalLog log =
      new ArrivalLog(RUN, false, channel -> channel < 2, (row, event, seen) -> timed.add(row));

  private void comes(int group, long number) {
    log.take(0, SampleEvents.of(new Row(RUN, group, number, 1, 100, 130), 1, 0));
  }

  @Test
  void rowsOfAGroupAreCounted() {
    comes(1, 0);
    comes(1, 1);
    comes(2, 2);

    assertThat(log.rows(1)).isEqualTo(2);
    assertThat(log.rows(2)).isEqualTo(1);
    assertThat(log.rows(3)).isZero();
    assertThat(log.rows()).isEqualTo(3);
    assertThat(log.lastMicros()).isPositive();
  }

  @Test
  void signalsHaveComeWhenTheLastOneHas() {
    List<Long> both = List.of(Row.signal(0), Row.signal(1));
    comes(1, Row.signal(1));
    assertThat(log.signalled(both)).isEmpty();
    comes(1, Row.signal(0));

    assertThat(log.signalled(both)).isPresent();
    assertThat(log.signalled(both).getAsLong())
        .isGreaterThanOrEqualTo(log.signalled(List.of(Row.signal(1))).getAsLong());
    assertThat(log.signals()).isEqualTo(2);
    assertThat(log.rows()).isZero();
    assertThat(timed).isEmpty();
  }

  @Test
  void rowsAndSignalsThatComeAgainAreCountedAndNotTimedAgain() {
    comes(1, 0);
    comes(1, 0);
    comes(1, Row.signal(0));
    comes(1, Row.signal(0));

    assertThat(log.checker().doubled()).isEqualTo(2);
    assertThat(log.rows(1)).isEqualTo(1);
    assertThat(log.signals()).isEqualTo(1);
    assertThat(timed).hasSize(1);
  }

  @Test
  void otherRunsAndOtherChannelsAreNotLookedAt() {
    log.take(0, SampleEvents.of(new Row(RUN + 1, 1, 0, 1, 0, 0), 1, 0));
    log.take(2, SampleEvents.of(new Row(RUN, 1, 0, 1, 0, 0), 1, 0));

    assertThat(log.rows()).isZero();
  }

  @Test
  @Timeout(value = 10, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void nothingIsTakenAfterTheEnd() {
    log.close();
    log.close();
    comes(1, 0);

    assertThat(log.rows()).isZero();
  }
}
