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
  private void add(int... versions) {
    for (int version : versions) {
      check.add("a", token(version), 1, version);
    }
  }

  private void addDelete(int second) {
    check.add("a", token(second), 1, 0);
  }

  private void assertCorrect() {
    assertThat(check.wrong()).isEmpty();
    assertThat(check.differences(THREE)).isEmpty();
  }

  @Test
  void acceptsCorrectEvents() {
    add(1, 2, 3);
    assertCorrect();
  }

  @Test
  void acceptsDeleteInOrder() {
    add(1);
    addDelete(2);
    add(3);
    assertCorrect();
  }

  @Test
  void findsMissingEvent() {
    add(1, 3);
    assertThat(check.wrong()).hasSize(1);
  }

  @Test
  void findsMissingLastEvent() {
    add(1, 2);
    assertThat(check.wrong()).isEmpty();
    assertThat(check.differences(THREE)).hasSize(1);
  }

  @Test
  void findsDocumentWithoutEvents() {
    assertThat(check.differences(THREE)).hasSize(1);
  }

  @Test
  void findsDuplicateEvent() {
    add(1, 2, 2, 3);
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsDuplicateEventWithOtherToken() {
    add(1, 2, 3);
    check.add("b", token(9), 1, 3);
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsDuplicateDelete() {
    add(1, 2);
    addDelete(3);
    addDelete(4);
    assertThat(check.differences(THREE)).isNotEmpty();
  }

  @Test
  void findsSwappedEvents() {
    add(1, 3, 2);
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsUnknownDocument() {
    add(1, 2, 3);
    check.add("a", token(9), 2, 1);
    assertThat(check.differences(THREE)).isNotEmpty();
  }

  @Test
  void acceptsOptionalUncertainWrite() {
    Map<Integer, Written> uncertain = Map.of(1, new Written(2, true));
    add(1, 2);
    assertThat(check.differences(uncertain)).isEmpty();
    add(3);
    assertThat(check.differences(uncertain)).isEmpty();
    add(4);
    assertThat(check.differences(uncertain)).isNotEmpty();
  }

  @Test
  void findsBrokenTotalOrder() {
    StreamCheck total = new StreamCheck(true);
    total.add("a", token(5), 1, 1);
    total.add("b", token(4), 2, 1);
    assertThat(total.wrong()).isNotEmpty();
  }

  @Test
  void acceptsUnacknowledgedEventsAfterRestart() {
    add(1, 2);
    check.stored(upTo(1));
    check.restarted(upTo(1));
    add(2, 3);
    assertCorrect();
    assertThat(check.again()).isEqualTo(1);
  }

  @Test
  void findsAcknowledgedEventsAfterRestart() {
    add(1, 2);
    check.stored(upTo(2));
    check.restarted(upTo(2));
    add(2, 3);
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsGapAfterRestart() {
    add(1);
    check.restarted(upTo(0));
    add(3);
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsDuplicateEventAfterRestart() {
    add(1, 2);
    check.restarted(upTo(0));
    add(1, 2, 2, 3);
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsSwappedEventsAfterRestart() {
    add(1, 2, 3);
    check.restarted(upTo(0));
    add(2, 1, 3);
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsSkippedEventAfterRestart() {
    add(1, 2, 3);
    check.restarted(upTo(0));
    add(1, 3);
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsEarlierCheckpoint() {
    check.stored(upTo(2));
    check.stored(upTo(1));
    assertThat(check.wrong()).isNotEmpty();
  }

  @Test
  void findsEventAfterItsCheckpoint() {
    add(1);
    check.stored(upTo(3));
    add(2);
    assertThat(check.wrong()).isNotEmpty();
  }
}
