package dev.onehop.it;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.testbed.Testbed;
import org.bson.Document;

final class PrimaryShards {
  private PrimaryShards() {}

  /** The name of the primary shard of a database. */
  static String of(Testbed testbed, String database) {
    return entry(testbed, database).getString("primary");
  }

  private static Document entry(Testbed testbed, String database) {
    try (MongoClient config = direct(testbed.configServers())) {
      return config
          .getDatabase("config")
          .getCollection("databases")
          .find(new Document("_id", database))
          .first();
    }
  }

  /** Changes the primary shard of a database with the internal command that a mongos also sends. */
  static void move(Testbed testbed, String database, String shard) {
    Document entry = entry(testbed, database);
    try (MongoClient primary = direct(testbed.shardHosts().get(entry.getString("primary")))) {
      var unused =
          primary
              .getDatabase("admin")
              .runCommand(
                  new Document("_shardsvrMovePrimary", database)
                      .append("to", shard)
                      .append("databaseVersion", entry.get("version"))
                      .append("writeConcern", new Document("w", "majority")));
    }
  }

  /** A client of a replica set that has only one member. */
  static MongoClient direct(String replicaSet) {
    return MongoClients.create(
        "mongodb://" + replicaSet.replaceFirst(".*/", "") + "/?directConnection=true");
  }
}
