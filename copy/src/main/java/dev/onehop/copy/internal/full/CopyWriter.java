package dev.onehop.copy.internal.full;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoException;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.Projections;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.state.Fence;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.core.bson.SortableKey;
import dev.onehop.core.table.ShardKeyPattern;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.conversions.Bson;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Writes copied documents, each unless it is there already. What is there is never older than what
 * the destination must have when all events since the start are applied to it.
 *
 * <p>Thread-safe.
 */
final class CopyWriter {
  private static final int DUPLICATE_KEY = 11000;
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();
  private static final InsertManyOptions UNORDERED =
      new InsertManyOptions().ordered(false).bypassDocumentValidation(true);
  private static final InsertManyOptions IN_ORDER =
      new InsertManyOptions().bypassDocumentValidation(true);

  private final Mapping mapping;
  private final ClusterEnd source;
  private final ClusterEnd destination;

  CopyWriter(ClusterEnd source, ClusterEnd destination, Mapping mapping) {
    this.mapping = mapping;
    this.source = source;
    this.destination = destination;
  }

  /** Writes a batch for good, with a majority. */
  void write(Fence.Lane lane, CollectionSpec spec, List<RawBsonDocument> documents)
      throws InterruptedException {
    MongoCollection<RawBsonDocument> target = collection(spec);
    if (spec.isCapped()) {
      writeCapped(lane, target, documents);
      return;
    }
    try {
      lane.write(insertion(target, documents));
    } catch (MongoException failure) {
      if (!isDuplicate(failure)) {
        throw failure;
      }
      writeMissing(lane, spec, target, documents);
    }
  }

  /**
   * Inserts in a transaction, which ends with the first error. Without order, what the driver sends
   * after it is refused, as there is no such transaction, and that is what it tells. So another try
   * is in order, and ends with the error itself.
   */
  private static Function<ClientSession, Publisher<?>> insertion(
      MongoCollection<RawBsonDocument> target, List<RawBsonDocument> documents) {
    AtomicBoolean tried = new AtomicBoolean();
    return session ->
        target.insertMany(session, documents, tried.getAndSet(true) ? IN_ORDER : UNORDERED);
  }

  private MongoCollection<RawBsonDocument> collection(CollectionSpec spec) {
    String namespace = spec.storedThere();
    String database = Mapping.databaseOf(namespace);
    return destination
        .database(database)
        .getCollection(namespace.substring(database.length() + 1), RawBsonDocument.class);
  }

  private static boolean isDuplicate(MongoException failure) {
    return failure.getCode() == DUPLICATE_KEY
        || (failure instanceof MongoBulkWriteException bulk
            && bulk.getWriteErrors().stream().anyMatch(error -> error.getCode() == DUPLICATE_KEY));
  }

  /** The batch came a second time, in part at least. */
  private void writeMissing(
      Fence.Lane lane,
      CollectionSpec spec,
      MongoCollection<RawBsonDocument> target,
      List<RawBsonDocument> documents)
      throws InterruptedException {
    Set<ByteBuffer> there = identities(spec, there(spec, target, documents));
    List<RawBsonDocument> missing = new ArrayList<>();
    for (RawBsonDocument document : documents) {
      if (!there.contains(identity(spec, document))) {
        missing.add(document);
      }
    }
    if (missing.isEmpty()) {
      return;
    }
    try {
      lane.write(insertion(target, missing));
    } catch (MongoException failure) {
      if (!isDuplicate(failure)) {
        throw failure;
      }
      for (RawBsonDocument document : missing) {
        writeOne(lane, spec, target, document);
      }
    }
  }

  private List<RawBsonDocument> there(
      CollectionSpec spec, MongoCollection<RawBsonDocument> target, List<RawBsonDocument> documents)
      throws InterruptedException {
    List<BsonValue> ids = new ArrayList<>();
    documents.forEach(document -> ids.add(idOf(document)));
    List<String> fields = new ArrayList<>(List.of("_id"));
    if (spec.sharding() != null) {
      fields.addAll(spec.sharding().key().keySet());
    }
    return destination.all(
        target.find(Filters.in("_id", ids)).projection(Projections.include(fields)));
  }

  private static BsonValue idOf(BsonDocument document) {
    return document.get("_id", BsonNull.VALUE);
  }

  private static Set<ByteBuffer> identities(CollectionSpec spec, List<RawBsonDocument> documents) {
    Set<ByteBuffer> identities = new HashSet<>();
    documents.forEach(document -> identities.add(identity(spec, document)));
    return identities;
  }

  /** What tells a document from others: in a sharded collection the {@code _id} alone does not. */
  private static ByteBuffer identity(CollectionSpec spec, BsonDocument document) {
    byte[] id = SortableKey.encode(idOf(document));
    if (spec.sharding() == null || spec.kind() == CollectionSpec.Kind.TIME_SERIES) {
      return ByteBuffer.wrap(id);
    }
    byte[] key = ShardKeyPattern.of(spec.sharding().key()).keyOf(document);
    return ByteBuffer.allocate(id.length + key.length).put(id).put(key).flip();
  }

  private void writeOne(
      Fence.Lane lane,
      CollectionSpec spec,
      MongoCollection<RawBsonDocument> target,
      RawBsonDocument document)
      throws InterruptedException {
    try {
      lane.write(session -> target.insertMany(session, List.of(document), UNORDERED));
    } catch (MongoException failure) {
      if (!isDuplicate(failure)) {
        throw failure;
      }
      replaceOccupants(lane, spec, target, document);
    }
  }

  /**
   * Another document has a unique value of this one: the same {@code _id} or the same shard key. At
   * the source it has gone or changed since it was copied, as that has this one now. So all of them
   * are written anew as they are at the source.
   */
  private void replaceOccupants(
      Fence.Lane lane,
      CollectionSpec spec,
      MongoCollection<RawBsonDocument> target,
      RawBsonDocument document)
      throws InterruptedException {
    List<RawBsonDocument> occupants = destination.all(target.find(occupying(spec, document)));
    MongoCollection<RawBsonDocument> origin =
        source
            .database(Mapping.databaseOf(spec.stored()))
            .getCollection(
                spec.stored().substring(Mapping.databaseOf(spec.stored()).length() + 1),
                RawBsonDocument.class);
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
            "%s has several documents with the _id %s on its shards; give them other _ids, as"
                    .formatted(spec.namespace(), new BsonDocument("_id", idOf(each)).toJson())
                + " they may come to one shard",
            null);
      }
      for (RawBsonDocument now : transformed(spec, found)) {
        current.put(identity(spec, now), now);
      }
    }
    List<RawBsonDocument> inserts = List.copyOf(current.values());
    lane.write(
        session ->
            Flux.fromIterable(occupants)
                .concatMap(occupant -> target.deleteOne(session, exactly(spec, occupant)))
                .thenMany(
                    inserts.isEmpty()
                        ? Flux.empty()
                        : target.insertMany(session, inserts, UNORDERED))
                .then());
  }

  /** Documents as they are written. */
  List<RawBsonDocument> transformed(CollectionSpec spec, List<RawBsonDocument> documents) {
    if (mapping.transformation() == null) {
      return documents;
    }
    List<RawBsonDocument> changed = new ArrayList<>();
    for (RawBsonDocument document : documents) {
      BsonDocument now = mapping.transformed(spec.namespace(), document);
      if (now != null) {
        changed.add(now instanceof RawBsonDocument raw ? raw : new RawBsonDocument(now, CODEC));
      }
    }
    return changed;
  }

  private static Bson occupying(CollectionSpec spec, BsonDocument document) {
    List<Bson> either = new ArrayList<>();
    either.add(Filters.eq("_id", idOf(document)));
    if (spec.sharding() != null && spec.sharding().unique()) {
      either.add(keyOf(spec, document));
    }
    return Filters.or(either);
  }

  private static Bson exactly(CollectionSpec spec, BsonDocument document) {
    return spec.sharding() == null
        ? Filters.eq("_id", idOf(document))
        : Filters.and(Filters.eq("_id", idOf(document)), keyOf(spec, document));
  }

  /** The fields of the shard key as the document has them. */
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

  /**
   * A capped collection takes no transactions, and its order is that of insertion. Only one thread
   * writes to it.
   */
  private void writeCapped(
      Fence.Lane lane, MongoCollection<RawBsonDocument> target, List<RawBsonDocument> documents)
      throws InterruptedException {
    Set<ByteBuffer> there = new HashSet<>();
    List<BsonValue> ids = new ArrayList<>();
    documents.forEach(document -> ids.add(idOf(document)));
    for (RawBsonDocument each :
        destination.all(
            target.find(Filters.in("_id", ids)).projection(Projections.include("_id")))) {
      there.add(ByteBuffer.wrap(SortableKey.encode(idOf(each))));
    }
    List<RawBsonDocument> missing = new ArrayList<>();
    for (RawBsonDocument document : documents) {
      if (!there.contains(ByteBuffer.wrap(SortableKey.encode(idOf(document))))) {
        missing.add(document);
      }
    }
    lane.write(session -> Mono.empty());
    List<RawBsonDocument> rest = missing;
    for (int tries = 1; !rest.isEmpty(); tries++) {
      try {
        Waits.first(target.insertMany(rest, IN_ORDER));
        return;
      } catch (MongoException failure) {
        if (isDuplicate(failure) && failure instanceof MongoBulkWriteException bulk) {
          // Of a try without an answer.
          rest = rest.subList(bulk.getWriteErrors().get(0).getIndex() + 1, rest.size());
        } else if (Waits.isPassing(failure)) {
          Waits.pause("the destination", failure, tries);
        } else {
          throw failure;
        }
      }
    }
  }
}
