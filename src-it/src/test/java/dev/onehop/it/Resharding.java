package dev.onehop.it;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoDatabase;
import dev.onehop.testbed.Testbed;
import org.bson.Document;

final class Resharding {
  private Resharding() {}

  /**
   * Gives a collection another shard key with the internal command that a mongos also sends. Also
   * sets {@code reshardingMinimumOperationDurationMillis} to 0, because by default resharding takes
   * at least some minutes.
   *
   * @param chunks the number of chunks afterwards
   */
  static void reshard(Testbed testbed, String namespace, Document key, int chunks) {
    try (MongoClient config = PrimaryShards.direct(testbed.configServers())) {
      MongoDatabase admin = config.getDatabase("admin");
      var unusedQuick =
          admin.runCommand(
              new Document("setParameter", 1)
                  .append("reshardingMinimumOperationDurationMillis", 0));
      var unused =
          admin.runCommand(
              new Document("_configsvrReshardCollection", namespace)
                  .append("key", key)
                  .append("unique", false)
                  .append("numInitialChunks", chunks)
                  .append("writeConcern", new Document("w", "majority")));
    }
  }
}
