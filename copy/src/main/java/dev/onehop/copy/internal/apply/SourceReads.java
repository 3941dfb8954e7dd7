package dev.onehop.copy.internal.apply;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoNamespace;
import com.mongodb.ReadConcern;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.copy.internal.cluster.ClusterQueries;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.wire.message.ErrorCodes;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Reads documents of the source at a known cluster time, over mongoses or from a replica set.
 * Retries while servers are unreachable. Thread-safe.
 */
record SourceReads(MongoClient source) {
  private static final int SNAPSHOT_UNAVAILABLE = 246;

  /**
   * Further transient errors: the cluster time of the read is too old, or a server reaches this
   * time too late.
   */
  private static final Set<Integer> PASSING =
      Set.of(ErrorCodes.MAX_TIME_MS_EXPIRED, 239, SNAPSHOT_UNAVAILABLE);

  /**
   * The result of a read.
   *
   * @param time the cluster time of the documents
   * @param byId the documents that existed at this time, by {@link Target#key}
   * @param gone whether the collection no longer exists, so that its documents need not be written
   */
  record Documents(BsonTimestamp time, Map<ByteBuffer, List<RawBsonDocument>> byId, boolean gone) {
    List<RawBsonDocument> of(ByteBuffer id) {
      return byId.getOrDefault(id, List.of());
    }
  }

  /** A cluster time of the source that is at or after all past operations on all shards. */
  Mono<BsonTimestamp> now() {
    return ClusterQueries.latestTime(source).retryWhen(untilThere());
  }

  /**
   * Reads documents of a collection at a time that is at or after {@link #now}.
   *
   * @param namespace the name of the collection in the events
   * @param uuid the UUID in the events, which finds the collection after a rename; null if the
   *     events have no UUID
   * @param ids the {@code _id}s of the documents
   * @param filter a further condition for the documents; null if there is none
   */
  Mono<Documents> documents(
      MongoNamespace namespace,
      @Nullable BsonBinary uuid,
      List<BsonValue> ids,
      @Nullable BsonDocument filter) {
    return ClusterQueries.latestTime(source)
        .flatMap(
            time ->
                name(namespace, uuid)
                    .flatMap(
                        name ->
                            find(
                                    new MongoNamespace(namespace.getDatabaseName(), name),
                                    ids,
                                    filter,
                                    time)
                                .filterWhen(found -> name(namespace, uuid).map(name::equals))
                                .switchIfEmpty(Mono.error(SourceReads::renamed)))
                    .map(found -> new Documents(time, byId(found), false))
                    .defaultIfEmpty(new Documents(time, Map.of(), true)))
        .retryWhen(untilThere());
  }

  private static MongoException renamed() {
    return new MongoException(SNAPSHOT_UNAVAILABLE, "the collection was renamed during the read");
  }

  /** The current name of a collection; empty if the collection does not exist. */
  Mono<String> name(MongoNamespace namespace, @Nullable BsonBinary uuid) {
    Mono<String> byName =
        name(namespace, new BsonDocument("name", new BsonString(namespace.getCollectionName())));
    // A resharded collection has another UUID and the same name, so its name is looked up, too.
    return uuid == null
        ? byName
        : name(namespace, new BsonDocument("info.uuid", uuid)).switchIfEmpty(byName);
  }

  private Mono<String> name(MongoNamespace namespace, BsonDocument filter) {
    return listed(source, namespace, filter).map(found -> found.getString("name").getValue());
  }

  /**
   * The first entry of {@code listCollections} in the database of a collection; empty if there is
   * none.
   *
   * @param filter the condition for the entry
   */
  static Mono<BsonDocument> listed(MongoClient client, MongoNamespace namespace, Bson filter) {
    return Mono.from(
        client
            .getDatabase(namespace.getDatabaseName())
            .listCollections(BsonDocument.class)
            .filter(filter)
            .first());
  }

  private Mono<List<RawBsonDocument>> find(
      MongoNamespace namespace,
      List<BsonValue> ids,
      @Nullable BsonDocument filter,
      BsonTimestamp time) {
    BsonDocument byId = new BsonDocument("_id", new BsonDocument("$in", new BsonArray(ids)));
    BsonDocument find =
        new BsonDocument("find", new BsonString(namespace.getCollectionName()))
            .append(
                "filter",
                filter == null
                    ? byId
                    : new BsonDocument("$and", new BsonArray(List.of(byId, filter))))
            .append("batchSize", new BsonInt32(2 * ids.size() + 1));
    BsonDocument exact =
        find.clone()
            .append("readConcern", ReadConcern.SNAPSHOT.asDocument().append("atClusterTime", time));
    BsonDocument atLeast =
        find.append(
            "readConcern", ReadConcern.MAJORITY.asDocument().append("afterClusterTime", time));
    // Servers refuse read concern snapshot for capped collections. These are read with majority
    // read concern instead.
    return run(namespace.getDatabaseName(), exact)
        .onErrorResume(
            SourceReads::isOfCapped, refused -> run(namespace.getDatabaseName(), atLeast))
        .flatMap(
            reply -> {
              long cursor = CursorReplies.id(reply);
              return cursor == 0
                  ? Mono.just(CursorReplies.documents(reply))
                  : kill(namespace, cursor).then(halves(namespace, ids, filter, time));
            });
  }

  private static boolean isOfCapped(Throwable failure) {
    return failure instanceof MongoCommandException refused
        && refused.getErrorCode() == SNAPSHOT_UNAVAILABLE
        && refused.getErrorMessage().contains("capped");
  }

  /**
   * Reads in two parts, because one reply can't contain all documents. A getMore is not used,
   * because it might go to another mongos.
   */
  private Mono<List<RawBsonDocument>> halves(
      MongoNamespace namespace,
      List<BsonValue> ids,
      @Nullable BsonDocument filter,
      BsonTimestamp time) {
    int half = ids.size() / 2;
    if (half == 0) {
      return Mono.error(
          new IllegalStateException(
              namespace + " has several documents with the _id " + ids.get(0)));
    }
    return find(namespace, ids.subList(0, half), filter, time)
        .zipWith(
            find(namespace, ids.subList(half, ids.size()), filter, time),
            (one, other) -> Stream.concat(one.stream(), other.stream()).toList());
  }

  private Mono<Void> kill(MongoNamespace namespace, long cursor) {
    return run(
            namespace.getDatabaseName(),
            new BsonDocument("killCursors", new BsonString(namespace.getCollectionName()))
                .append("cursors", new BsonArray(List.of(new BsonInt64(cursor)))))
        .onErrorComplete()
        .then();
  }

  private static Map<ByteBuffer, List<RawBsonDocument>> byId(List<RawBsonDocument> documents) {
    return documents.stream().collect(Collectors.groupingBy(each -> Target.key(Target.id(each))));
  }

  private Mono<RawBsonDocument> run(String database, BsonDocument command) {
    return Mono.from(source.getDatabase(database).runCommand(command, RawBsonDocument.class));
  }

  /** Retries while servers are unreachable or fail for a transient reason. */
  static Retry untilThere() {
    return Waits.retry(SourceReads::isPassing);
  }

  static boolean isPassing(Throwable failure) {
    return Waits.isPassing(failure)
        || (failure instanceof MongoException known && PASSING.contains(known.getCode()));
  }
}
