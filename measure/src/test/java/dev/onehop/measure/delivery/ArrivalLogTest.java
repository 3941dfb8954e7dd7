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

  private void receive(int group, long number) {
    log.take(0, SampleEvents.of(new Row(RUN, group, number, 1, 100, 130), 1, 0));
  }

  @Test
  void countsRowsOfGroup() {
    receive(1, 0);
    receive(1, 1);
    receive(2, 2);

    assertThat(log.rows(1)).isEqualTo(2);
    assertThat(log.rows(2)).isEqualTo(1);
    assertThat(log.rows(3)).isZero();
    assertThat(log.rows()).isEqualTo(3);
    assertThat(log.lastMicros()).isPositive();
  }

  @Test
  void signalsAreCompleteWhenLastArrives() {
    List<Long> both = List.of(Row.signal(0), Row.signal(1));
    receive(1, Row.signal(1));
    assertThat(log.signalled(both)).isEmpty();
    receive(1, Row.signal(0));

    assertThat(log.signalled(both)).isPresent();
    assertThat(log.signalled(both).getAsLong())
        .isGreaterThanOrEqualTo(log.signalled(List.of(Row.signal(1))).getAsLong());
    assertThat(log.signals()).isEqualTo(2);
    assertThat(log.rows()).isZero();
    assertThat(timed).isEmpty();
  }

  @Test
  void countsRepeatedRowsAndSignalsAsDoubled() {
    receive(1, 0);
    receive(1, 0);
    receive(1, Row.signal(0));
    receive(1, Row.signal(0));

    assertThat(log.checker().doubled()).isEqualTo(2);
    assertThat(log.rows(1)).isEqualTo(1);
    assertThat(log.signals()).isEqualTo(1);
    assertThat(timed).hasSize(1);
  }

  @Test
  void ignoresOtherRunsAndChannels() {
    log.take(0, SampleEvents.of(new Row(RUN + 1, 1, 0, 1, 0, 0), 1, 0));
    log.take(2, SampleEvents.of(new Row(RUN, 1, 0, 1, 0, 0), 1, 0));

    assertThat(log.rows()).isZero();
  }

  @Test
  @Timeout(value = 10, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void ignoresRowsAfterClose() {
    log.close();
    log.close();
    receive(1, 0);

    assertThat(log.rows()).isZero();
  }
}
