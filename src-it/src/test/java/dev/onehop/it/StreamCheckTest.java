package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;

class StreamCheckTest {
  private static final Map<Integer, List<Long>> WRITTEN = Map.of(1, List.of(1L, 2L, 3L));

  @Test
  void acceptsWhatIsRight() {
    assertThatCode(() -> of(1, 2, 3).check(WRITTEN)).doesNotThrowAnyException();
  }

  @Test
  void findsAnEventThatIsMissing() {
    assertThatThrownBy(() -> of(1, 3).check(WRITTEN)).isInstanceOf(AssertionError.class);
  }

  @Test
  void findsAnEventThatComesTwice() {
    assertThatThrownBy(() -> of(1, 2, 2, 3).check(WRITTEN)).isInstanceOf(AssertionError.class);
  }

  @Test
  void findsTwoEventsThatAreSwapped() {
    assertThatThrownBy(() -> of(1, 3, 2).check(WRITTEN)).isInstanceOf(AssertionError.class);
  }

  private static StreamCheck of(int... values) {
    StreamCheck check = new StreamCheck();
    for (int value : values) {
      check.add(
          BsonDocument.parse(
              "{_id: {_data: '82%d'}, documentKey: {_id: 1}, fullDocument: {n: {$numberLong: '%d'}}}"
                  .formatted(value, value)));
    }
    return check;
  }
}
