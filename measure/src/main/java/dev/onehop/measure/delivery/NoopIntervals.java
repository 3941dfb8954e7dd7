package dev.onehop.measure.delivery;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.connection.ClusterSettings;
import dev.onehop.resync.ClusterUrl;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInvalidOperationException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the intervals at which idle servers write a no-op. A mongos' change stream waits for these
 * writes.
 */
final class NoopIntervals {

  private static final String PARAMETER = "periodicNoopIntervalSecs";
  private static final BsonInt32 ONE = new BsonInt32(1);
  private static final int TIMEOUT_SECONDS = 5;

  private NoopIntervals() {}

  /**
   * Returns the intervals in seconds, by shard and for {@code config}. A server that does not
   * report its interval to this user is missing.
   *
   * @param shards the members of each shard, as {@code name/host:port[,host:port...]}
   */
  static Map<String, Double> read(ClusterUrl url, Map<String, String> shards) {
    Map<String, Double> seconds = new TreeMap<>();
    String config = null;
    for (Map.Entry<String, String> shard : shards.entrySet()) {
      String known = read(url, shard.getKey(), shard.getValue(), seconds);
      config = known == null ? config : known;
    }
    if (config != null) {
      var unused = read(url, "config", config, seconds);
    }
    return seconds;
  }

  /**
   * Adds the interval of a replica set.
   *
   * @return the config servers that the replica set reports, or null if it reports none
   */
  private static @Nullable String read(
      ClusterUrl url, String name, String replicaSet, Map<String, Double> seconds) {
    try (MongoClient client = client(url, replicaSet)) {
      MongoDatabase admin = client.getDatabase("admin");
      BsonDocument parameters =
          admin.runCommand(
              new BsonDocument("getParameter", ONE).append(PARAMETER, ONE), BsonDocument.class);
      if (parameters.isNumber(PARAMETER)) {
        seconds.put(name, parameters.getNumber(PARAMETER).doubleValue());
      }
      return admin
          .runCommand(new BsonDocument("getShardMap", ONE), BsonDocument.class)
          .getDocument("map")
          .getString("config")
          .getValue();
    } catch (MongoException | BsonInvalidOperationException e) {
      return null;
    }
  }

  /** Creates a client of a replica set. */
  private static MongoClient client(ClusterUrl url, String replicaSet) {
    int slash = replicaSet.indexOf('/');
    ClusterSettings members =
        ClusterSettings.builder()
            .hosts(
                Arrays.stream(replicaSet.substring(slash + 1).split(",", -1))
                    .map(ServerAddress::new)
                    .toList())
            .requiredReplicaSetName(replicaSet.substring(0, slash))
            .serverSelectionTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS)
            .build();
    // The hosts and the connection mode of the URL are replaced, because the URL may name one
    // mongos.
    return MongoClients.create(
        MongoClientSettings.builder(Clients.settings(url))
            .applyToClusterSettings(cluster -> cluster.applySettings(members))
            .build());
  }
}
