package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.it.VersionedWrites.Written;
import dev.onehop.streams.event.Checkpoint;
import java.util.Map;
import org.bson.BsonTimestamp;
import org.junit.jupiter.api.Test;

/** {@link StreamCheck} must find the errors in these events. */
class StreamCheckTest {
  private static final Map<Integer, Written> THREE = Map.of(1, new Written(3, false));

  private final StreamCheck check = new StreamCheck(false);

  private static String token(int second) {
    return Checkpoint.before(new BsonTimestamp(second, 1)).low();
  }

  private static Checkpoint upTo(int second) {
    return Checkpoint.before(new BsonTimestamp(second, 2));
  }

  /**
   * Adds the writes of document 1 in this order. The event of write v has a token with the time of
   * v seconds.
   */
  private void give(int... versions) {
    for (int version : versions) {
      check.add("a", token(version), 1, version);
    }
  }

  private void giveDelete(int second) {
    check.add("a", token(second), 1, 0);
  }

  private void assertRight() {
    assertThat(check.wrong()).isEmpty();
    assertThat(check.differences(THREE)).isEmpty();
  }

  @Test
  void acceptsWhatIsRight() {
    give(1, 2, 3);
    assertRight();
  }

  @Test
  void acceptsADeleteInItsPlace() {
    give(1);
    giveDelete(2);
    give(3);
    assertRight();
  }

  @Test
  void findsAnEventThatIsMissing() {
    give(1, 3);
    assertThat(check.wrong()).hasSize(1);
  }

  @Test
  void findsTheLastEventMissing() {
    give(1, 2);
    assertThat(check.wrong()).isEmpty();
    assertThat(check.differences(THREE)).hasSize(1);
  }

  @Test
  void findsADocumentOfWhichNothingIsThere() {
    assertThat(check.differences(THREE)).hasSize(1);
  }

  @Test
  void findsAnEventThatComesTwice() {
    give(1, 2, 2, 3);
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsAnEventThatComesTwiceUnderAnotherToken() {
    give(1, 2, 3);
    check.add("b", token(9), 1, 3);
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsADeleteThatComesTwice() {
    give(1, 2);
    giveDelete(3);
    giveDelete(4);
    assertThat(check.differences(THREE)).isNotEmpty();
  }

  @Test
  void findsTwoEventsThatAreSwapped() {
    give(1, 3, 2);
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsADocumentThatNobodyWrote() {
    give(1, 2, 3);
    check.add("a", token(9), 2, 1);
    assertThat(check.differences(THREE)).isNotEmpty();
  }

  @Test
  void acceptsAWriteThatWasNotAcknowledgedOrNone() {
    Map<Integer, Written> uncertain = Map.of(1, new Written(2, true));
    give(1, 2);
    assertThat(check.differences(uncertain)).isEmpty();
    give(3);
    assertThat(check.differences(uncertain)).isEmpty();
    give(4);
    assertThat(check.differences(uncertain)).isNotEmpty();
  }

  @Test
  void findsTotalOrderBroken() {
    StreamCheck total = new StreamCheck(true);
    total.add("a", token(5), 1, 1);
    total.add("b", token(4), 2, 1);
    assertThat(total.wrong()).isNotEmpty();
  }

  @Test
  void acceptsAfterARestartWhatWasNotAcknowledged() {
    give(1, 2);
    check.stored(upTo(1));
    check.restarted(upTo(1));
    give(2, 3);
    assertRight();
    assertThat(check.again()).isEqualTo(1);
  }

  @Test
  void findsAfterARestartWhatWasAcknowledged() {
    give(1, 2);
    check.stored(upTo(2));
    check.restarted(upTo(2));
    give(2, 3);
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsAfterARestartAGap() {
    give(1);
    check.restarted(upTo(0));
    give(3);
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsAfterARestartAnEventThatComesTwice() {
    give(1, 2);
    check.restarted(upTo(0));
    give(1, 2, 2, 3);
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsAfterARestartTwoEventsThatAreSwapped() {
    give(1, 2, 3);
    check.restarted(upTo(0));
    give(2, 1, 3);
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsAfterARestartWhatIsLeftOutOfTheRepetition() {
    give(1, 2, 3);
    check.restarted(upTo(0));
    give(1, 3);
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsAPlaceThatGoesBack() {
    check.stored(upTo(2));
    check.stored(upTo(1));
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsAnEventThatComesOnlyAfterThePlaceThatCoversIt() {
    give(1);
    check.stored(upTo(3));
    give(2);
    assertThat(check.wrong()).isNotEmpty();
  }
}
