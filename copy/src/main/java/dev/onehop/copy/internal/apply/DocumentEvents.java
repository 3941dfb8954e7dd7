package dev.onehop.copy.internal.apply;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * The events of one {@code _id} of a collection in a batch, and the statements they become. What is
 * overwritten in the same batch is left out.
 *
 * <p>While a document changes its shard key at the source, there are events of two documents with
 * the same {@code _id}: a delete of one and an insert of the other, in any order. The two are told
 * apart by the whole {@code documentKey}. Not thread-safe.
 */
final class DocumentEvents {
  private final Target target;
  private final BsonValue id;
  private final Map<BsonDocument, Changes> byKey = new LinkedHashMap<>();
  private boolean readAgain;

  /** Of one {@code documentKey}, from the last event on that says the whole. */
  private static final class Changes {
    private boolean whole;
    private @Nullable RawBsonDocument document;
    private boolean inserted;
    private boolean moved;
    private final List<FieldChanges> updates = new ArrayList<>();

    boolean isLive() {
      return document != null || !updates.isEmpty();
    }
  }

  DocumentEvents(Target target, BsonValue id) {
    this.target = target;
    this.id = id;
  }

  /** The document is to be read from the source, for its events don't tell all that is needed. */
  void readAgain() {
    readAgain = true;
  }

  boolean isReadAgain() {
    return readAgain
        || (mayMeetOneDocument() && byKey.values().stream().filter(Changes::isLive).count() > 1);
  }

  /** Whether statements for several keys may meet the same document. */
  private boolean mayMeetOneDocument() {
    return target.isPlacedById() || !byKey.keySet().stream().allMatch(target::isPlacedBy);
  }

  BsonValue id() {
    return id;
  }

  Target target() {
    return target;
  }

  /**
   * An event has the whole document.
   *
   * @param inserted whether the event is its insert
   * @param perhapsMoved whether there may be an older version of it elsewhere
   */
  void put(
      BsonDocument documentKey, RawBsonDocument document, boolean inserted, boolean perhapsMoved) {
    Changes changes = begin(documentKey);
    changes.inserted = inserted;
    changes.document = document;
    changes.moved |= perhapsMoved && !target.isPlacedBy(documentKey);
  }

  void delete(BsonDocument documentKey) {
    Changes changes = begin(documentKey);
    changes.document = null;
    // It may come back elsewhere.
    changes.moved |= !target.isPlacedBy(documentKey);
  }

  private Changes begin(BsonDocument documentKey) {
    Changes changes = byKey.computeIfAbsent(documentKey, key -> new Changes());
    changes.whole = true;
    changes.updates.clear();
    return changes;
  }

  void update(BsonDocument documentKey, BsonDocument description) {
    FieldChanges update = FieldChanges.of(description);
    // Without the shard key it would go to all shards, beside what is put there.
    if (update == null || changesPlace(documentKey, update) || !target.isPlacedBy(documentKey)) {
      readAgain();
    } else {
      byKey.computeIfAbsent(documentKey, key -> new Changes()).updates.add(update);
    }
  }

  /** The events that follow have another key, or the destination has it elsewhere. */
  private boolean changesPlace(BsonDocument documentKey, FieldChanges update) {
    return documentKey.keySet().stream().anyMatch(field -> concerns(update, field))
        || target.shardKey().stream().anyMatch(field -> concerns(update, field));
  }

  private static boolean concerns(FieldChanges update, String field) {
    return !field.equals("_id") && update.concerns(field);
  }

  /** The statements, to be run in this order for this document. */
  List<Statement> statements() {
    List<Statement> deletes = new ArrayList<>();
    List<Statement> others = new ArrayList<>();
    byKey.forEach(
        (key, changes) -> {
          RawBsonDocument document = changes.document;
          if (document != null) {
            if (changes.moved) {
              add(target.deleteOthers(id, List.of(document)), deletes);
            }
            others.add(changes.inserted ? target.insert(document) : target.put(document));
          } else if (changes.whole) {
            deletes.add(target.delete(key));
          }
          others.addAll(UpdateStatements.of(target, id, Target.filter(key), changes.updates));
        });
    deletes.addAll(others);
    return deletes;
  }

  /** The statements after which the destination has what the source has. */
  List<Statement> statements(List<RawBsonDocument> atSource) {
    List<Statement> statements = new ArrayList<>();
    add(target.deleteOthers(id, atSource), statements);
    atSource.forEach(document -> statements.add(target.put(document)));
    return statements;
  }

  private static void add(@Nullable Statement statement, List<Statement> to) {
    if (statement != null) {
      to.add(statement);
    }
  }
}
