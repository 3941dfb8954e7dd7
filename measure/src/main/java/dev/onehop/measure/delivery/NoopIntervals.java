package dev.onehop.measure.delivery;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import com.mongodb.MongoException;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import dev.onehop.resync.ClusterUrl;
import java.util.Arrays;
import java.util.List;
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
   */
  static Map<String, Double> read(ClusterUrl url) {
    Map<String, String> shards = new TreeMap<>();
    try (MongoClient mongos = Clients.plain(url)) {
      for (BsonDocument shard :
          mongos.getDatabase("config").getCollection("shards", BsonDocument.class).find()) {
        shards.put(shard.getString("_id").getValue(), shard.getString("host").getValue());
      }
    }
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

  /**
   * Creates a client of a replica set.
   *
   * @param replicaSet the replica set, as {@code name/host:port[,host:port...]}
   */
  private static MongoClient client(ClusterUrl url, String replicaSet) {
    int slash = replicaSet.indexOf('/');
    List<ServerAddress> members =
        Arrays.stream(replicaSet.substring(slash + 1).split(",", -1))
            .map(ServerAddress::new)
            .toList();
    MongoClientSettings given = Clients.settings(url);
    // The hosts and the connection mode of the URL are left out, because the URL may name one
    // mongos.
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder()
            .applicationName(given.getApplicationName())
            .applyToSslSettings(tls -> tls.applySettings(given.getSslSettings()))
            .applyToClusterSettings(
                cluster ->
                    cluster
                        .hosts(members)
                        .requiredReplicaSetName(replicaSet.substring(0, slash))
                        .serverSelectionTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS));
    MongoCredential credential = given.getCredential();
    return MongoClients.create(
        (credential == null ? settings : settings.credential(credential)).build());
  }
}
