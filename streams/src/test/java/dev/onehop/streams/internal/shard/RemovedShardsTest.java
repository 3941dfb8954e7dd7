package dev.onehop.streams.internal.shard;

import static org.assertj.core.api.Assertions.assertThat;

import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;

class RemovedShardsTest {
  @Test
  void readsNameOrUuidOfShard() {
    assertThat(RemovedShards.id(event("'s0'"))).isEqualTo("s0");
    assertThat(RemovedShards.id(event("{$uuid: '00000000-0000-4000-8000-000000000001'}")))
        .isEqualTo("00000000-0000-4000-8000-000000000001");
  }

  private static BsonDocument event(String shard) {
    return BsonDocument.parse("{fullDocument: {details: {shard: " + shard + "}}}");
  }
}
