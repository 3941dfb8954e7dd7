package dev.onehop.measure.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.delivery.ChangeChecker.Verdict;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ChangeCheckerTest {

  private final ChangeChecker checker = new ChangeChecker();

  private void read(long number, int version) {
    checker.snapshot(number, version);
  }

  private void seen(long number, int... versions) {
    for (int version : versions) {
      checker.event(number, version);
    }
  }

  @Test
  void aSnapshotAndWhatFollowsItAreAll() {
    read(0, 3);
    read(1, 1);
    seen(0, 4, 5);
    seen(2, 1, 2); // Inserted after the snapshot.

    assertThat(checker.verdict(Map.of(0L, 5, 1L, 1, 2L, 2))).isEqualTo(new Verdict(0, 0));
    assertThat(checker.documents()).isEqualTo(2);
    assertThat(checker.seen()).isEqualTo(4);
  }

  @Test
  void theOrderIsNoMatter() {
    read(0, 1);
    seen(0, 3, 2);

    assertThat(checker.verdict(Map.of(0L, 3))).isEqualTo(new Verdict(0, 0));
  }

  @Test
  void aGapBetweenSnapshotAndStreamIsLost() {
    read(0, 3);
    seen(0, 5);

    assertThat(checker.verdict(Map.of(0L, 5))).isEqualTo(new Verdict(1, 0));
  }

  @Test
  void anOverlapOfSnapshotAndStreamIsDoubled() {
    read(0, 3);
    seen(0, 3, 4);

    assertThat(checker.verdict(Map.of(0L, 4))).isEqualTo(new Verdict(0, 1));
  }

  @Test
  void theLastChangesAreMissedToo() {
    read(0, 1);
    seen(0, 2);

    assertThat(checker.verdict(Map.of(0L, 4, 1L, 2))).isEqualTo(new Verdict(4, 0));
  }

  @Test
  void whatComesTwiceIsDoubled() {
    read(0, 1);
    read(0, 1);
    seen(0, 2, 2);

    assertThat(checker.verdict(Map.of(0L, 2))).isEqualTo(new Verdict(0, 2));
  }
}
