package dev.onehop.streams.mirror;

import com.mongodb.WriteConcern;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.WriteModel;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.core.bson.RawFields;
import dev.onehop.streams.channel.ChannelProcessor;
import dev.onehop.streams.event.StreamEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import reactor.core.publisher.Mono;

/**
 * The writes that make a collection follow the change events of another one: for {@code
 * FencedSink}, or for any bulk write.
 *
 * <ul>
 *   <li>{@code insert} and {@code replace} put the whole document, with upsert.
 *   <li>{@code update} sets, removes and truncates the fields that {@code updateDescription} names.
 *       It does not create a missing document: its delete follows.
 *   <li>{@code delete} removes the document. In a transaction it keeps a document with another
 *       shard key, because the document was moved to another shard.
 * </ul>
 *
 * <p>All writes can run again: when all events from an earlier position on have run again, the
 * collection is unchanged, except that a removed field may have another position in its document.
 *
 * <p>An update event may be unclear or not expressible: {@code a.b} may be a field within {@code a}
 * or one whose name has a dot, and a name may start with a dollar sign. Then the event's {@code
 * fullDocument} is put, if it has one ({@code FullDocument.UPDATE_LOOKUP}). Otherwise dots count as
 * nesting; the write fails if the document has a field with such a name. Servers from 6.1 on report
 * which one it is with {@code showExpandedEvents(true)}.
 *
 * <p>Immutable and thread-safe.
 */
public final class MirrorWrites
    implements Function<StreamEvent.Change, List<? extends WriteModel<BsonDocument>>> {
  private static final BsonString REFUSED =
      new BsonString("the document has a field whose name has a dot, and the event is unclear");

  private final boolean whole;

  private MirrorWrites(boolean whole) {
    this.whole = whole;
  }

  /**
   * Writes that find documents by {@code _id}, for a collection that is not sharded, or sharded by
   * {@code _id}.
   */
  public static MirrorWrites byId() {
    return new MirrorWrites(false);
  }

  /**
   * Writes that find documents by the event's {@code documentKey}, for a collection that is sharded
   * by the same key. Use it with {@code FencedSink}: if an insert runs again after the shard key of
   * its document has changed, there are two documents until the change runs again, too.
   *
   * <p>A document that gets another shard of the source may stay on one shard of the copy. Its
   * insertion may come before its deletion; then the write fails with a duplicate key.
   */
  public static MirrorWrites byDocumentKey() {
    return new MirrorWrites(true);
  }

  /**
   * The writes for an event, to be run in this order; none for an event that changes no document,
   * such as {@code createIndexes}.
   *
   * @throws UnsupportedOperationException if the source was dropped or renamed, or if an update
   *     can't be expressed and the event has no {@code fullDocument}
   */
  @Override
  public List<WriteModel<BsonDocument>> apply(StreamEvent.Change change) {
    RawBsonDocument event = change.document();
    String type = event.getString("operationType").getValue();
    return switch (type) {
      case "insert", "replace" -> List.of(put(event));
      case "update" -> update(event);
      case "delete" -> List.of(new DeleteOneModel<>(deleted(event)));
      case "drop", "rename", "dropDatabase" ->
          throw new UnsupportedOperationException(
              "%s of %s: only changes of documents are mirrored".formatted(type, event.get("ns")));
      default -> List.of();
    };
  }

  /**
   * A processor that writes to a collection with write concern {@code majority}: each event at
   * least once. The events of a batch are one ordered bulk write.
   */
  public ChannelProcessor into(MongoCollection<?> target) {
    MongoCollection<BsonDocument> durable =
        target.withDocumentClass(BsonDocument.class).withWriteConcern(WriteConcern.MAJORITY);
    return (channel, events) -> {
      List<WriteModel<BsonDocument>> models = new ArrayList<>();
      events.forEach(event -> models.addAll(apply(event)));
      return models.isEmpty() ? Mono.empty() : Mono.from(durable.bulkWrite(models)).then();
    };
  }

  private BsonDocument filter(BsonDocument event) {
    BsonDocument key = event.getDocument("documentKey");
    BsonDocument filter = new BsonDocument();
    key.forEach(
        (field, value) -> {
          if (whole || field.equals("_id")) {
            filter.append(field, equal(value));
          }
        });
    return filter;
  }

  /**
   * A document that gets another shard by its shard key is deleted and inserted in one transaction.
   * Each shard has a cluster time of its own for it, so the deletion may come last. The document
   * has another key by then.
   */
  private BsonDocument deleted(BsonDocument event) {
    BsonDocument filter = filter(event);
    BsonArray same = new BsonArray();
    if (!whole && event.containsKey("txnNumber")) {
      event
          .getDocument("documentKey")
          .forEach(
              (field, value) -> {
                if (!field.equals("_id")) {
                  same.add(
                      new BsonDocument(
                          "$or",
                          new BsonArray(
                              List.of(
                                  new BsonDocument(field, equal(value)),
                                  new BsonDocument(
                                      field, new BsonDocument("$exists", BsonBoolean.FALSE))))));
                }
              });
    }
    return same.isEmpty() ? filter : filter.append("$and", same);
  }

  private static BsonValue equal(BsonValue value) {
    return value.isDocument() || value.isRegularExpression()
        ? new BsonDocument("$eq", value)
        : value;
  }

  private WriteModel<BsonDocument> put(BsonDocument event) {
    BsonDocument document = event.getDocument("fullDocument");
    RawBsonDocument raw =
        document instanceof RawBsonDocument known
            ? known
            : new RawBsonDocument(document, new BsonDocumentCodec());
    // A server would take a replacement with such a name for operators.
    return RawFields.anyNameBeginsWith('$', raw)
        ? new UpdateOneModel<>(
            filter(event),
            List.of(new BsonDocument("$replaceWith", new BsonDocument("$literal", raw))),
            new UpdateOptions().upsert(true))
        : new ReplaceOneModel<>(filter(event), raw, new ReplaceOptions().upsert(true));
  }

  private List<WriteModel<BsonDocument>> update(BsonDocument event) {
    FieldChanges changes = FieldChanges.of(event.getDocument("updateDescription"));
    List<FieldUpdates.Update> updates =
        changes == null ? null : FieldUpdates.repeatable(filter(event), changes);
    boolean clear = updates != null && updates.stream().noneMatch(FieldUpdates.Update::guarded);
    if (!clear && event.isNull("fullDocument")) {
      // The lookup did not find it: its delete follows.
      return List.of();
    }
    if (!clear && event.isDocument("fullDocument")) {
      return List.of(put(event));
    }
    if (updates == null) {
      throw new UnsupportedOperationException(
          "an update of %s names fields with dots or dollar signs: read the stream with fullDocument(UPDATE_LOOKUP)"
              .formatted(event.get("documentKey")));
    }
    List<WriteModel<BsonDocument>> models = new ArrayList<>();
    for (FieldUpdates.Update update : updates) {
      BsonDocument names = update.names();
      if (names != null) {
        models.add(refusal(filter(event), names));
      }
      models.add(model(update));
    }
    return models;
  }

  /** Fails if it matches, because an update can't change an {@code _id}. */
  private static WriteModel<BsonDocument> refusal(BsonDocument filter, BsonDocument names) {
    return new UpdateOneModel<>(
        filter.append("$nor", new BsonArray(List.of(names))),
        new BsonDocument("$set", new BsonDocument("_id", REFUSED)));
  }

  private static WriteModel<BsonDocument> model(FieldUpdates.Update update) {
    return update.update().isArray()
        ? new UpdateOneModel<>(
            update.filter(), update.update().asArray().stream().map(BsonValue::asDocument).toList())
        : new UpdateOneModel<>(update.filter(), update.update().asDocument());
  }
}
