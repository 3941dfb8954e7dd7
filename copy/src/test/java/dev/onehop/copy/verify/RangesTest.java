package dev.onehop.copy.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.copy.internal.full.KeyRange;
import java.util.List;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RangesTest {
  private static List<BsonValue> numbers(int count) {
    return IntStream.range(0, count).mapToObj(n -> (BsonValue) new BsonInt32(n)).toList();
  }

  private static BsonDocument key(BsonValue value) {
    return new BsonDocument("_id", value);
  }

  private static KeyRange range(int number, BsonValue min, BsonValue max) {
    return new KeyRange(0, number, "", key(min), key(max), false);
  }

  @Test
  void rangesHaveNoGap() {
    BsonValue lowest = new BsonMinKey();
    BsonValue highest = new BsonMaxKey();
    assertThat(CollectionWork.ranges(List.of())).containsExactly(range(0, lowest, highest));
    assertThat(CollectionWork.ranges(List.of(new BsonInt32(1), new BsonString("a"))))
        .containsExactly(
            range(0, lowest, new BsonInt32(1)),
            range(1, new BsonInt32(1), new BsonString("a")),
            range(2, new BsonString("a"), highest));
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
    assertThat(filter(new BsonInt32(1), new BsonInt64(5)))
        .isEqualTo(BsonDocument.parse("{_id: {$gte: 1, $lt: {$numberLong: '5'}}}"));
    assertThat(filter(new BsonInt32(1), new BsonString("a"))).isNull();
    assertThat(filter(new BsonDouble(Double.NaN), new BsonInt32(1))).isNull();
    assertThat(filter(new BsonMinKey(), new BsonInt32(1))).isNull();
    assertThat(filter(new BsonInt32(1), new BsonMaxKey())).isNull();
    assertThat(filter(new BsonMinKey(), new BsonMaxKey())).isNull();
  }

  private static @Nullable BsonDocument filter(BsonValue min, BsonValue max) {
    return Reader.routable(range(0, min, max));
  }
}
