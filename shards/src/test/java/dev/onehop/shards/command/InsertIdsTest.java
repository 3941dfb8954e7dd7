package dev.onehop.shards.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.wire.message.OpMsg;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;

class InsertIdsTest {
  @Test
  void addsMissingIdAsFirstField() {
    OpMsg insert =
        OpMsg.command(
            BsonDocument.parse(
                "{insert: 'c', documents: [{x: 1, y: {_id: 2}}, {_id: 7}, {}], $db: 'it'}"));

    OpMsg complete = InsertIds.complete(insert);

    List<RawBsonDocument> documents = complete.documents("documents");
    assertThat(documents).hasSize(3);
    assertThat(documents.get(0).keySet()).containsExactly("_id", "x", "y");
    assertThat(documents.get(0).isObjectId("_id")).isTrue();
    assertThat(documents.get(0).getDocument("y")).isEqualTo(BsonDocument.parse("{_id: 2}"));
    assertThat(documents.get(1)).isEqualTo(BsonDocument.parse("{_id: 7}"));
    assertThat(documents.get(2).keySet()).containsExactly("_id");
    assertThat(documents.get(2).get("_id")).isNotEqualTo(documents.get(0).get("_id"));
    assertThat(complete.body()).isEqualTo(BsonDocument.parse("{insert: 'c', $db: 'it'}"));
  }

  @Test
  void keepsCompleteInsertUnchanged() {
    OpMsg insert =
        OpMsg.command(
            BsonDocument.parse(
                "{insert: 'c', documents: [{_id: 1}, {x: 1, _id: null}], $db: 'it'}"));

    assertThat(InsertIds.complete(insert)).isSameAs(insert);
  }
}
