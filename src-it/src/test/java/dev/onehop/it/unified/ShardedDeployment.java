package dev.onehop.it.unified;

import com.mongodb.ServerAddress;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import dev.onehop.it.clients.Mode;
import dev.onehop.testbed.Testbed;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * A cluster of three shards with a mongos or stand-in router near each. Collections are sharded by
 * {@code _id}. The documents 1, 2 and 3, which most tests use, are on different shards.
 */
final class ShardedDeployment implements Deployment {
  private static final BsonDocument NO_FAILURE =
      BsonDocument.parse("{configureFailPoint: 'failCommand', mode: 'off'}");
  private static final Set<String> SYSTEM_DATABASES = Set.of("admin", "config");
  private static final BsonDocument KEY = BsonDocument.parse("{_id: 1}");
  private static final List<BsonDocument> SPLITS =
      List.of(BsonDocument.parse("{_id: 2}"), BsonDocument.parse("{_id: 3}"));

  private final Testbed testbed;
  private final MongoClient internal;
  private final List<MongoClient> shards;
  private final Map<String, MongoClient> mongoses;
  private final Set<MongoClient> failing = new HashSet<>();
  private @Nullable BsonDocument clusterTime;

  ShardedDeployment(Testbed testbed) {
    this.testbed = testbed;
    this.internal = MongoClients.create(uri(false, List.of()));
    this.shards =
        testbed.shardHosts().values().stream()
            .map(set -> MongoClients.create("mongodb://" + set.substring(set.indexOf('/') + 1)))
            .toList();
    this.mongoses =
        testbed.mongosAddresses().stream()
            .collect(
                Collectors.toMap(
                    address -> address, address -> MongoClients.create("mongodb://" + address)));
  }

  @Override
  public String topology() {
    return "sharded";
  }

  @Override
  public String uri(boolean several, List<String> options) {
    List<String> all = testbed.mongosAddresses();
    return "mongodb://%s/?%s"
        .formatted(String.join(",", several ? all : all.subList(0, 1)), String.join("&", options));
  }

  @Override
  public MongoClient internal() {
    return internal;
  }

  @Override
  public void prepare(BsonArray initialData, boolean sharded) {
    try (ClientSession session = internal.startSession()) {
      for (BsonValue each : initialData) {
        prepare(session, each.asDocument(), sharded);
      }
      clusterTime = session.getClusterTime();
    }
  }

  private void prepare(ClientSession session, BsonDocument data, boolean sharded) {
    String database = data.getString("databaseName").getValue();
    String name = data.getString("collectionName").getValue();
    MongoCollection<Document> collection = internal.getDatabase(database).getCollection(name);
    // A collection with options is not sharded: a capped collection, a view or a time series cannot
    // be sharded, or not by this key.
    boolean create = !sharded || data.containsKey("createOptions");
    if (!create) {
      if (isSharded(database + "." + name)) {
        collection.deleteMany(session, new Document());
        if (collection.listIndexes().into(new ArrayList<>()).size() > 1) {
          collection.dropIndexes();
        }
      } else {
        collection.drop();
        testbed.shardCollection(database + "." + name, KEY, SPLITS);
      }
    }
    ReplicaSetDeployment.fill(internal, session, data, create);
  }

  private boolean isSharded(String namespace) {
    return internal
            .getDatabase("config")
            .getCollection("collections")
            .find(Filters.eq("_id", namespace))
            .first()
        != null;
  }

  @Override
  public @Nullable BsonDocument clusterTime() {
    return clusterTime;
  }

  @Override
  public String unsupportedReason(SpecificationTest test, Mode mode) {
    Set<String> failPoints = test.failPoints();
    if (!mode.isPlain() && !failPoints.isEmpty()) {
      // In direct mode, commands do not reach the mongos that has the fail point. In targeted mode,
      // commands go to all mongoses, and OneHop's reads of the metadata use up the failures that
      // the fail point counts.
      return "fail points of a router are for clients of that router only";
    }
    return Set.of("failCommand").containsAll(failPoints)
        ? ""
        : "the stand-in router has no fail point but failCommand";
  }

  /**
   * If {@code server} is null, sets the fail point on the first mongos, because every client with a
   * single mongos uses it.
   */
  @Override
  public void failPoint(@Nullable ServerAddress server, BsonDocument command) {
    String address = server == null ? testbed.mongosAddresses().get(0) : server.toString();
    MongoClient mongos = mongoses.get(address);
    mongos.getDatabase("admin").runCommand(command);
    failing.add(mongos);
  }

  @Override
  public void reset() {
    for (MongoClient mongos : failing) {
      mongos.getDatabase("admin").runCommand(NO_FAILURE);
    }
    failing.clear();
    shards.forEach(ReplicaSetDeployment::endTransactions);
  }

  @Override
  public void close() {
    for (String database : internal.listDatabaseNames()) {
      if (!SYSTEM_DATABASES.contains(database)) {
        internal.getDatabase(database).drop();
      }
    }
    shards.forEach(MongoClient::close);
    mongoses.values().forEach(MongoClient::close);
    internal.close();
  }
}
