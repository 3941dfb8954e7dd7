package dev.onehop.streams.mirror;

import static dev.onehop.core.bson.Expressions.literal;
import static dev.onehop.core.bson.Expressions.operator;

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
 * The writes that apply the change events of one collection to another collection, for {@code
 * FencedSink} or for any bulk write.
 *
 * <ul>
 *   <li>{@code insert} and {@code replace} write the whole document with an upsert.
 *   <li>{@code update} sets, removes and truncates the fields that {@code updateDescription} names.
 *       It does not create a missing document, because the delete event of the document follows.
 *   <li>{@code delete} removes the document. A delete in a transaction does not remove a document
 *       with another shard key, because the transaction has moved the document to another shard.
 * </ul>
 *
 * <p>All writes can run again. When all events after an earlier position have run again, the
 * collection is as before, except that a field that was removed and set again may have another
 * position in its document.
 *
 * <p>Some update events are unclear: {@code a.b} may be a field {@code b} within {@code a}, or a
 * field whose name has a dot. Servers from 6.1 on report the meaning with {@code
 * showExpandedEvents(true)}. Other update events cannot be expressed with update operators, because
 * a name starts with a dollar sign. In both cases the event's {@code fullDocument} is written, if
 * the event has one ({@code FullDocument.UPDATE_LOOKUP}). Without {@code fullDocument}, {@code a.b}
 * counts as a field {@code b} within {@code a}. The write fails if the document has a field with
 * the name {@code a.b}.
 *
 * <p>Immutable and thread-safe.
 */
public final class MirrorWrites
    implements Function<StreamEvent.Change, List<? extends WriteModel<BsonDocument>>> {
  private static final BsonDocument MISSING = new BsonDocument("$exists", BsonBoolean.FALSE);
  private static final BsonString REFUSED =
      new BsonString(
          "a field name of the document has a dot, so the update event can mean two"
              + " different fields");

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
   * by the same key. Use it with {@code FencedSink}, which does not repeat writes. A repeated
   * insert could create a second document if the shard key of the first document has changed since
   * the first run. The second document would stay until the change of the shard key runs again,
   * too.
   *
   * <p>If an update of the shard key moves a document to another shard of the source, the document
   * may stay on one shard of the destination. The insert event may then come before the delete
   * event, and the write fails with a duplicate key.
   */
  public static MirrorWrites byDocumentKey() {
    return new MirrorWrites(true);
  }

  /**
   * The writes for an event, to be run in this order. The list is empty for an event that changes
   * no document, such as {@code createIndexes}.
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
              "%s of %s can't be mirrored: only changes of documents can be mirrored"
                  .formatted(type, event.get("ns")));
      default -> List.of();
    };
  }

  /**
   * Returns a processor that writes each event at least once to a collection, with write concern
   * {@code majority}. The events of a batch are one ordered bulk write.
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
   * The filter for a deleted document. If an update of the shard key moves a document to another
   * shard, a transaction deletes and inserts the document. The two shards may have different
   * cluster times for this transaction, so the delete event may come after the insert event. The
   * filter therefore requires the old shard key, which the inserted document does not have.
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
                      operator(
                          "$or",
                          new BsonDocument(field, equal(value)),
                          new BsonDocument(field, MISSING)));
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
    // A server would read a replacement with such a name as update operators.
    return RawFields.anyNameBeginsWith('$', raw)
        ? new UpdateOneModel<>(
            filter(event),
            List.of(new BsonDocument("$replaceWith", literal(raw))),
            new UpdateOptions().upsert(true))
        : new ReplaceOneModel<>(filter(event), raw, new ReplaceOptions().upsert(true));
  }

  private List<WriteModel<BsonDocument>> update(BsonDocument event) {
    FieldChanges changes = FieldChanges.of(event.getDocument("updateDescription"));
    List<FieldUpdates.Update> updates =
        changes == null ? null : FieldUpdates.repeatable(filter(event), changes);
    boolean clear = updates != null && updates.stream().noneMatch(FieldUpdates.Update::guarded);
    if (!clear && event.isNull("fullDocument")) {
      // The lookup did not find the document. The document's delete event follows.
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

  /**
   * A write that makes the batch fail if a document matches the filter but not {@code names}. The
   * write sets {@code _id}, which a server refuses.
   */
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
