package dev.onehop.measure.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ArrivalsTest {

  private static final int RUN = 9;

  private final Arrivals arrivals = new Arrivals(RUN, 2);

  private void comes(int test, long number, long micros) {
    arrivals.take(new Item(RUN, test, number, 1, 100, 130), micros);
  }

  @Test
  void aTestIsCompleteWhenAllObjectsAndSignalsHaveCome() {
    comes(1, 0, 200);
    comes(1, 1, 210);
    comes(1, Item.signal(1), 240);
    assertThat(arrivals.isSignalled(1)).isFalse();
    assertThatThrownBy(() -> arrivals.lastSignalMicros(1))
        .isInstanceOf(IllegalStateException.class);
    comes(1, Item.signal(0), 220);

    assertThat(arrivals.isComplete(1, 2)).isTrue();
    assertThat(arrivals.isComplete(1, 3)).isFalse();
    assertThat(arrivals.isComplete(2, 0)).isFalse();
    assertThat(arrivals.lastSignalMicros(1)).isEqualTo(240);
    assertThat(arrivals.distinct()).isEqualTo(4);
  }

  @Test
  void objectsAreTimedFromWhenTheyWereDueAndFromWhenTheyBegan() {
    comes(1, 0, 200);
    comes(1, 1, 140);
    comes(1, Item.signal(0), 500);

    assertThat(arrivals.sinceDue().toArray()).containsExactly(100, 40);
    assertThat(arrivals.sinceBegan().toArray()).containsExactly(70, 10);
  }

  @Test
  void theFirstTestIsCheckedAndNotTimed() {
    comes(0, 0, 200);
    comes(0, 0, 200);

    assertThat(arrivals.sinceDue().toArray()).isEmpty();
    assertThat(arrivals.doubled()).isEqualTo(1);
  }

  @Test
  void whatComesAgainIsCountedAndNotTimedAgain() {
    comes(1, 0, 200);
    comes(1, 0, 300);
    comes(1, Item.signal(0), 300);
    comes(1, Item.signal(0), 400);

    assertThat(arrivals.doubled()).isEqualTo(2);
    assertThat(arrivals.distinct()).isEqualTo(2);
    assertThat(arrivals.sinceDue().toArray()).hasSize(1);
  }

  @Test
  void otherRunsAreNotLookedAt() {
    arrivals.take(new Item(RUN + 1, 1, 0, 1, 0, 0), 10);

    assertThat(arrivals.distinct()).isZero();
  }
}
