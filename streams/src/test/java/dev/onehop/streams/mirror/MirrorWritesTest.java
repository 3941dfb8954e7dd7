package dev.onehop.streams.mirror;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.WriteModel;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the text of the writes. MirrorIT checks the effect of the writes on real servers. */
class MirrorWritesTest {
  private static final String KEY = "documentKey: {k: 2, _id: 1}";

  private static List<String> writes(MirrorWrites mirror, String event) {
    Checkpoint place = Checkpoint.before(new BsonTimestamp(1, 1));
    return mirror
        .apply(new StreamEvent.Change("a", place.low(), RawBsonDocument.parse(event), 0, place))
        .stream()
        .map(MirrorWritesTest::text)
        .toList();
  }

  private static List<String> writes(String event) {
    return writes(MirrorWrites.byId(), event);
  }

  private static String text(WriteModel<BsonDocument> model) {
    if (model instanceof DeleteOneModel<BsonDocument> delete) {
      return "delete " + delete.getFilter().toBsonDocument();
    }
    if (model instanceof ReplaceOneModel<BsonDocument> put) {
      String upsert = put.getReplaceOptions().isUpsert() ? "put " : "replace ";
      return upsert + put.getFilter().toBsonDocument() + " " + put.getReplacement();
    }
    UpdateOneModel<BsonDocument> update = (UpdateOneModel<BsonDocument>) model;
    String upsert = update.getOptions().isUpsert() ? "upsert " : "update ";
    Object what =
        update.getUpdate() != null
            ? update.getUpdate().toBsonDocument()
            : update.getUpdatePipeline();
    return upsert + update.getFilter().toBsonDocument() + " " + what;
  }

  @ParameterizedTest
  @ValueSource(strings = {"insert", "replace"})
  void putsWholeDocument(String type) {
    String event = "{operationType: '%s', %s, fullDocument: {_id: 1, a: 3}}".formatted(type, KEY);
    assertThat(writes(event)).containsExactly("put {\"_id\": 1} {\"_id\": 1, \"a\": 3}");
    assertThat(writes(MirrorWrites.byDocumentKey(), event))
        .containsExactly("put {\"k\": 2, \"_id\": 1} {\"_id\": 1, \"a\": 3}");
  }

  /**
   * Servers refuse a replacement with names that look like operators, so a pipeline replaces the
   * document.
   */
  @Test
  void acceptsDollarSignInFieldName() {
    assertThat(
            writes("{operationType: 'insert', " + KEY + ", fullDocument: {_id: 1, $set: {a: 1}}}"))
        .containsExactly(
            "upsert {\"_id\": 1} [{\"$replaceWith\": {\"$literal\": {\"_id\": 1, \"$set\":"
                + " {\"a\": 1}}}}]");
  }

  @Test
  void deletesDocumentByKey() {
    assertThat(writes("{operationType: 'delete', " + KEY + "}"))
        .containsExactly("delete {\"_id\": 1}");
    assertThat(writes("{operationType: 'delete', documentKey: {_id: {a: 1}}}"))
        .containsExactly("delete {\"_id\": {\"$eq\": {\"a\": 1}}}");
  }

  /**
   * If a change of the shard key moves a document to another shard, the insert event may come
   * before the delete event. The delete must then leave the inserted document.
   */
  @Test
  void deleteInTransactionKeepsDocumentWithOtherKey() {
    String event = "{operationType: 'delete', %s, lsid: {id: 1}, txnNumber: 1}".formatted(KEY);
    assertThat(writes(event))
        .containsExactly(
            "delete {\"_id\": 1, \"$and\": [{\"$or\": [{\"k\": 2}, {\"k\": {\"$exists\": false}}]}]}");
    assertThat(writes(MirrorWrites.byDocumentKey(), event))
        .containsExactly("delete {\"k\": 2, \"_id\": 1}");
    assertThat(
            writes("{operationType: 'delete', documentKey: {_id: 1}, lsid: {id: 1}, txnNumber: 1}"))
        .containsExactly("delete {\"_id\": 1}");
  }

  @Test
  void updateDoesNotUpsert() {
    assertThat(
            writes(
                "{operationType: 'update', %s, fullDocument: {_id: 1}, updateDescription: {updatedFields: {a: 1}, removedFields: ['b']}}"
                    .formatted(KEY)))
        .containsExactly("update {\"_id\": 1} {\"$unset\": {\"b\": \"\"}, \"$set\": {\"a\": 1}}");
  }

  @Test
  void ambiguousUpdateUsesWholeDocumentIfPresent() {
    String update =
        "{operationType: 'update', %s, updateDescription: {updatedFields: {'a.b': 1}}%s}";
    assertThat(writes(update.formatted(KEY, ", fullDocument: {_id: 1, 'a.b': 1}")))
        .containsExactly("put {\"_id\": 1} {\"_id\": 1, \"a.b\": 1}");
    assertThat(writes(update.formatted(KEY, ", fullDocument: null"))).isEmpty();
    List<String> guarded = writes(update.formatted(KEY, ""));
    assertThat(guarded).hasSize(2);
    assertThat(guarded.get(0))
        .startsWith("update {\"_id\": 1, \"$nor\": [{\"$expr\"")
        .contains("$set\": {\"_id\"");
    assertThat(guarded.get(1))
        .startsWith("update {\"$and\": [{\"_id\": 1}, {\"$expr\": {\"$in\": [{\"$type\"")
        .endsWith("{\"$set\": {\"a.b\": 1}}");
  }

  @Test
  void dollarNameNeedsWholeDocument() {
    String update = "{operationType: 'update', %s, updateDescription: {updatedFields: {$a: 1}}%s}";
    assertThat(writes(update.formatted(KEY, ", fullDocument: {_id: 1, $a: 1}"))).hasSize(1);
    assertThatThrownBy(() -> writes(update.formatted(KEY, "")))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("UPDATE_LOOKUP");
  }

  @ParameterizedTest
  @ValueSource(strings = {"drop", "rename", "dropDatabase"})
  void rejectsRemovalOfSource(String type) {
    assertThatThrownBy(
            () -> writes("{operationType: '%s', ns: {db: 'd', coll: 'c'}}".formatted(type)))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining(type);
  }

  @Test
  void ignoresEventsWithoutDocument() {
    assertThat(writes("{operationType: 'createIndexes', ns: {db: 'd', coll: 'c'}}")).isEmpty();
    assertThat(writes("{operationType: 'invalidate'}")).isEmpty();
  }
}
