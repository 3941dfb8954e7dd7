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
 * The events of one {@code _id} of a collection in a batch, and the statements for these events.
 * Events that a later event of the batch overwrites are left out.
 *
 * <p>If an update of the shard key moves a document to another shard of the source, there are two
 * events with the same {@code _id} and different shard keys: a delete and an insert, in any order.
 * They are treated as events of two documents, which the whole {@code documentKey} distinguishes. A
 * replacement may change the type of a value of the {@code documentKey}, for example from {@code 1}
 * to {@code 1.0}. It is still the same document. Not thread-safe.
 */
final class DocumentEvents {
  private final Target target;
  private final BsonValue id;
  private final Map<Map<String, ByteBuffer>, Changes> byKey = new LinkedHashMap<>();
  private boolean placed = true;
  private boolean readAgain;
  private boolean insertedAgain;

  /**
   * The events of one {@code documentKey}: the last event that sets or deletes the whole document,
   * and the updates after it.
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

  /**
   * Called when the document must be read from the source, because the events do not contain its
   * state.
   */
  void readAgain() {
    readAgain = true;
  }

  boolean isReadAgain() {
    return readAgain
        || (byKey.size() > 1
            && mayMeetOneDocument()
            && byKey.values().stream().filter(Changes::isLive).count() > 1);
  }

  /**
   * Whether statements for several values of {@code documentKey} may match the same document of the
   * destination.
   */
  private boolean mayMeetOneDocument() {
    return target.isPlacedById() || !placed;
  }

  /**
   * Called when an insert into a capped collection is possibly repeated: the collection may already
   * have the document, at this position or at a later one. If the source has removed the document
   * since, it is not inserted again: the insert would remove another document that the source may
   * still have.
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
   * @param inserted whether the event is the insert of the document
   * @param perhapsMoved whether the destination may have an older version of the document with
   *     another shard key
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
    // The document may be inserted again with another shard key, so it counts as moved.
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
   * A key of a map for a {@code documentKey}. Two results are equal if servers treat the two values
   * of {@code documentKey} as equal. {@code _id} is left out because it is the same in all of them.
   * A field that is null is left out because servers treat it as a missing field.
   */
  private static Map<String, ByteBuffer> comparable(BsonDocument documentKey) {
    if (documentKey.size() == 1) {
      return Map.of();
    }
    Map<String, ByteBuffer> values = new HashMap<>();
    documentKey.forEach(
        (field, value) -> {
          if (!value.isNull() && !field.equals(Target.ID)) {
            values.put(field, Target.key(value));
          }
        });
    return values;
  }

  void update(BsonDocument documentKey, BsonDocument description) {
    FieldChanges update = FieldChanges.of(description);
    // An update without the shard key would go to all shards, where other statements write
    // documents at the same time. So the document is read again instead.
    if (update == null || changesPlace(documentKey, update) || !target.isPlacedBy(documentKey)) {
      readAgain();
    } else {
      of(documentKey).updates.add(update);
    }
  }

  /**
   * Whether an update changes the {@code documentKey} or the destination's shard key. After a
   * change of the {@code documentKey}, later events have the new one.
   */
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

  /** The statements for this document, to be run in this order. */
  List<Statement> statements() {
    List<Statement> deletes = new ArrayList<>();
    List<Statement> others = new ArrayList<>();
    for (Changes changes : byKey.values()) {
      RawBsonDocument document = changes.document;
      if (document != null) {
        if (insertedAgain) {
          // The delete ensures that the insert puts the document at the end of the capped
          // collection.
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
            .forEach(update -> others.add(target.update(id, update)));
      }
    }
    deletes.addAll(others);
    return deletes;
  }

  /**
   * The statements that give the destination the same documents with this {@code _id} as the
   * source.
   *
   * @param atSource the documents with this {@code _id} that the source has
   */
  List<Statement> statements(List<RawBsonDocument> atSource) {
    List<Statement> statements = new ArrayList<>();
    // In a capped collection, the document is deleted first, so that it is inserted at the end.
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
