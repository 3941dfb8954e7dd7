package dev.onehop.copy.internal.full;

import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.WriteModel;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.internal.structure.CollectionSpec.Kind;
import dev.onehop.copy.internal.structure.CollectionSpec.Sharding;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.conversions.Bson;

/**
 * What a job copies, kept at the destination: its collections as they were at the start, and their
 * ranges with what is done. What is said to be done is there, whoever says it.
 *
 * <p>Thread-safe.
 */
public final class Plan {
  private static final int AT_ONCE = 1_000;
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();

  private final ClusterEnd destination;
  private final MongoCollection<BsonDocument> collections;
  private final MongoCollection<BsonDocument> ranges;
  private final BsonObjectId incarnation;

  /**
   * @param incarnation which job it is
   */
  public Plan(ClusterEnd destination, String database, BsonObjectId incarnation) {
    this.destination = destination;
    MongoDatabase state = destination.database(database);
    this.collections = state.getCollection("collections", BsonDocument.class);
    this.ranges = state.getCollection("ranges", BsonDocument.class);
    this.incarnation = incarnation;
  }

  /** Stores the collections, in their order. */
  public void store(List<CollectionSpec> specs) throws InterruptedException {
    List<WriteModel<BsonDocument>> writes = new ArrayList<>();
    for (int number = 0; number < specs.size(); number++) {
      BsonDocument document =
          new BsonDocument("_id", id(number))
              .append("namespace", new BsonString(specs.get(number).namespace()))
              .append("spec", bytes(document(specs.get(number))));
      writes.add(
          new ReplaceOneModel<>(
              Filters.eq(id(number)), document, new ReplaceOptions().upsert(true)));
    }
    write(collections, writes);
  }

  private BsonDocument id(int number) {
    return new BsonDocument("incarnation", incarnation)
        .append("collection", new BsonInt32(number));
  }

  private void write(
      MongoCollection<BsonDocument> to, List<WriteModel<BsonDocument>> writes)
      throws InterruptedException {
    for (int from = 0; from < writes.size(); from += AT_ONCE) {
      List<WriteModel<BsonDocument>> some =
          writes.subList(from, Math.min(writes.size(), from + AT_ONCE));
      Waits.persistently(
          "the destination",
          () -> Waits.one(to.bulkWrite(some, new BulkWriteOptions().ordered(false))));
    }
  }

  private Bson ofJob() {
    return Filters.eq("_id.incarnation", incarnation);
  }

  /** The collections, in their order. */
  public List<CopiedCollection> collections() throws InterruptedException {
    List<CopiedCollection> all = new ArrayList<>();
    for (BsonDocument document :
        destination.all(
            collections.find(ofJob()).sort(new BsonDocument("_id.collection", new BsonInt32(1))))) {
      BsonValue index = document.get("index", BsonNull.VALUE);
      all.add(
          new CopiedCollection(
              document.getDocument("_id").getInt32("collection").getValue(),
              spec(document(document.get("spec"))),
              document.containsKey("key")
                  ? document(document.get("key"))
                  : new BsonDocument("_id", new BsonInt32(1)),
              index.isNull() ? null : document(index),
              document.getNumber("documents", new BsonInt64(0)).longValue(),
              document.getBoolean("planned", BsonBoolean.FALSE).getValue()));
    }
    return all;
  }

  /** Stores the ranges of a collection, instead of those that there may be. */
  void store(CopiedCollection collection, List<KeyRange> planned) throws InterruptedException {
    Waits.persistently(
        "the destination",
        () ->
            Waits.one(
                ranges.deleteMany(
                    Filters.and(
                        ofJob(), Filters.eq("_id.collection", collection.number())))));
    List<WriteModel<BsonDocument>> writes = new ArrayList<>();
    for (KeyRange range : planned) {
      BsonDocument document =
          new BsonDocument("_id", id(range))
              .append("shard", new BsonString(range.shard()))
              .append("min", bytes(range.min()))
              .append("max", bytes(range.max()));
      writes.add(
          new ReplaceOneModel<>(
              Filters.eq(id(range)), document, new ReplaceOptions().upsert(true)));
    }
    write(ranges, writes);
    BsonDocument index = collection.index();
    Waits.persistently(
        "the destination",
        () ->
            Waits.one(
                collections.updateOne(
                    Filters.eq(id(collection.number())),
                    Updates.combine(
                        Updates.set("key", bytes(collection.key())),
                        Updates.set("index", index == null ? BsonNull.VALUE : bytes(index)),
                        Updates.set("documents", collection.documents()),
                        Updates.set("planned", true)))));
  }

  private BsonDocument id(KeyRange range) {
    return id(range.collection()).append("range", new BsonInt32(range.number()));
  }

  /**
   * All ranges.
   *
   * @param done gets the documents and bytes of each one that is done
   * @return those that are not done
   */
  List<KeyRange> open(Done done) throws InterruptedException {
    List<KeyRange> open = new ArrayList<>();
    for (BsonDocument document :
        destination.all(ranges.find(ofJob()).sort(new BsonDocument("_id", new BsonInt32(1))))) {
      if (document.containsKey("done")) {
        done.range(
            document.getNumber("documents").longValue(), document.getNumber("bytes").longValue());
        continue;
      }
      BsonDocument id = document.getDocument("_id");
      open.add(
          new KeyRange(
              id.getInt32("collection").getValue(),
              id.getInt32("range").getValue(),
              document.getString("shard").getValue(),
              document(document.get("min")),
              document(document.get("max")),
              document.containsKey("started")));
    }
    return open;
  }

  /** Gets what is done. */
  @FunctionalInterface
  interface Done {
    /** A range is done, with so much. */
    void range(long documents, long bytes);
  }

  /** Says that the documents of a range may be at the destination in part. */
  void started(KeyRange range) throws InterruptedException {
    set(range, Updates.set("started", true));
  }

  /** Says that the documents of a range are at the destination. */
  void done(KeyRange range, long documents, long bytes) throws InterruptedException {
    set(
        range,
        Updates.combine(
            Updates.set("done", true),
            Updates.set("documents", documents),
            Updates.set("bytes", bytes)));
  }

  private void set(KeyRange range, Bson update) throws InterruptedException {
    Waits.persistently(
        "the destination", () -> Waits.one(ranges.updateOne(Filters.eq(id(range)), update)));
  }

  private static BsonBinary bytes(BsonDocument document) {
    // As bytes, for what is stored may have any names of fields.
    ByteBuffer buffer = new RawBsonDocument(document, CODEC).getByteBuffer().asNIO();
    byte[] copy = new byte[buffer.remaining()];
    buffer.get(copy);
    return new BsonBinary(copy);
  }

  private static BsonDocument document(BsonValue bytes) {
    return new RawBsonDocument(bytes.asBinary().getData()).decode(CODEC);
  }

  private static BsonDocument document(CollectionSpec spec) {
    BsonDocument document =
        new BsonDocument("namespace", new BsonString(spec.namespace()))
            .append("destination", new BsonString(spec.destination()))
            .append("kind", new BsonString(spec.kind().name()))
            .append("options", spec.options())
            .append("indexes", new BsonArray(spec.indexes()));
    Sharding sharding = spec.sharding();
    return sharding == null
        ? document
        : document.append(
            "sharding",
            new BsonDocument("key", sharding.key())
                .append("unique", BsonBoolean.valueOf(sharding.unique()))
                .append("zones", new BsonArray(sharding.zones())));
  }

  private static CollectionSpec spec(BsonDocument document) {
    Sharding sharding = null;
    if (document.containsKey("sharding")) {
      BsonDocument stored = document.getDocument("sharding");
      sharding =
          new Sharding(
              stored.getDocument("key"),
              stored.getBoolean("unique").getValue(),
              documents(stored.getArray("zones")));
    }
    return new CollectionSpec(
        document.getString("namespace").getValue(),
        document.getString("destination").getValue(),
        Kind.valueOf(document.getString("kind").getValue()),
        document.getDocument("options"),
        documents(document.getArray("indexes")),
        sharding);
  }

  private static List<BsonDocument> documents(BsonArray array) {
    return array.stream().map(BsonValue::asDocument).toList();
  }
}
