package dev.onehop.copy.verify;

import static dev.onehop.copy.verify.SecondLooks.Verdict.AGAIN;
import static dev.onehop.copy.verify.SecondLooks.Verdict.DIFFERENT;
import static dev.onehop.copy.verify.SecondLooks.Verdict.EQUAL;
import static dev.onehop.copy.verify.SecondLooks.Verdict.UNDECIDED;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.bson.BsonInt32;
import org.junit.jupiter.api.Test;

class SecondLooksTest {
  private static final int SETTLE = 10;

  private final SecondLooks looks = new SecondLooks(Duration.ofSeconds(SETTLE));
  private final RangeWork range = new RangeWork(null, RangesTest.ranges().get(0));

  private static Fingerprint content(int version) {
    return version == 0 ? Fingerprint.NONE : new Fingerprint(1, version, version);
  }

  private SecondLooks.Waiting first(int from, int to) {
    return new SecondLooks.Waiting(
        range, ByteBuffer.allocate(0), new BsonInt32(1), content(from), content(to), 0);
  }

  private SecondLooks.Verdict look(SecondLooks.Waiting key, int from, int to, double second) {
    long begun = (long) (second * TimeUnit.SECONDS.toNanos(1));
    return looks.judge(key, content(from), content(to), begun, begun + 1);
  }

  @Test
  void equalAtSecondLook() {
    assertThat(look(first(2, 1), 2, 2, 1)).isEqualTo(EQUAL);
    assertThat(look(first(1, 0), 1, 1, 1)).isEqualTo(EQUAL);
    assertThat(look(first(1, 2), 0, 0, 1)).isEqualTo(EQUAL);
  }

  @Test
  void equalToEarlierSourceDocument() {
    SecondLooks.Waiting key = first(2, 1);
    assertThat(look(key, 3, 1, 1)).isEqualTo(AGAIN);
    assertThat(look(key, 4, 2, 2)).isEqualTo(EQUAL);
  }

  /**
   * The destination may have a state that the source had before the first look. So the key stays
   * undecided.
   */
  @Test
  void laterSourceDocumentProvesNoEquality() {
    SecondLooks.Waiting key = first(2, 1);
    assertThat(look(key, 3, 4, 1)).isEqualTo(AGAIN);
    assertThat(look(key, 4, 5, 2)).isEqualTo(AGAIN);
  }

  @Test
  void differentIfBothSidesStayUnchanged() {
    SecondLooks.Waiting key = first(2, 1);
    assertThat(look(key, 2, 1, SETTLE - 1)).isEqualTo(AGAIN);
    assertThat(look(key, 2, 1, SETTLE + 1)).isEqualTo(DIFFERENT);
  }

  @Test
  void changeOnEitherSideRestartsWait() {
    SecondLooks.Waiting key = first(2, 1);
    assertThat(look(key, 3, 1, 8)).isEqualTo(AGAIN);
    assertThat(look(key, 3, 1, 12)).isEqualTo(AGAIN);
    assertThat(look(key, 3, 5, 14)).isEqualTo(AGAIN);
    assertThat(look(key, 3, 5, 23)).isEqualTo(AGAIN);
    assertThat(look(key, 3, 5, 25)).isEqualTo(DIFFERENT);
  }

  @Test
  void differentIfDestinationDoesNotFollow() {
    SecondLooks.Waiting key = first(2, 1);
    for (int second = 1; second < 2 * SETTLE; second++) {
      assertThat(look(key, second + 2, 1, second)).isEqualTo(AGAIN);
    }
    assertThat(look(key, 100, 1, 2 * SETTLE)).isEqualTo(DIFFERENT);
  }

  /**
   * Between two looks that are far apart, the source may have had the destination's document. So
   * the key stays undecided.
   */
  @Test
  void looksAgainAfterLongGap() {
    SecondLooks.Waiting key = first(2, 1);
    assertThat(look(key, 3, 1, 1)).isEqualTo(AGAIN);
    assertThat(look(key, 4, 1, 15)).isEqualTo(AGAIN);
    assertThat(look(key, 5, 1, 21)).isEqualTo(AGAIN);
  }

  @Test
  void undecidedIfBothSidesKeepChanging() {
    SecondLooks.Waiting key = first(2, 1001);
    int second = 1;
    for (; second < 10 * SETTLE; second++) {
      assertThat(look(key, second + 2, second + 1001, second)).isEqualTo(AGAIN);
    }
    assertThat(look(key, 500, 2000, second)).isEqualTo(UNDECIDED);
  }

  @Test
  void kindDependsOnNumbersOfDocuments() {
    assertThat(first(1, 0).kind()).isEqualTo(Difference.Kind.MISSING);
    assertThat(first(0, 1).kind()).isEqualTo(Difference.Kind.EXTRA);
    assertThat(first(1, 2).kind()).isEqualTo(Difference.Kind.DIFFERENT);
  }
}
