package dev.onehop.copy.internal.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.Test;

class FencePlacesTest {
  @Test
  void findsPlacesByShardNameOrUuid() {
    String uuid = "{$uuid: '00000000-0000-4000-8000-000000000001'}";
    List<BsonDocument> chunks =
        List.of(
            BsonDocument.parse("{min: {_id: {$minKey: 1}}, max: {_id: 5}, shard: 's0'}"),
            BsonDocument.parse("{min: {_id: 5}, max: {_id: {$maxKey: 1}}, shard: " + uuid + "}"));
    List<BsonDocument> shards =
        List.of(
            BsonDocument.parse("{_id: 's0'}"),
            BsonDocument.parse("{_id: 's1', uuid: " + uuid + "}"));

    assertThat(FencePlaces.places(chunks, shards).ids())
        .isEqualTo(Map.of("s0", new BsonInt32(4), "s1", new BsonInt32(5)));
  }
}
