package dev.onehop.streams.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.junit.jupiter.api.Test;

class CheckpointTest {
  private static final List<String> SHARDS = List.of("a", "b", "c", "d");

  @Test
  void keepsPositionsWhenStoredAndCombined() {
    Random random = new Random(1);
    for (int run = 0; run < 1_000; run++) {
      Checkpoint one = random(random);
      Checkpoint other = random(random);
      Checkpoint stored = Checkpoint.parse(one.toDocument());
      assertThat(stored).isEqualTo(one).hasSameHashCodeAs(one);
      Checkpoint union = one.union(other);
      Checkpoint intersection = one.intersection(other);
      for (String shard : SHARDS) {
        for (int time = 0; time < 12; time++) {
          String token = token(time);
          boolean first = one.includes(shard, token);
          boolean second = other.includes(shard, token);
          assertThat(stored.includes(shard, token)).isEqualTo(first);
          assertThat(union.includes(shard, token)).isEqualTo(first || second);
          assertThat(intersection.includes(shard, token)).isEqualTo(first && second);
        }
        assertThat(one.low()).isLessThanOrEqualTo(one.token(shard));
      }
    }
  }

  /**
   * All events of a removed shard up to the cap were emitted, whatever the positions of the other
   * shards are.
   */
  @Test
  void unnamedShardIsIncludedUpToCap() {
    Checkpoint place = Checkpoint.of(List.of("a"), new String[] {token(3)}, token(8));
    assertThat(place.includes("gone", token(7))).isTrue();
    assertThat(place.includes("new", token(9))).isFalse();
    assertThat(place.low()).isEqualTo(token(3));
  }

  /**
   * An event from a mongos does not show the shard that it comes from. So a position includes the
   * event only if all shards have reached the event.
   */
  @Test
  void eventWithoutShardIsIncludedIfAllShardsReachedIt() {
    Checkpoint place = Checkpoint.of(List.of("a"), new String[] {token(3)}, token(8));
    assertThat(place.includes("", token(3))).isTrue();
    assertThat(place.includes("", token(4))).isFalse();
    Checkpoint later = Checkpoint.before(new BsonTimestamp(5)).union(place);
    assertThat(later.token("")).isEqualTo(token(5));
  }

  /** A server can't read the token of a decimal key without the type bits of the token. */
  @Test
  void keepsWholeResumeToken() {
    BsonDocument token =
        BsonDocument.parse(
            "{_data: '826B03F8B4000000042B022C0100296E04', _typeBits: {$binary: {base64: 'gkA=',"
                + " subType: '00'}}}");
    Checkpoint place = Checkpoint.ofResumeToken(token);
    assertThat(place.resumeToken()).isEqualTo(token);
    assertThat(Checkpoint.parse(place.toDocument()).resumeToken()).isEqualTo(token);
    Checkpoint before = Checkpoint.before(new BsonTimestamp(1));
    assertThat(place.union(before).resumeToken()).isEqualTo(token);
    assertThat(before.union(place).resumeToken()).isEqualTo(token);
    assertThat(before.intersection(place).resumeToken()).isEqualTo(before.resumeToken());
    assertThat(place.intersection(before).resumeToken()).isEqualTo(before.resumeToken());
  }

  private static Checkpoint random(Random random) {
    List<String> shards = SHARDS.stream().filter(shard -> random.nextBoolean()).toList();
    String[] tokens = new String[shards.size()];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = token(random.nextInt(10));
    }
    return Checkpoint.of(shards, tokens, token(random.nextInt(10)));
  }

  private static String token(int time) {
    return Checkpoint.before(new BsonTimestamp(time)).low();
  }
}
