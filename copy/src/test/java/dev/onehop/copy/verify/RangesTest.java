package dev.onehop.copy.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.copy.internal.full.KeyRange;
import dev.onehop.copy.internal.structure.KeySamples;
import java.util.Arrays;
import java.util.List;
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
  static List<KeyRange> ranges(BsonValue... bounds) {
    return KeyRange.between(
        0,
        key(new BsonInt32(1)),
        Arrays.stream(bounds).map(RangesTest::key).toList(),
        (number, from) -> "");
  }

  private static BsonDocument key(BsonValue value) {
    return new BsonDocument("_id", value);
  }

  private static KeyRange range(int number, BsonValue min, BsonValue max) {
    return new KeyRange(0, number, "", key(min), key(max), false);
  }

  @Test
  void rangesHaveNoGaps() {
    BsonValue lowest = new BsonMinKey();
    BsonValue highest = new BsonMaxKey();
    assertThat(ranges()).containsExactly(range(0, lowest, highest));
    assertThat(ranges(new BsonInt32(1), new BsonString("a")))
        .containsExactly(
            range(0, lowest, new BsonInt32(1)),
            range(1, new BsonInt32(1), new BsonString("a")),
            range(2, new BsonString("a"), highest));
  }

  @Test
  void quantilesAreSortedAndDistinct() {
    assertThat(KeySamples.quantiles(List.of(0, 1, 2, 3, 4, 5, 6, 7), 3, 0))
        .containsExactly(2, 4, 6);
    assertThat(KeySamples.quantiles(List.of(0, 1, 2), 9, 0)).containsExactly(0, 1, 2);
    assertThat(KeySamples.quantiles(List.of(), 9, 0)).isEmpty();
  }

  @Test
  void filtersOnlyBoundsOfOneType() {
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
