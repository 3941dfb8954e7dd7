package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.ClientSessionOptions;
import com.mongodb.MongoCommandException;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.util.List;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMinKey;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A snapshot read at a time before a migration returns all documents of that time, or is refused.
 */
@Tag("full")
@ShardedCluster
class PastReadsIT {
  private static final String DATABASE = "PastReadsIT";
  private static final int DOCUMENTS = 100;
  private static final int STALE_CHUNK_HISTORY = 239;

  @Test
  void readBeforeMigrationIsCompleteOrRejected(SharedCluster cluster) {
    try (MongoClient client = MongoClients.create(cluster.url())) {
      cluster.shardCollection(
          "c",
          new BsonDocument("_id", new BsonInt32(1)),
          List.of(
              new BsonDocument("_id", new BsonInt32(DOCUMENTS / 3)),
              new BsonDocument("_id", new BsonInt32(2 * DOCUMENTS / 3))));
      MongoDatabase database = client.getDatabase(DATABASE);
      MongoCollection<Document> collection =
          database.getCollection("c").withWriteConcern(WriteConcern.MAJORITY);
      collection.insertMany(
          IntStream.range(0, DOCUMENTS).mapToObj(i -> new Document("_id", i)).toList());
      BsonTimestamp before = now(client);
      assertThat(countAt(database, before)).isEqualTo(DOCUMENTS);

      cluster.moveRange("c", new BsonDocument("_id", new BsonMinKey()), cluster.shards().get(1));

      if (cluster.testbed().server().router().label().equals("mongos")) {
        assertThat(countAt(database, before)).isEqualTo(DOCUMENTS);
      } else {
        assertThatThrownBy(() -> countAt(database, before))
            .isInstanceOfSatisfying(
                MongoCommandException.class,
                refused -> assertThat(refused.getErrorCode()).isEqualTo(STALE_CHUNK_HISTORY));
      }
      assertThat(countAt(database, now(client))).isEqualTo(DOCUMENTS);
    }
  }

  private static BsonTimestamp now(MongoClient client) {
    try (ClientSession session =
        client.startSession(ClientSessionOptions.builder().causallyConsistent(true).build())) {
      assertThat(client.getDatabase(DATABASE).getCollection("c").find(session).first()).isNotNull();
      return session.getOperationTime();
    }
  }

  private static int countAt(MongoDatabase database, BsonTimestamp time) {
    BsonDocument find =
        new BsonDocument("find", new BsonString("c"))
            .append("batchSize", new BsonInt32(2 * DOCUMENTS))
            .append(
                "readConcern",
                new BsonDocument("level", new BsonString("snapshot"))
                    .append("atClusterTime", time));
    return database
        .runCommand(find, BsonDocument.class)
        .getDocument("cursor")
        .getArray("firstBatch")
        .size();
  }
}
