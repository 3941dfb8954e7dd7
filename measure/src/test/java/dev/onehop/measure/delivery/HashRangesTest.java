package dev.onehop.measure.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.junit.jupiter.api.Test;

class HashRangesTest {

  @Test
  void spreadsHashesEvenlyOverChunks() {
    List<Integer> points = HashRanges.splitPoints(4);
    assertThat(points).containsExactly(-1_073_741_824, 0, 1_073_741_824);
    int[] counts = new int[4];
    for (int row = 0; row < 40_000; row++) {
      int hash = HashRanges.all().hash(row);
      counts[(int) points.stream().filter(point -> hash >= point).count()]++;
    }
    for (int count : counts) {
      assertThat(count).isBetween(9_600, 10_400);
    }
  }

  @Test
  void hashesStayInTheirRanges() {
    HashRanges some =
        new HashRanges(
            List.of(
                new HashRanges.Range(-100, -90),
                new HashRanges.Range(Integer.MAX_VALUE, 1L << 31)));
    for (int row = 0; row < 10_000; row++) {
      int hash = some.hash(row);
      assertThat((hash >= -100 && hash < -90) || hash == Integer.MAX_VALUE).isTrue();
      assertThat(some.hash(row)).isEqualTo(hash);
    }
    assertThatThrownBy(() -> new HashRanges(List.of()))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void chunkBoundsAreHashes() {
    assertThat(RowCollection.hash(new BsonDocument("_id", Row.bound(-5)))).isEqualTo(-5);
    assertThat(RowCollection.hash(new BsonDocument("_id", new BsonMinKey())))
        .isEqualTo(Integer.MIN_VALUE);
    assertThat(RowCollection.hash(new BsonDocument("_id", new BsonMaxKey()))).isEqualTo(1L << 31);
  }
}
