package dev.onehop.measure.delivery;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import com.mongodb.MongoException;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.resync.ClusterUrl;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInvalidOperationException;

/** How often idle servers write a no-op, which is what a mongos' change stream waits for. */
final class NoopIntervals {

  private static final String PARAMETER = "periodicNoopIntervalSecs";
  private static final int TIMEOUT_SECONDS = 5;

  private NoopIntervals() {}

  /** In seconds, by shard, and {@code config}; without those that don't tell, or not this user. */
  static Map<String, Double> read(ClusterUrl url) {
    Map<String, Double> seconds = new TreeMap<>();
    String config = null;
    for (BsonDocument shard : shards(url)) {
      try (MongoClient client = client(url, shard.getString("host").getValue())) {
        read(client, shard.getString("_id").getValue(), seconds);
        if (config == null) {
          config =
              client
                  .getDatabase("admin")
                  .runCommand(command("getShardMap"), BsonDocument.class)
                  .getDocument("map")
                  .getString("config")
                  .getValue();
        }
      } catch (MongoException | BsonInvalidOperationException e) {
        // Unknown.
      }
    }
    if (config != null) {
      try (MongoClient client = client(url, config)) {
        read(client, "config", seconds);
      } catch (MongoException e) {
        // Unknown.
      }
    }
    return seconds;
  }

  private static List<BsonDocument> shards(ClusterUrl url) {
    try (MongoClient client = Clients.plain(url)) {
      return client
          .getDatabase("config")
          .getCollection("shards", BsonDocument.class)
          .find()
          .into(new ArrayList<>());
    }
  }

  private static BsonDocument command(String name) {
    return new BsonDocument(name, new BsonInt32(1));
  }

  private static void read(MongoClient client, String name, Map<String, Double> seconds) {
    BsonDocument reply =
        client
            .getDatabase("admin")
            .runCommand(
                command("getParameter").append(PARAMETER, new BsonInt32(1)), BsonDocument.class);
    if (reply.isNumber(PARAMETER)) {
      seconds.put(name, reply.getNumber(PARAMETER).doubleValue());
    }
  }

  /**
   * @param replicaSet as {@code name/host:port[,host:port...]}
   */
  private static MongoClient client(ClusterUrl url, String replicaSet) {
    int slash = replicaSet.indexOf('/');
    List<ServerAddress> members =
        Arrays.stream(replicaSet.substring(slash + 1).split(",", -1))
            .map(ServerAddress::new)
            .toList();
    MongoClientSettings given = Connections.settings(url.secret(), url.authority());
    // Without the hosts and the connection mode of the URL, which may name one mongos.
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
