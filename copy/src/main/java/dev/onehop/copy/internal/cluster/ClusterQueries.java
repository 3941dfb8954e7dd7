package dev.onehop.copy.internal.cluster;

import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoClient;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import reactor.core.publisher.Mono;

/** Queries about a cluster or a replica set through a client. Failures are not retried. */
public final class ClusterQueries {
  private ClusterQueries() {}

  /** Runs a command on the database {@code admin}. */
  public static Mono<BsonDocument> admin(MongoClient client, BsonDocument command) {
    return Mono.from(client.getDatabase("admin").runCommand(command, BsonDocument.class));
  }

  /** Whether the client is connected to mongoses, and not to a replica set. */
  public static Mono<Boolean> isSharded(MongoClient client) {
    return admin(client, ClusterEnd.command("hello")).map(ClusterQueries::isMongos);
  }

  /**
   * Whether a server is a mongos.
   *
   * @param hello the server's reply to {@code hello}
   */
  static boolean isMongos(BsonDocument hello) {
    return new BsonString("isdbgrid").equals(hello.get("msg"));
  }

  /** Documents of the metadata, with majority reads of the primary. */
  public static FindPublisher<BsonDocument> metadata(
      MongoClient client, String collection, BsonDocument filter) {
    return client
        .getDatabase("config")
        .getCollection(collection, BsonDocument.class)
        .withReadPreference(ReadPreference.primary())
        .withReadConcern(ReadConcern.MAJORITY)
        .find(filter);
  }

  /** A cluster time that is at or after all past operations on all shards of a cluster. */
  public static Mono<BsonTimestamp> latestTime(MongoClient client) {
    // A mongos sends this command to each shard, so the time in the reply is late enough.
    return admin(client, ClusterEnd.command("listDatabases").append("nameOnly", BsonBoolean.TRUE))
        .map(
            reply -> {
              BsonTimestamp time = reply.getDocument("$clusterTime").getTimestamp("clusterTime");
              BsonTimestamp operation = reply.getTimestamp("operationTime", time);
              return operation.compareTo(time) > 0 ? operation : time;
            });
  }
}
