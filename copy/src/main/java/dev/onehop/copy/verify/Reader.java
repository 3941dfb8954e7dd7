package dev.onehop.copy.verify;

import com.mongodb.client.model.Collation;
import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.full.KeyRange;
import dev.onehop.copy.internal.structure.KeySamples;
import dev.onehop.core.bson.BsonPath;
import dev.onehop.core.bson.SortableKey;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMaxKey;
import org.bson.BsonString;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.bson.ByteBuf;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;

/** Reads the documents of one collection on one side. Thread-safe. */
final class Reader {
  private static final long FIRST_USUAL = TimeUnit.DAYS.toMillis(400);
  private static final long LAST_USUAL = TimeUnit.SECONDS.toMillis(Integer.MAX_VALUE);
  private static final Set<BsonType> COMPARABLE =
      EnumSet.of(
          BsonType.INT32,
          BsonType.INT64,
          BsonType.STRING,
          BsonType.OBJECT_ID,
          BsonType.DATE_TIME,
          BsonType.BINARY);
  private static final Collation SIMPLE = Collation.builder().locale("simple").build();

  private final Side side;
  private final String namespace;
  private final CollectionPair pair;
  private final @Nullable BsonDocument filter;
  private final BsonPath path;

  private Reader(Side side, String namespace, CollectionPair pair, @Nullable BsonDocument filter) {
    this.side = side;
    this.namespace = namespace;
    this.pair = pair;
    this.filter = filter;
    this.path = BsonPath.of(pair.keyField());
  }

  static Reader from(Side side, CollectionPair pair) {
    return new Reader(side, pair.from().namespace(), pair, pair.filter());
  }

  static Reader to(Side side, CollectionPair pair) {
    return new Reader(side, pair.to().namespace(), pair, null);
  }

  /** Estimates the number of documents. */
  long estimate() throws InterruptedException {
    return side.cluster().one(collection()::estimatedDocumentCount);
  }

  /** How long transient failures are retried. */
  Waits.Patience patience() {
    return side.cluster().patience();
  }

  private MongoCollection<RawBsonDocument> collection() {
    return side.documents(namespace);
  }

  /**
   * Takes documents at random.
   *
   * @param count the approximate number of documents to take
   * @param of the approximate number of all documents
   */
  Sample sample(int count, long of) throws InterruptedException {
    BsonDocument shape =
        new BsonDocument(
            "$project",
            new BsonDocument("_id", new BsonInt32(pair.keyField().equals("_id") ? 1 : 0))
                .append(pair.keyField(), new BsonInt32(1))
                .append("size", BsonDocument.parse("{$bsonSize: '$$ROOT'}")));
    List<RawBsonDocument> documents =
        KeySamples.take(
            count,
            of,
            sample ->
                side.cluster()
                    .all(collection().aggregate(List.of(sample, shape)).allowDiskUse(true)));
    return Sample.of(documents, pair.keyField());
  }

  /**
   * Reads the documents of a range in the order of their keys.
   *
   * @param batch the largest number of documents in one reply
   */
  Groups read(KeyRange range, int batch) {
    return new Groups(
        side.read(false, session -> documents(session, range, batch))
            .toStream(batch)
            .map(this::group),
        namespace,
        pair.keyField());
  }

  private Publisher<RawBsonDocument> documents(ClientSession session, KeyRange range, int batch) {
    if (pair.hasRanges()) {
      return byIndex(session, range, batch);
    }
    // No index has this order: the server sorts.
    return sorted(session, filtered(null), batch)
        .collation(pair.isTimeSeries() ? null : SIMPLE)
        .allowDiskUse(true);
  }

  private FindPublisher<RawBsonDocument> sorted(ClientSession session, Bson criteria, int batch) {
    return collection().find(session, criteria).sort(ascending()).batchSize(batch);
  }

  /**
   * Reads by bounds of the index. A filter can't replace the bounds, because a comparison in a
   * filter matches values of one type only.
   */
  private Flux<RawBsonDocument> byIndex(ClientSession session, KeyRange range, int batch) {
    BsonDocument last = new BsonDocument("_id", new BsonMaxKey());
    Flux<RawBsonDocument> end = Flux.from(collection().find(session, filtered(last)));
    if (KeyRange.isHighest(range.min())) {
      return end;
    }
    FindPublisher<RawBsonDocument> find =
        sorted(session, filtered(routable(range)), batch).hint(ascending());
    if (!KeyRange.isLowest(range.min())) {
      find = find.min(range.min());
    }
    if (!KeyRange.isHighest(range.max())) {
      find = find.max(range.max());
    }
    // With a lower bound and no upper bound, a server leaves out the key MaxKey. A second find
    // reads it.
    return !KeyRange.isLowest(range.min()) && KeyRange.isHighest(range.max())
        ? Flux.from(find).concatWith(end)
        : Flux.from(find);
  }

  private BsonDocument ascending() {
    return new BsonDocument(pair.keyField(), new BsonInt32(1));
  }

  /** The filter of this side, together with a condition. */
  private Bson filtered(@Nullable Bson condition) {
    if (condition == null) {
      return filter == null ? new BsonDocument() : filter;
    }
    return filter == null ? condition : Filters.and(filter, condition);
  }

  /**
   * A range as a filter, from which a router determines the shards. Null if the filter would not
   * match all keys of the range, because a comparison in a filter matches values of one type only.
   */
  static @Nullable BsonDocument routable(KeyRange range) {
    BsonValue min = Objects.requireNonNull(range.min().get("_id"));
    BsonValue max = Objects.requireNonNull(range.max().get("_id"));
    boolean sameType = SortableKey.encode(min)[0] == SortableKey.encode(max)[0];
    return COMPARABLE.contains(min.getBsonType()) && sameType
        ? new BsonDocument("_id", new BsonDocument("$gte", min).append("$lt", max))
        : null;
  }

  /**
   * Reads the documents of some keys, causally after all earlier reads.
   *
   * @param keys in their order
   * @return the documents' fingerprints, by the key's sortable bytes; with a collation, also the
   *     fingerprints of keys that the collation treats as equal
   */
  Map<ByteBuffer, Fingerprint> look(List<BsonValue> keys, int batch) throws InterruptedException {
    return side.cluster()
        .one(
            () ->
                side.read(
                        true,
                        session ->
                            collection().find(session, filtered(anyOf(keys))).batchSize(batch))
                    .map(this::group)
                    .collect(
                        Collectors.toMap(
                            group -> ByteBuffer.wrap(group.order()),
                            Group::fingerprint,
                            Fingerprint::plus)));
  }

  private Bson anyOf(List<BsonValue> keys) {
    if (!pair.isTimeSeries() || keys.stream().allMatch(Reader::isUsual)) {
      return Filters.in(pair.keyField(), keys);
    }
    // Servers do not derive a condition on buckets from an expression. So this filter reads all
    // buckets.
    return Filters.expr(
        new BsonDocument(
            "$in",
            new BsonArray(List.of(new BsonString("$" + pair.keyField()), new BsonArray(keys)))));
  }

  /**
   * Whether servers certainly find the documents of a time in the buckets of a time series. For
   * example, servers of version 6.0.5 do not find the times in the first hour of 1970.
   */
  static boolean isUsual(BsonValue time) {
    return time.isDateTime()
        && time.asDateTime().getValue() > FIRST_USUAL
        && time.asDateTime().getValue() < LAST_USUAL;
  }

  /** A document with its key. */
  private Group group(RawBsonDocument document) {
    BsonPath.Located key = path.find(document);
    if (key == null) {
      throw new IllegalStateException("a document of " + namespace + " has no " + path);
    }
    return new Group(SortableKey.encode(key.value()), key.value(), content(document));
  }

  private ByteBuffer content(RawBsonDocument document) {
    RawBsonDocument content = document;
    if (pair.isTimeSeries()) {
      // A bucket does not keep the order of fields, so a copy may have another order.
      BsonDocument sorted = new BsonDocument();
      new TreeMap<>(document).forEach(sorted::append);
      content = new RawBsonDocument(sorted, new BsonDocumentCodec());
    }
    ByteBuf bytes = content.getByteBuffer();
    return bytes.asNIO();
  }
}
