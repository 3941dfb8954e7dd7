package dev.onehop.streams.internal.shard;

import dev.onehop.shards.cluster.ClusterClock;
import dev.onehop.shards.cluster.ConfigServer;
import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.internal.merge.Cluster.Placement;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonRegularExpression;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Reads the placement from the config servers. For {@link Order#TOTAL}, the placement consists of
 * the shards only. For {@link Order#PER_KEY}, it also has the metadata that change when data of a
 * watched collection may have moved. These are the entries of collections and databases, and the
 * latest chunk version of each collection. Every migration raises the chunk version.
 *
 * <p>One aggregation reads the whole placement. Its result is complete up to one cluster time, and
 * may also contain later changes.
 */
final class PlacementReader {
  private static final int BATCH = 10_000;
  private static final BsonDocument SHARDS =
      BsonDocument.parse("{$project: {kind: 'shard', host: 1}}");
  private static final BsonDocument DATABASES =
      BsonDocument.parse("{$project: {kind: 'database', primary: 1, version: 1}}");
  private static final BsonDocument COLLECTIONS =
      BsonDocument.parse(
          "{$project: {kind: 'collection', uuid: 1, lastmodEpoch: 1, timestamp: 1, latest: 1}}");
  private static final BsonDocument LATEST_CHUNKS =
      BsonDocument.parse(
          "{$lookup: {from: 'chunks', as: 'latest', let: {uuid: '$uuid'}, pipeline: ["
              + "{$match: {$expr: {$eq: ['$uuid', '$$uuid']}}},"
              + "{$sort: {lastmod: -1}}, {$limit: 1}, {$project: {_id: 0, lastmod: 1}}]}}");

  private final ConfigServer config;
  private final ClusterClock clock;
  private final BsonDocument aggregate;

  PlacementReader(ConfigServer config, ClusterClock clock, StreamCommand watched, Order order) {
    this.config = config;
    this.clock = clock;
    this.aggregate =
        new BsonDocument(
                "aggregate", new BsonString(order == Order.TOTAL ? "shards" : "collections"))
            .append(
                "pipeline", order == Order.TOTAL ? new BsonArray(List.of(SHARDS)) : perKey(watched))
            .append("cursor", new BsonDocument("batchSize", new BsonInt32(BATCH)));
  }

  private static BsonArray perKey(StreamCommand watched) {
    BsonDocument collections = new BsonDocument();
    BsonDocument databases = new BsonDocument();
    if (!watched.isOfCluster()) {
      String database = watched.database();
      collections.append(
          "_id",
          watched.collection() == null
              ? new BsonRegularExpression("^" + Pattern.quote(database + "."))
              : new BsonString(database + "." + watched.collection()));
      databases.append("_id", new BsonString(database));
    }
    return new BsonArray(
        List.of(
            new BsonDocument("$match", collections),
            LATEST_CHUNKS,
            COLLECTIONS,
            union("databases", new BsonDocument("$match", databases), DATABASES),
            union("shards", SHARDS)));
  }

  private static BsonDocument union(String collection, BsonDocument... stages) {
    return new BsonDocument(
        "$unionWith",
        new BsonDocument("coll", new BsonString(collection))
            .append("pipeline", new BsonArray(List.of(stages))));
  }

  /** Reads the placement, complete up to the latest known cluster time. */
  Mono<Placement> read() {
    return Mono.defer(() -> read(ServerStream.now(clock))).onErrorMap(Failures::of);
  }

  private Mono<Placement> read(BsonTimestamp time) {
    BsonDocument command = new BsonDocument();
    command.putAll(aggregate);
    command.append("readConcern", StreamCommand.majorityAfter(time));
    return config
        .run("config", command)
        .flatMap(
            reply ->
                CursorReplies.id(reply) == 0
                    ? Mono.just(placement(time, CursorReplies.documents(reply)))
                    : Mono.error(
                        new IllegalStateException(
                            "more than "
                                + BATCH
                                + " collections and databases are watched. Watch single databases,"
                                + " or use Order.TOTAL")));
  }

  private Placement placement(BsonTimestamp time, List<? extends BsonDocument> documents) {
    Set<String> shards = new TreeSet<>();
    Set<BsonDocument> state = new HashSet<>();
    for (BsonDocument document : documents) {
      BsonDocument decoded = new BsonDocument();
      decoded.putAll(document);
      state.add(decoded);
      if (decoded.getString("kind").getValue().equals("shard")) {
        shards.add(decoded.getString("_id").getValue());
      }
    }
    // The result may contain changes after the time of the read concern, but no changes after the
    // current cluster time.
    @Nullable BsonTimestamp after = clock.now();
    return new Placement(time, after == null ? time : after, shards, state);
  }
}
