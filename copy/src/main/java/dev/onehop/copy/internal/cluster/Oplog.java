package dev.onehop.copy.internal.cluster;

import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cursor.CursorReplies;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * The oplog of a shard.
 *
 * @param cluster the cluster of the shard
 */
record Oplog(ClusterEnd cluster, ReplicaSet servers) {
  private static final BsonString NAME = new BsonString("oplog.rs");

  /** The first entry that is committed by the majority; null if there is none. */
  @Nullable RawBsonDocument oldest() throws InterruptedException {
    return entry(1);
  }

  /** The last entry that is committed by the majority; null if there is none. */
  @Nullable RawBsonDocument newest() throws InterruptedException {
    return entry(-1);
  }

  private @Nullable RawBsonDocument entry(int direction) throws InterruptedException {
    return first(
        read(
            new BsonDocument("find", NAME)
                .append("sort", new BsonDocument("$natural", new BsonInt32(direction)))
                .append("limit", new BsonInt32(1))
                .append("projection", BsonDocument.parse("{ts: 1, 'o.msg': 1}"))
                .append("readConcern", BsonDocument.parse("{level: 'majority'}"))));
  }

  /** A command that runs a pipeline on the oplog. */
  static BsonDocument aggregate(BsonDocument... stages) {
    return new BsonDocument("aggregate", NAME)
        .append("pipeline", new BsonArray(List.of(stages)))
        .append("cursor", new BsonDocument());
  }

  /** The documents in the first batch of a command's reply. */
  List<RawBsonDocument> read(BsonDocument command) throws InterruptedException {
    return CursorReplies.documents(Waits.one(cluster.send(servers, "local", command)));
  }

  static @Nullable RawBsonDocument first(List<RawBsonDocument> documents) {
    return documents.isEmpty() ? null : documents.get(0);
  }
}
