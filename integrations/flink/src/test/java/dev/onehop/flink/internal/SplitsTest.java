package dev.onehop.flink.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.streams.event.Checkpoint;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bson.BsonTimestamp;
import org.junit.jupiter.api.Test;

/** Tests the splits in Flink's state, and the times of tokens. */
class SplitsTest {
  private static final String LONG_TOKEN = token(7, 3) + "A".repeat(100_000);

  private static String token(int seconds, int increment) {
    return Checkpoint.before(new BsonTimestamp(seconds, increment)).low();
  }

  @Test
  void readsWrittenSplit() throws IOException {
    ShardSplitSerializer serializer = new ShardSplitSerializer();
    ShardSplit split = new ShardSplit("a/shard", 1, 3, LONG_TOKEN);

    assertThat(serializer.deserialize(serializer.getVersion(), serializer.serialize(split)))
        .isEqualTo(split);
    assertThat(ShardSplit.shardOf(split.splitId())).isEqualTo("a/shard");
    assertThatThrownBy(() -> serializer.deserialize(9, serializer.serialize(split)))
        .isInstanceOf(IOException.class)
        .hasMessage("the state has version 9; this release reads version 1");
  }

  @Test
  void readsWrittenStateOfEnumerator() throws IOException {
    AssignedSplitsSerializer serializer = new AssignedSplitsSerializer();
    for (String through : new String[] {null, token(5, 1)}) {
      AssignedSplits state =
          new AssignedSplits(
              Set.of("one", "two"),
              Map.of("two", token(4, 1)),
              through,
              List.of(new ShardSplit("one", 0, 1, LONG_TOKEN)),
              Set.of("one/0/1", "two/0/1"));

      assertThat(serializer.deserialize(serializer.getVersion(), serializer.serialize(state)))
          .isEqualTo(state);
    }
  }

  @Test
  void timesRiseWithTokensAndWatermarksAreLower() {
    List<String> tokens =
        List.of(
            token(1, 1),
            token(1, 2),
            token(1, 999),
            token(1, 5_000),
            token(2, 1),
            token(0x7FFFFFFF, 1),
            token(0x80000001, 1));
    for (int i = 1; i < tokens.size(); i++) {
      long before = EventTimes.of(tokens.get(i - 1));
      assertThat(EventTimes.of(tokens.get(i))).isGreaterThanOrEqualTo(before);
      assertThat(EventTimes.watermark(tokens.get(i))).isLessThan(EventTimes.of(tokens.get(i)));
    }
    assertThat(EventTimes.of(token(1, 5_000))).isEqualTo(1_999);
    assertThat(EventTimes.of(token(2, 1))).isEqualTo(2_001);
  }
}
