package dev.onehop.copy.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.junit.jupiter.api.Test;

class KeyRangeTest {
  private static List<BsonValue> numbers(int count) {
    return IntStream.range(0, count).mapToObj(n -> (BsonValue) new BsonInt32(n)).toList();
  }

  @Test
  void rangesHaveNoGap() {
    assertThat(KeyRange.between(List.of())).containsExactly(KeyRange.ALL);
    assertThat(KeyRange.between(List.of(new BsonInt32(1), new BsonString("a"))))
        .containsExactly(
            new KeyRange(null, new BsonInt32(1)),
            new KeyRange(new BsonInt32(1), new BsonString("a")),
            new KeyRange(new BsonString("a"), null));
  }

  @Test
  void quantilesAreInOrderAndNoneIsTwice() {
    assertThat(CollectionWork.quantiles(numbers(8), 4))
        .containsExactly(new BsonInt32(2), new BsonInt32(4), new BsonInt32(6));
    assertThat(CollectionWork.quantiles(numbers(3), 10)).doesNotHaveDuplicates().hasSize(3);
    assertThat(CollectionWork.quantiles(List.of(), 10)).isEmpty();
  }

  @Test
  void aFilterIsOfOneTypeOnly() {
    assertThat(new KeyRange(new BsonInt32(1), new BsonInt64(5)).filter("_id"))
        .isEqualTo(BsonDocument.parse("{_id: {$gte: 1, $lt: {$numberLong: '5'}}}"));
    assertThat(new KeyRange(new BsonInt32(1), new BsonString("a")).filter("_id")).isNull();
    assertThat(new KeyRange(new BsonDouble(Double.NaN), new BsonInt32(1)).filter("_id")).isNull();
    assertThat(new KeyRange(null, new BsonInt32(1)).filter("_id")).isNull();
    assertThat(KeyRange.ALL.filter("_id")).isNull();
  }
}
