package dev.onehop.copy.internal.full;

import com.mongodb.MongoClientSettings;
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
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.codecs.Codec;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

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
  private static final Codec<BsonDocument> CODEC = new BsonDocumentCodec();
  private static final Codec<CollectionSpec> SPECS =
      MongoClientSettings.getDefaultCodecRegistry().get(CollectionSpec.class);

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
      writes.add(
          put(
              new BsonDocument("_id", id(number))
                  .append("namespace", new BsonString(specs.get(number).namespace()))
                  .append("spec", bytes(specs.get(number), SPECS))));
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

  private static WriteModel<BsonDocument> put(BsonDocument document) {
    return new ReplaceOneModel<>(
        Filters.eq(document.get("_id")), document, new ReplaceOptions().upsert(true));
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
        decoded(document.getBinary("spec"), SPECS),
        document.containsKey("key") ? decoded(document.get("key"), CODEC) : KeyFields.BY_ID,
        index.isNull() ? null : decoded(index, CODEC),
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
      writes.add(
          put(
              new BsonDocument("_id", id(division, range))
                  .append("shard", new BsonString(range.shard()))
                  .append("min", bytes(range.min(), CODEC))
                  .append("max", bytes(range.max(), CODEC))));
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
                    Updates.set("key", bytes(collection.key(), CODEC)),
                    Updates.set("index", index == null ? BsonNull.VALUE : bytes(index, CODEC)),
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
              decoded(document.getBinary("min"), CODEC),
              decoded(document.getBinary("max"), CODEC),
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
    destination.one(() -> ranges.updateOne(Filters.eq(id(of.division(), range)), update));
  }

  private static BsonDocument id(@Nullable BsonObjectId division, KeyRange range) {
    return new BsonDocument("division", division).append("range", new BsonInt32(range.number()));
  }

  private static <T> BsonBinary bytes(T value, Codec<T> codec) {
    // The value is stored as bytes, because servers may refuse its field names.
    ByteBuffer buffer = new RawBsonDocument(value, codec).getByteBuffer().asNIO();
    byte[] copy = new byte[buffer.remaining()];
    buffer.get(copy);
    return new BsonBinary(copy);
  }

  private static <T> T decoded(BsonValue bytes, Codec<T> codec) {
    return new RawBsonDocument(bytes.asBinary().getData()).decode(codec);
  }
}
