package dev.onehop.streams;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.streams.event.Source;
import org.junit.jupiter.api.Test;

class ShardedChangeStreamTest {

  @Test
  void rejectsGroupedTransactionsFromMongos() {
    assertThatThrownBy(() -> builder().groupTransactions(true).source(Source.MONGOS).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("mongos");
  }

  @Test
  void rejectsInvalidSizes() {
    assertThatThrownBy(() -> builder().batchSize(-1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> builder().bufferPerShard(0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static ShardedChangeStream.Builder builder() {
    return ShardedChangeStream.builder("mongodb://localhost/").collection("it", "c");
  }
}
