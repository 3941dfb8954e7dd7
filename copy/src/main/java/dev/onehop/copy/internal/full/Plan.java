package dev.onehop.copy.internal.full;

import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.WriteModel;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.copy.internal.KeyFields;
import dev.onehop.copy.internal.cluster.ClusterEnd;
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
 * The plan of a job, stored at the destination. It has the job's collections as they were at the
 * start, their ranges, and the progress of the ranges. A range that is marked as done is complete
 * at the destination, even if an earlier process has marked it. A process may be paused while
 * another process takes the job. The paused process can't change the plan of the new owner, because
 * each plan has its own id. Each division of a collection into ranges also has an id, and only the
 * first stored division counts.
 *
 * <p>Thread-safe.
 */
public final class Plan {
  private static final int AT_ONCE = 1_000;
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();

  private final ClusterEnd destination;
  private final MongoCollection<BsonDocument> collections;
  private final MongoCollection<BsonDocument> ranges;
  private final BsonObjectId plan;

  /**
   * @param plan the id of the plan
   */
  public Plan(ClusterEnd destination, String database, BsonObjectId plan) {
    this.destination = destination;
    MongoDatabase state = destination.database(database);
    this.collections = state.getCollection("collections", BsonDocument.class);
    this.ranges = state.getCollection("ranges", BsonDocument.class);
    this.plan = plan;
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

  /** Removes the stored plan. */
  public void remove() throws InterruptedException {
    for (CopiedCollection collection : collections()) {
      BsonObjectId division = collection.division();
      if (division != null) {
        destination.one(() -> ranges.deleteMany(Filters.eq("_id.division", division)));
      }
    }
    destination.one(() -> collections.deleteMany(ofPlan()));
  }

  private BsonDocument id(int number) {
    return new BsonDocument("plan", plan).append("collection", new BsonInt32(number));
  }

  private void write(MongoCollection<BsonDocument> to, List<WriteModel<BsonDocument>> writes)
      throws InterruptedException {
    for (int from = 0; from < writes.size(); from += AT_ONCE) {
      List<WriteModel<BsonDocument>> some =
          writes.subList(from, Math.min(writes.size(), from + AT_ONCE));
      destination.one(() -> to.bulkWrite(some, new BulkWriteOptions().ordered(false)));
    }
  }

  private Bson ofPlan() {
    return Filters.eq("_id.plan", plan);
  }

  /** The collections, in their order. */
  public List<CopiedCollection> collections() throws InterruptedException {
    List<CopiedCollection> all = new ArrayList<>();
    for (BsonDocument document :
        destination.all(
            collections
                .find(ofPlan())
                .sort(new BsonDocument("_id.collection", new BsonInt32(1))))) {
      all.add(collection(document));
    }
    return all;
  }

  private static CopiedCollection collection(BsonDocument document) {
    BsonValue index = document.get("index", BsonNull.VALUE);
    return new CopiedCollection(
        document.getDocument("_id").getInt32("collection").getValue(),
        spec(document(document.getBinary("spec"))),
        document.containsKey("key") ? document(document.get("key")) : KeyFields.BY_ID,
        index.isNull() ? null : document(index),
        document.getNumber("documents", new BsonInt64(0)).longValue(),
        document.get("division") instanceof BsonObjectId division ? division : null);
  }

  /**
   * Stores the division of a collection into ranges. If another process has stored a division
   * before, that division stays.
   *
   * @return the collection with the division that counts
   */
  CopiedCollection store(CopiedCollection collection, List<KeyRange> planned)
      throws InterruptedException {
    BsonObjectId division = new BsonObjectId();
    List<WriteModel<BsonDocument>> writes = new ArrayList<>();
    for (KeyRange range : planned) {
      BsonDocument id =
          new BsonDocument("division", division).append("range", new BsonInt32(range.number()));
      BsonDocument document =
          new BsonDocument("_id", id)
              .append("shard", new BsonString(range.shard()))
              .append("min", bytes(range.min()))
              .append("max", bytes(range.max()));
      writes.add(
          new ReplaceOneModel<>(Filters.eq(id), document, new ReplaceOptions().upsert(true)));
    }
    write(ranges, writes);
    BsonDocument index = collection.index();
    Bson byId = Filters.eq(id(collection.number()));
    destination.one(
        () ->
            collections.updateOne(
                Filters.and(byId, Filters.exists("division", false)),
                Updates.combine(
                    Updates.set("division", division),
                    Updates.set("key", bytes(collection.key())),
                    Updates.set("index", index == null ? BsonNull.VALUE : bytes(index)),
                    Updates.set("documents", collection.documents()))));
    return collection(destination.one(() -> collections.find(byId).first()));
  }

  /** Adds to the counts the ranges and documents that earlier processes have copied. */
  public void count(Counts counts) throws InterruptedException {
    for (CopiedCollection collection : collections()) {
      counts.documents.addAndGet(collection.documents());
      var unused = open(collection, counts);
    }
  }

  /**
   * Reads the ranges of a collection.
   *
   * @param counts receives each range and its progress
   * @return the unfinished ranges
   */
  List<KeyRange> open(CopiedCollection collection, Counts counts) throws InterruptedException {
    List<KeyRange> open = new ArrayList<>();
    if (collection.division() == null) {
      return open;
    }
    for (BsonDocument document :
        destination.all(
            ranges
                .find(Filters.eq("_id.division", collection.division()))
                .sort(new BsonDocument("_id.range", new BsonInt32(1))))) {
      int reads = document.getInt32("reads", new BsonInt32(0)).getValue();
      counts.ranges.incrementAndGet();
      counts.rangesReadAgain.addAndGet(Math.max(0, reads - 1));
      if (document.containsKey("done")) {
        counts.rangesDone.incrementAndGet();
        counts.documentsDone.addAndGet(document.getNumber("documents").longValue());
        counts.bytesDone.addAndGet(document.getNumber("bytes").longValue());
        continue;
      }
      open.add(
          new KeyRange(
              collection.number(),
              document.getDocument("_id").getInt32("range").getValue(),
              document.getString("shard").getValue(),
              document(document.getBinary("min")),
              document(document.getBinary("max")),
              reads > 0));
    }
    return open;
  }

  /** Records that a range is being read. */
  void started(CopiedCollection of, KeyRange range) throws InterruptedException {
    set(of, range, Updates.inc("reads", 1));
  }

  /** Records that the documents of a range are at the destination. */
  void done(CopiedCollection of, KeyRange range, long documents, long bytes)
      throws InterruptedException {
    set(
        of,
        range,
        Updates.combine(
            Updates.set("done", true),
            Updates.set("documents", documents),
            Updates.set("bytes", bytes)));
  }

  private void set(CopiedCollection of, KeyRange range, Bson update) throws InterruptedException {
    BsonDocument id =
        new BsonDocument("division", of.division()).append("range", new BsonInt32(range.number()));
    destination.one(() -> ranges.updateOne(Filters.eq(id), update));
  }

  private static BsonBinary bytes(BsonDocument document) {
    // The document is stored as bytes, because servers may refuse its field names.
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
            .append("uuid", spec.uuid() == null ? BsonNull.VALUE : spec.uuid())
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
        document.get("uuid") instanceof BsonBinary uuid ? uuid : null,
        document.getDocument("options"),
        documents(document.getArray("indexes")),
        sharding);
  }

  private static List<BsonDocument> documents(BsonArray array) {
    return array.stream().map(BsonValue::asDocument).toList();
  }
}
