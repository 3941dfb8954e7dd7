package dev.onehop.streams.channel;

import com.mongodb.MongoException;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.core.bson.BsonPath;
import dev.onehop.streams.Snapshot;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.merge.Pauses;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/**
 * Reads a collection in the order of {@code _id}, with read concern {@code snapshot}. A snapshot at
 * a newer cluster time replaces the current one about once a minute, because servers keep snapshots
 * for five minutes by default. Thread-safe.
 *
 * @param key the names of the shard key's fields, except {@code _id}, in order
 */
record SnapshotReader(
    MongoClient client,
    MongoCollection<?> source,
    List<String> key,
    ToIntFunction<RawBsonDocument> channelOf) {
  private static final String ID = "_id";
  private static final BsonDocument BY_ID = new BsonDocument(ID, new BsonInt32(1));
  private static final Duration LONGEST = Duration.ofMinutes(1);

  /**
   * The errors CursorNotFound, SnapshotTooOld and SnapshotUnavailable. After one of them the reader
   * continues with a newer snapshot.
   */
  private static final Set<Integer> PAST_IS_GONE = Set.of(43, 239, 246);

  /**
   * A document that was read.
   *
   * @param at the cluster time of the snapshot
   * @param event the document as an {@code insert} event
   */
  record Read(SortedId id, BsonTimestamp at, int channel, StreamEvent.Change event) {}

  /** The progress of a scan. Used by one thread at a time. */
  static final class Scan {
    private @Nullable SortedId last;
    private @Nullable BsonTimestamp first;
    private boolean ended;

    /**
     * @param after the {@code _id} after which the scan starts; null for the beginning of the
     *     collection
     */
    Scan(@Nullable SortedId after) {
      this.last = after;
    }

    /** The cluster time of the first snapshot; null before the first reply. */
    @Nullable BsonTimestamp first() {
      return first;
    }
  }

  String name() {
    return source.getNamespace().getFullName();
  }

  /** The documents of a scan. While servers cannot be reached, the publisher waits. */
  Flux<Read> read(Scan scan) {
    return Flux.defer(
            () ->
                query(scan)
                    .doOnComplete(() -> scan.ended = true)
                    .take(LONGEST)
                    .doOnNext(read -> scan.last = read.id()))
        .retryWhen(Pauses.whenever(SnapshotReader::isPassing))
        .repeat(() -> !scan.ended);
  }

  private static boolean isPassing(Throwable failure) {
    return Passing.is(failure)
        || (failure instanceof MongoException known && PAST_IS_GONE.contains(known.getCode()));
  }

  private Flux<Read> query(Scan scan) {
    SortedId after = scan.last;
    return Flux.from(
        Snapshot.read(
            client,
            source,
            find ->
                // The query uses min(), because $gt finds only values of the same type.
                (after == null ? find : find.min(new BsonDocument(ID, after.value())))
                    .hint(BY_ID)
                    .sort(BY_ID),
            (time, documents) -> {
              scan.first = scan.first == null ? time : scan.first;
              // The bound of min() is inclusive, so the first document may be the last document of
              // the earlier snapshot.
              return documents
                  .map(document -> read(document, time))
                  .filter(read -> !read.id().equals(after))
                  .doOnNext(read -> check(scan, read));
            }));
  }

  private void check(Scan scan, Read read) {
    SortedId last = scan.last;
    if (last != null && read.id().compareTo(last) <= 0) {
      throw new IllegalStateException(
          "%s has a collation: its documents can't be read in the order of _id".formatted(name()));
    }
  }

  private Read read(RawBsonDocument document, BsonTimestamp time) {
    BsonDocument documentKey = new BsonDocument();
    for (String field : key) {
      BsonValue value = BsonPath.of(field).value(document);
      documentKey.append(field, value == null ? BsonNull.VALUE : value);
    }
    SortedId id = SortedId.of(document, ID);
    documentKey.append(ID, id.value());
    Checkpoint place = Snapshot.next(time);
    RawBsonDocument event =
        new RawBsonDocument(
            new BsonDocument(ID, new BsonDocument("_data", new BsonString(place.low())))
                .append("operationType", new BsonString("insert"))
                .append("clusterTime", time)
                .append("fullDocument", document)
                .append(
                    "ns",
                    new BsonDocument("db", new BsonString(source.getNamespace().getDatabaseName()))
                        .append("coll", new BsonString(source.getNamespace().getCollectionName())))
                .append("documentKey", documentKey),
            new BsonDocumentCodec());
    return new Read(
        id,
        time,
        channelOf.applyAsInt(event),
        new StreamEvent.Change("", place.low(), event, System.nanoTime(), place));
  }
}
