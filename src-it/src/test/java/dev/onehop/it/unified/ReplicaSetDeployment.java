package dev.onehop.it.unified;

import com.mongodb.ServerAddress;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import dev.onehop.it.RealMongod;
import dev.onehop.it.clients.Mode;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** A replica set of one member that executes fail points. */
final class ReplicaSetDeployment implements Deployment {
  private final RealMongod mongod;
  private final MongoClient internal;
  private final List<String> failPoints = new ArrayList<>();
  private @Nullable BsonDocument clusterTime;

  ReplicaSetDeployment(RealMongod mongod) {
    this.mongod = mongod;
    this.internal = MongoClients.create(uri(false, List.of()));
  }

  @Override
  public String topology() {
    return "replicaset";
  }

  @Override
  public String uri(boolean several, List<String> options) {
    return "mongodb://localhost:%d/?replicaSet=it&%s"
        .formatted(mongod.port(), String.join("&", options));
  }

  @Override
  public MongoClient internal() {
    return internal;
  }

  @Override
  public void prepare(BsonArray initialData, boolean sharded) {
    try (ClientSession session = internal.startSession()) {
      for (BsonValue each : initialData) {
        fill(internal, session, each.asDocument(), true);
      }
      clusterTime = session.getClusterTime();
    }
  }

  /**
   * Inserts the documents of a collection.
   *
   * @param create whether the collection is dropped and created before
   */
  static void fill(MongoClient client, ClientSession session, BsonDocument data, boolean create) {
    MongoDatabase database =
        client
            .getDatabase(data.getString("databaseName").getValue())
            .withWriteConcern(WriteConcern.MAJORITY);
    String name = data.getString("collectionName").getValue();
    MongoCollection<BsonDocument> collection = database.getCollection(name, BsonDocument.class);
    if (create) {
      collection.drop(session);
      BsonDocument command = new BsonDocument("create", new BsonString(name));
      command.putAll(data.getDocument("createOptions", new BsonDocument()));
      database.runCommand(
          session, command.append("writeConcern", WriteConcern.MAJORITY.asDocument()));
    }
    List<BsonDocument> documents =
        data.getArray("documents").stream().map(BsonValue::asDocument).toList();
    if (!documents.isEmpty()) {
      collection.insertMany(session, documents);
    }
  }

  @Override
  public @Nullable BsonDocument clusterTime() {
    return clusterTime;
  }

  @Override
  public String unsupportedReason(SpecificationTest test, Mode mode) {
    return "";
  }

  @Override
  public void failPoint(@Nullable ServerAddress server, BsonDocument command) {
    internal.getDatabase("admin").runCommand(command);
    failPoints.add(command.getString("configureFailPoint").getValue());
  }

  @Override
  public void reset() {
    for (String name : failPoints) {
      internal
          .getDatabase("admin")
          .runCommand(
              new BsonDocument("configureFailPoint", new BsonString(name))
                  .append("mode", new BsonString("off")));
    }
    failPoints.clear();
    endTransactions(internal);
  }

  /** Ends the sessions of all clients, and so their transactions. */
  static void endTransactions(MongoClient server) {
    server.getDatabase("admin").runCommand(new BsonDocument("killAllSessions", new BsonArray()));
  }

  @Override
  public void close() {
    internal.close();
  }
}
