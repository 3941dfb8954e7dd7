package dev.onehop.copy.internal.apply;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoNamespace;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;

class DocumentEventsTest {
  private static final MongoNamespace NAMESPACE = new MongoNamespace("d.c");
  private static final BsonDocument KEY = BsonDocument.parse("{_id: 1}");

  private static DocumentEvents events(String... shardKey) {
    return new DocumentEvents(
        new Target(NAMESPACE, List.of(shardKey), false, false), new BsonInt32(1));
  }

  private static RawBsonDocument raw(String json) {
    return RawBsonDocument.parse(json);
  }

  private static List<String> statements(DocumentEvents events) {
    return StatementText.of(events.statements());
  }

  @Test
  void usesLastWholeDocument() {
    DocumentEvents events = events();
    events.update(KEY, BsonDocument.parse("{updatedFields: {a: 1}}"));
    events.put(KEY, raw("{_id: 1, b: 1}"), false, false);
    events.delete(KEY);
    events.put(KEY, raw("{_id: 1, c: 1}"), false, false);
    events.update(KEY, BsonDocument.parse("{updatedFields: {d: 1}}"));
    assertThat(statements(events))
        .containsExactly(
            "put {\"_id\": 1} {\"_id\": 1, \"c\": 1}",
            "update {\"_id\": 1} {\"$set\": {\"d\": 1}}");
  }

  @Test
  void deleteReplacesEarlierEvents() {
    DocumentEvents events = events();
    events.put(KEY, raw("{_id: 1}"), false, false);
    events.update(KEY, BsonDocument.parse("{updatedFields: {d: 1}}"));
    events.delete(KEY);
    assertThat(statements(events)).containsExactly("delete {\"_id\": 1}");
  }

  /**
   * The events of a transaction on two shards may come in any order. Here the insert comes before
   * the delete.
   */
  @Test
  void keepsDocumentWithChangedShardKey() {
    DocumentEvents events = events();
    BsonDocument old = BsonDocument.parse("{k: 1, _id: 1}");
    BsonDocument moved = BsonDocument.parse("{k: 2, _id: 1}");
    events.put(moved, raw("{_id: 1, k: 2}"), false, false);
    events.delete(old);
    events.update(moved, BsonDocument.parse("{updatedFields: {a: 1}}"));
    assertThat(statements(events))
        .containsExactly(
            "delete {\"k\": 1, \"_id\": 1}",
            "put {\"_id\": 1} {\"_id\": 1, \"k\": 2}",
            "update {\"k\": 2, \"_id\": 1} {\"$set\": {\"a\": 1}}");
  }

  @Test
  void putHasShardKeyInFilter() {
    DocumentEvents events = events("s.k", "l", "_id");
    events.put(
        BsonDocument.parse("{'s.k': 3, l: null, _id: 1}"), raw("{_id: 1, s: {k: 3}}"), false, true);
    assertThat(statements(events))
        .containsExactly(
            "put {\"_id\": 1, \"s.k\": 3, \"l\": null} {\"_id\": 1, \"s\": {\"k\": 3}}");
  }

  /**
   * The filter has only the whole {@code _id}, because a server refuses a path together with its
   * parent.
   */
  @Test
  void takesShardKeyFromId() {
    DocumentEvents events = events("_id.h");
    events.put(KEY, raw("{_id: {h: 1}}"), false, true);
    assertThat(statements(events))
        .containsExactly(
            "put {\"$and\": [{\"_id\": {\"$eq\": {\"h\": 1}}}]} {\"_id\": {\"h\": 1}}");
  }

  /**
   * The event does not show the document's old shard key. So all documents with this {@code _id}
   * and another shard key are removed.
   */
  @Test
  void putRemovesDocumentWithOldShardKey() {
    DocumentEvents events = events("k");
    events.put(KEY, raw("{_id: 1, k: 2}"), false, true);
    assertThat(statements(events))
        .containsExactly(
            "sweep {\"_id\": 1, \"$nor\": [{\"k\": 2}]}",
            "put {\"_id\": 1, \"k\": 2} {\"_id\": 1, \"k\": 2}");
    DocumentEvents sure = events("k");
    sure.put(KEY, raw("{_id: 1, k: 2}"), false, false);
    assertThat(statements(sure)).hasSize(1);
    DocumentEvents withKey = events("k");
    withKey.put(BsonDocument.parse("{_id: 1, k: 2}"), raw("{_id: 1, k: 2}"), false, true);
    assertThat(statements(withKey)).hasSize(1);
  }

  @Test
  void putAfterDeleteRemovesDocumentWithOldShardKey() {
    DocumentEvents events = events("k");
    events.delete(KEY);
    events.put(KEY, raw("{_id: 1, k: 2}"), false, false);
    assertThat(statements(events))
        .containsExactly(
            "sweep {\"_id\": 1, \"$nor\": [{\"k\": 2}]}",
            "put {\"_id\": 1, \"k\": 2} {\"_id\": 1, \"k\": 2}");
  }

  @Test
  void readsDocumentAgainAfterShardKeyUpdate() {
    BsonDocument change = BsonDocument.parse("{updatedFields: {k: 2}}");
    DocumentEvents atSource = events();
    atSource.update(BsonDocument.parse("{k: 1, _id: 1}"), change);
    assertThat(atSource.isReadAgain()).isTrue();
    DocumentEvents atDestination = events("k");
    atDestination.update(KEY, change);
    assertThat(atDestination.isReadAgain()).isTrue();
    DocumentEvents atNone = events("kk");
    atNone.update(BsonDocument.parse("{kk: 1, _id: 1}"), change);
    assertThat(atNone.isReadAgain()).isFalse();
  }

  @Test
  void readsDocumentAgainIfOperatorsCannotExpressUpdate() {
    DocumentEvents events = events();
    events.update(KEY, BsonDocument.parse("{updatedFields: {'$a': 2}}"));
    assertThat(events.isReadAgain()).isTrue();
  }

  @Test
  void readDocumentReplacesAllOthers() {
    assertThat(StatementText.of(events().statements(List.of())))
        .containsExactly("delete {\"_id\": 1}");
    assertThat(StatementText.of(events("_id").statements(List.of(raw("{_id: 1, a: 1}")))))
        .containsExactly("put {\"$and\": [{\"_id\": 1}]} {\"_id\": 1, \"a\": 1}");
    assertThat(StatementText.of(events("k").statements(List.of(raw("{_id: 1, k: {a: 1}}")))))
        .containsExactly(
            "sweep {\"_id\": 1, \"$nor\": [{\"k\": {\"$eq\": {\"a\": 1}}}]}",
            "put {\"_id\": 1, \"k\": {\"$eq\": {\"a\": 1}}} {\"_id\": 1, \"k\": {\"a\": 1}}");
  }

  @Test
  void insertsInsertedDocument() {
    DocumentEvents events = events();
    events.put(KEY, raw("{_id: 1, k: 2}"), true, false);
    events.update(KEY, BsonDocument.parse("{updatedFields: {a: 1}}"));
    assertThat(statements(events))
        .containsExactly(
            "insert {\"_id\": 1, \"k\": 2}", "update {\"_id\": 1} {\"$set\": {\"a\": 1}}");
  }

  /**
   * A sharded source may have two documents with one _id. At the destination, statements for one
   * document would also match the other.
   */
  @Test
  void readsDocumentsWithSameIdAgain() {
    DocumentEvents events = events();
    events.put(BsonDocument.parse("{k: 1, _id: 1}"), raw("{_id: 1, k: 1}"), false, false);
    events.put(BsonDocument.parse("{k: 2, _id: 1}"), raw("{_id: 1, k: 2}"), true, false);
    assertThat(events.isReadAgain()).isTrue();
    DocumentEvents apart = events("k");
    apart.put(BsonDocument.parse("{k: 1, _id: 1}"), raw("{_id: 1, k: 1}"), false, false);
    apart.put(BsonDocument.parse("{k: 2, _id: 1}"), raw("{_id: 1, k: 2}"), true, false);
    assertThat(apart.isReadAgain()).isFalse();
  }

  /**
   * A replacement may change the type of a number, and may remove a field that was null. The
   * document is still the same.
   */
  @Test
  void equalKeysOfOtherTypesAreSameDocument() {
    BsonDocument asLong = BsonDocument.parse("{_id: {$numberLong: '1'}}");
    DocumentEvents gone = events();
    gone.put(KEY, raw("{_id: 1}"), true, false);
    gone.put(asLong, raw("{_id: {$numberLong: '1'}, a: 1}"), false, false);
    gone.delete(asLong);
    assertThat(statements(gone)).containsExactly("delete {\"_id\": 1}");
    DocumentEvents back = events("k");
    BsonDocument whole = BsonDocument.parse("{k: 2, _id: 1}");
    back.put(whole, raw("{_id: 1, k: 2, v: 1}"), false, false);
    back.put(BsonDocument.parse("{k: 2.0, _id: 1}"), raw("{_id: 1, k: 2.0, v: 2}"), false, false);
    back.put(whole, raw("{_id: 1, k: 2, v: 3}"), false, false);
    assertThat(back.isReadAgain()).isFalse();
    assertThat(statements(back))
        .containsExactly("put {\"_id\": 1, \"k\": 2} {\"_id\": 1, \"k\": 2, \"v\": 3}");
    DocumentEvents none = events("_id");
    none.put(KEY, raw("{_id: 1}"), true, false);
    none.put(BsonDocument.parse("{k: null, _id: 1}"), raw("{_id: 1, k: null}"), false, false);
    none.delete(BsonDocument.parse("{k: null, _id: 1}"));
    assertThat(statements(none)).containsExactly("delete {\"k\": null, \"_id\": 1}");
  }

  /**
   * Without a shard key, the update would go to all shards. A statement with the whole document
   * goes to one shard, so the document is read again.
   */
  @Test
  void readsDocumentAgainIfUpdateHasNoShardKey() {
    DocumentEvents events = events("k");
    events.update(KEY, BsonDocument.parse("{updatedFields: {a: 1}}"));
    assertThat(events.isReadAgain()).isTrue();
  }

  /** Servers refuse a replacement with a field name such as {@code $b}, so a pipeline writes it. */
  @Test
  void writesDollarNameAsLiteral() {
    DocumentEvents events = events();
    events.put(KEY, raw("{_id: 1, a: 1, $b: 1}"), false, false);
    assertThat(statements(events))
        .containsExactly(
            "put {\"_id\": 1} [{\"$replaceWith\": "
                + "{\"$literal\": {\"_id\": 1, \"a\": 1, \"$b\": 1}}}]");
  }
}
