package dev.onehop.copy.internal.full;

import com.mongodb.MongoNamespace;
import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.copy.internal.KeyFields;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.state.Fence;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.core.bson.SortableKey;
import dev.onehop.core.table.ShardKeyPattern;
import dev.onehop.wire.message.ErrorCodes;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.conversions.Bson;

/**
 * Writes the copied documents that the destination does not have yet. A document that the
 * destination has is not overwritten. It was read after the start of the copy, so the events since
 * the start bring it up to date.
 *
 * <p>Thread-safe.
 */
record CopyWriter(ClusterEnd source, ClusterEnd destination, Mapping mapping) {
  private static final int CLEARED_AT_ONCE = 1_000;

  /**
   * The most bytes of documents in a command. Together with the command's other fields, this is
   * less than the servers' limit for a message.
   */
  private static final long MOST_BYTES = 12_000_000;

  /** Writes a batch with majority write concern. */
  void write(Fence.Lane lane, CollectionSpec spec, List<RawBsonDocument> documents)
      throws InterruptedException {
    List<RawBsonDocument> refused = insert(lane, spec, documents);
    if (refused.isEmpty()) {
      return;
    }
    // An earlier attempt may have written some documents of the batch.
    for (RawBsonDocument document : missing(spec, refused)) {
      if (!insert(lane, spec, List.of(document)).isEmpty()) {
        replaceOccupants(lane, spec, document);
      }
    }
  }

  /** Removes all documents of a collection at the destination. */
  void clear(Fence.Lane lane, CollectionSpec spec) throws InterruptedException {
    List<RawBsonDocument> some;
    do {
      some =
          destination.all(
              collection(spec)
                  .find()
                  .projection(KeyFields.withId(List.of()))
                  .limit(CLEARED_AT_ONCE));
      delete(lane, spec, some);
    } while (!some.isEmpty());
  }

  /**
   * Inserts documents. Inserts into capped collections are ordered, because such a collection keeps
   * the order of insertion; other inserts are unordered.
   *
   * @return the documents that were refused with a duplicate key
   */
  private List<RawBsonDocument> insert(
      Fence.Lane lane, CollectionSpec spec, List<RawBsonDocument> documents)
      throws InterruptedException {
    MongoNamespace name = new MongoNamespace(spec.storedThere());
    List<RawBsonDocument> refused = new ArrayList<>();
    int from = 0;
    while (from < documents.size()) {
      List<RawBsonDocument> part = documents.subList(from, end(documents, from));
      BsonDocument insert =
          new BsonDocument("insert", new BsonString(name.getCollectionName()))
              .append("documents", new BsonArray(part))
              .append("ordered", BsonBoolean.valueOf(spec.isCapped()))
              .append("bypassDocumentValidation", BsonBoolean.TRUE);
      BsonDocument reply = Waits.one(lane.write(name.getDatabaseName(), insert));
      int next = from + part.size();
      for (BsonValue each : reply.getArray("writeErrors", new BsonArray())) {
        BsonDocument error = each.asDocument();
        int index = error.getNumber("index").intValue();
        if (error.getNumber("code").intValue() != ErrorCodes.DUPLICATE_KEY) {
          throw new CopyException("%s: %s".formatted(name, error.getString("errmsg").getValue()));
        }
        refused.add(part.get(index));
        next = spec.isCapped() ? from + index + 1 : next;
      }
      from = next;
    }
    return refused;
  }

  /** The index after the last document that fits into a command. */
  private static int end(List<RawBsonDocument> documents, int from) {
    long bytes = 0;
    int end = from;
    while (end < documents.size()) {
      bytes += documents.get(end).getByteBuffer().remaining();
      if (bytes > MOST_BYTES && end > from) {
        return end;
      }
      end++;
    }
    return end;
  }

  private MongoCollection<RawBsonDocument> collection(CollectionSpec spec) {
    return destination.collection(spec.storedThere()).withDocumentClass(RawBsonDocument.class);
  }

  /** Returns the documents that the destination does not have. */
  private List<RawBsonDocument> missing(CollectionSpec spec, List<RawBsonDocument> documents)
      throws InterruptedException {
    List<BsonValue> ids = documents.stream().map(CopyWriter::idOf).toList();
    Set<String> shardKey = spec.sharding() == null ? Set.of() : spec.sharding().key().keySet();
    Set<ByteBuffer> there = new HashSet<>();
    destination
        .all(collection(spec).find(Filters.in("_id", ids)).projection(KeyFields.withId(shardKey)))
        .forEach(document -> there.add(identity(spec, document)));
    return documents.stream()
        .filter(document -> !there.contains(identity(spec, document)))
        .toList();
  }

  private static BsonValue idOf(BsonDocument document) {
    return document.get("_id", BsonNull.VALUE);
  }

  /**
   * The identity of a document: its {@code _id}. In a sharded collection it is {@code _id} with the
   * shard key, because {@code _id} alone is not unique there.
   */
  private static ByteBuffer identity(CollectionSpec spec, BsonDocument document) {
    byte[] id = SortableKey.encode(idOf(document));
    if (spec.sharding() == null || spec.kind() == CollectionSpec.Kind.TIME_SERIES) {
      return ByteBuffer.wrap(id);
    }
    byte[] key = ShardKeyPattern.of(spec.sharding().key()).keyOf(document);
    return ByteBuffer.allocate(id.length + key.length).put(id).put(key).flip();
  }

  /**
   * Called when a document can't be inserted because another document of the destination has the
   * same {@code _id} or the same unique shard key. The source now has the document to insert, so it
   * has removed or changed the other document after that document was copied. This method replaces
   * both documents by their current state at the source.
   */
  private void replaceOccupants(Fence.Lane lane, CollectionSpec spec, RawBsonDocument document)
      throws InterruptedException {
    List<RawBsonDocument> occupants =
        destination.all(collection(spec).find(occupying(spec, document)));
    MongoCollection<RawBsonDocument> origin =
        source.collection(spec.stored()).withDocumentClass(RawBsonDocument.class);
    Map<ByteBuffer, RawBsonDocument> current = new LinkedHashMap<>();
    List<RawBsonDocument> all = new ArrayList<>(occupants);
    all.add(document);
    for (RawBsonDocument each : all) {
      BsonDocument filter = mapping.filter(spec.namespace());
      Bson byId = Filters.eq("_id", idOf(each));
      List<RawBsonDocument> found =
          source.all(origin.find(filter == null ? byId : Filters.and(byId, filter)));
      if (found.size() > 1) {
        throw new CopyException(
            "%s has several documents with the _id %s on its shards; give them different _ids,"
                    .formatted(spec.namespace(), new BsonDocument("_id", idOf(each)).toJson())
                + " because they may get to the same shard");
      }
      mapping
          .transformed(spec.namespace(), found)
          .forEach(now -> current.put(identity(spec, now), now));
    }
    delete(lane, spec, occupants);
    for (RawBsonDocument occupied : insert(lane, spec, List.copyOf(current.values()))) {
      if (!missing(spec, List.of(occupied)).isEmpty()) {
        // The source continues to change, so by now yet another document may have the value.
        replaceOccupants(lane, spec, occupied);
      }
    }
  }

  /**
   * Deletes documents. If the process is killed before {@link #replaceOccupants} inserts their
   * current state, the documents are missing at first. They have changed at the source, so the
   * events of these changes insert them again.
   */
  private void delete(Fence.Lane lane, CollectionSpec spec, List<RawBsonDocument> documents)
      throws InterruptedException {
    if (documents.isEmpty()) {
      return;
    }
    MongoNamespace name = new MongoNamespace(spec.storedThere());
    BsonArray statements = new BsonArray();
    for (RawBsonDocument document : documents) {
      BsonDocument delete =
          new BsonDocument("q", exactly(spec, document)).append("limit", new BsonInt32(1));
      if (spec.sharding() != null) {
        delete.append("collation", CollectionSpec.SIMPLE);
      }
      statements.add(delete);
    }
    BsonDocument reply =
        Waits.one(
            lane.write(
                name.getDatabaseName(),
                new BsonDocument("delete", new BsonString(name.getCollectionName()))
                    .append("deletes", statements)));
    if (reply.containsKey("writeErrors")) {
      throw new CopyException(name + ": " + reply.getArray("writeErrors").get(0));
    }
  }

  private static Bson occupying(CollectionSpec spec, BsonDocument document) {
    Bson byId = Filters.eq("_id", idOf(document));
    return spec.sharding() != null && spec.sharding().unique()
        ? Filters.or(byId, keyOf(spec, document))
        : byId;
  }

  private static BsonDocument exactly(CollectionSpec spec, BsonDocument document) {
    BsonDocument filter = keyOf(spec, document);
    filter.put("_id", new BsonDocument("$eq", idOf(document)));
    return filter;
  }

  /** A filter with the document's values of the shard key. */
  private static BsonDocument keyOf(CollectionSpec spec, BsonDocument document) {
    BsonDocument key = new BsonDocument();
    if (spec.sharding() != null) {
      BsonDocument ranged = new BsonDocument();
      spec.sharding().key().keySet().forEach(name -> ranged.append(name, new BsonInt32(1)));
      ShardKeyPattern.of(ranged)
          .keyDocumentOf(document)
          .forEach((path, value) -> key.append(path, new BsonDocument("$eq", value)));
    }
    return key;
  }
}
