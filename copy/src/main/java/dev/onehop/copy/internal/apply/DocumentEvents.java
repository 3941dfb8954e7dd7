package dev.onehop.copy.internal.apply;

import dev.onehop.copy.internal.KeyFields;
import dev.onehop.streams.mirror.FieldChanges;
import dev.onehop.streams.mirror.FieldUpdates;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * The events of one {@code _id} of a collection in a batch, and their statements. Events that a
 * later event of the batch overwrites are left out.
 *
 * <p>A change of the shard key at the source causes events of two documents with the same {@code
 * _id}. They are a delete of one and an insert of the other, in any order. The whole {@code
 * documentKey} distinguishes the two. A replacement may change the types of its values, as {@code
 * 1.0} for {@code 1}: it is still the same document. Not thread-safe.
 */
final class DocumentEvents {
  private final Target target;
  private final BsonValue id;
  private final Map<Map<String, ByteBuffer>, Changes> byKey = new LinkedHashMap<>();
  private boolean placed = true;
  private boolean readAgain;
  private boolean insertedAgain;

  /**
   * The events of one {@code documentKey}, from the last event on that sets or deletes the
   * document.
   */
  private static final class Changes {
    private BsonDocument key;
    private boolean whole;
    private @Nullable RawBsonDocument document;
    private boolean inserted;
    private boolean moved;
    private final List<FieldChanges> updates = new ArrayList<>();

    Changes(BsonDocument key) {
      this.key = key;
    }

    boolean isLive() {
      return document != null || !updates.isEmpty();
    }
  }

  DocumentEvents(Target target, BsonValue id) {
    this.target = target;
    this.id = id;
  }

  /** Requires that the document is read from the source, because its events are not enough. */
  void readAgain() {
    readAgain = true;
  }

  boolean isReadAgain() {
    return readAgain
        || (byKey.size() > 1
            && mayMeetOneDocument()
            && byKey.values().stream().filter(Changes::isLive).count() > 1);
  }

  /** Whether statements for several keys may match the same document. */
  private boolean mayMeetOneDocument() {
    return target.isPlacedById() || !placed;
  }

  /**
   * The document is inserted in a capped collection that may have it already, at this position or a
   * later one. If the source has removed it since, it is not inserted: that would remove another
   * document, which the source may still have.
   */
  void insertAgain() {
    insertedAgain = true;
  }

  boolean isInsertedAgain() {
    return insertedAgain;
  }

  BsonValue id() {
    return id;
  }

  Target target() {
    return target;
  }

  /**
   * Adds an event with the whole document.
   *
   * @param inserted whether the event is its insert
   * @param perhapsMoved whether an older version of it may exist with another shard key
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
    // It may come back with another shard key.
    changes.moved |= !target.isPlacedBy(documentKey);
  }

  private Changes begin(BsonDocument documentKey) {
    Changes changes = of(documentKey);
    changes.whole = true;
    changes.updates.clear();
    return changes;
  }

  private Changes of(BsonDocument documentKey) {
    placed &= target.isPlacedBy(documentKey);
    Changes changes =
        byKey.computeIfAbsent(comparable(documentKey), values -> new Changes(documentKey));
    changes.key = documentKey;
    return changes;
  }

  /**
   * Equal if servers treat the keys as equal. All have the same {@code _id}, and a field that is
   * null may be missing.
   */
  private static Map<String, ByteBuffer> comparable(BsonDocument documentKey) {
    if (documentKey.size() == 1) {
      return Map.of();
    }
    Map<String, ByteBuffer> values = new HashMap<>();
    documentKey.forEach(
        (field, value) -> {
          if (!value.isNull() && !field.equals(Target.ID)) {
            values.put(field, Ids.key(value));
          }
        });
    return values;
  }

  void update(BsonDocument documentKey, BsonDocument description) {
    FieldChanges update = FieldChanges.of(description);
    // Without the shard key it would go to all shards, where documents are written at the same
    // time.
    if (update == null || changesPlace(documentKey, update) || !target.isPlacedBy(documentKey)) {
      readAgain();
    } else {
      of(documentKey).updates.add(update);
    }
  }

  /** Whether later events have another key, or the destination's shard key changes. */
  private boolean changesPlace(BsonDocument documentKey, FieldChanges update) {
    return concernsAny(update, documentKey.keySet()) || concernsAny(update, target.shardKey());
  }

  private static boolean concernsAny(FieldChanges update, Collection<String> fields) {
    for (String field : fields) {
      if (!KeyFields.isOfId(field) && update.concerns(field)) {
        return true;
      }
    }
    return false;
  }

  /** The statements, to be run in this order for this document. */
  List<Statement> statements() {
    List<Statement> deletes = new ArrayList<>();
    List<Statement> others = new ArrayList<>();
    for (Changes changes : byKey.values()) {
      RawBsonDocument document = changes.document;
      if (document != null) {
        if (insertedAgain) {
          // So that the insert puts it last.
          deletes.add(target.delete(changes.key));
        } else if (changes.moved) {
          add(target.deleteOthers(id, List.of(document)), deletes);
        }
        others.add(changes.inserted ? target.insert(document) : target.put(document));
      } else if (changes.whole) {
        deletes.add(target.delete(changes.key));
      }
      if (!changes.updates.isEmpty()) {
        FieldUpdates.of(Target.filter(changes.key), changes.updates)
            .forEach(update -> others.add(Statement.update(id, target.isSimple(), update)));
      }
    }
    deletes.addAll(others);
    return deletes;
  }

  /** The statements that make the destination equal the source. */
  List<Statement> statements(List<RawBsonDocument> atSource) {
    List<Statement> statements = new ArrayList<>();
    // A document that is inserted again comes last.
    add(target.deleteOthers(id, insertedAgain ? List.of() : atSource), statements);
    atSource.forEach(document -> statements.add(target.put(document)));
    return statements;
  }

  private static void add(@Nullable Statement statement, List<Statement> to) {
    if (statement != null) {
      to.add(statement);
    }
  }
}
