package dev.onehop.it.unified;

import com.mongodb.ClientSessionOptions;
import com.mongodb.MongoClientSettings;
import com.mongodb.ServerApi;
import com.mongodb.ServerApiVersion;
import com.mongodb.TransactionOptions;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.gridfs.GridFSBucket;
import dev.onehop.it.clients.Mode;
import dev.onehop.routing.clients.BlockingView;
import dev.onehop.routing.clients.DriverCannot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** The named objects of a test: clients, databases, sessions, cursors, results. */
final class Entities implements AutoCloseable {
  /**
   * The shortest pause between a monitor's checks of a server, for operations that wait for the
   * server.
   */
  private static final long MIN_HEARTBEAT_MILLIS = 50;

  private static final long HEARTBEAT_MILLIS = 500;

  private final Map<String, Object> all = new HashMap<>();
  private final Map<String, EventLog> logs = new HashMap<>();
  private final Map<String, BsonDocument> sessions = new HashMap<>();
  private final Deployment deployment;
  private final Mode mode;

  Entities(Deployment deployment, Mode mode) {
    this.deployment = deployment;
    this.mode = mode;
  }

  <T> T get(String name, Class<T> type) {
    Object entity = all.get(name);
    if (!type.isInstance(entity)) {
      throw new AssertionError("%s is %s and no %s".formatted(name, entity, type.getSimpleName()));
    }
    return type.cast(entity);
  }

  Object get(String name) {
    return get(name, Object.class);
  }

  BsonValue value(String name) {
    return get(name, BsonValue.class);
  }

  EventLog log(String client) {
    return logs.get(client);
  }

  /** The identifier of a session, even after the session was closed. */
  BsonDocument lsid(String session) {
    return sessions.get(session);
  }

  void put(String name, Object entity) {
    if (all.put(name, entity) != null) {
      throw new AssertionError("there are two entities of the name " + name);
    }
  }

  void create(BsonArray descriptions) {
    for (BsonValue each : descriptions) {
      String type = each.asDocument().getFirstKey();
      BsonDocument description = each.asDocument().getDocument(type);
      put(description.getString("id").getValue(), created(type, description));
    }
  }

  private Object created(String type, BsonDocument description) {
    return switch (type) {
      case "client" -> client(description);
      case "database" ->
          configured(
              get(text(description, "client"), MongoClient.class)
                  .getDatabase(text(description, "databaseName")),
              description.getDocument("databaseOptions", new BsonDocument()));
      case "collection" ->
          configured(
              get(text(description, "database"), MongoDatabase.class)
                  .getCollection(text(description, "collectionName"), BsonDocument.class),
              description.getDocument("collectionOptions", new BsonDocument()));
      case "session" -> session(description);
      case "bucket" -> bucket(description);
      case "thread" -> Executors.newSingleThreadExecutor();
      default -> throw new DriverCannot("the runner has no entities of the type " + type);
    };
  }

  private static String text(BsonDocument description, String name) {
    return description.getString(name).getValue();
  }

  private MongoClient client(BsonDocument description) {
    BsonDocument options = description.getDocument("uriOptions", new BsonDocument());
    List<String> uriOptions = new ArrayList<>();
    options.forEach(
        (name, value) ->
            uriOptions.add(
                name + "=" + (value.isString() ? value.asString().getValue() : plain(value))));
    boolean several = description.getBoolean("useMultipleMongoses", BsonBoolean.FALSE).getValue();
    EventLog log = new EventLog(description);
    logs.put(text(description, "id"), log);
    return mode.client(
        deployment.uri(several, uriOptions), settings -> configure(settings, description, log));
  }

  private static String plain(BsonValue value) {
    return value.isBoolean()
        ? Boolean.toString(value.asBoolean().getValue())
        : Long.toString(value.asNumber().longValue());
  }

  private void configure(
      MongoClientSettings.Builder settings, BsonDocument description, EventLog log) {
    BsonDocument options = description.getDocument("uriOptions", new BsonDocument());
    settings
        .addCommandListener(log)
        .applyToConnectionPoolSettings(pool -> pool.addConnectionPoolListener(log))
        .applyToServerSettings(
            server -> {
              server.minHeartbeatFrequency(MIN_HEARTBEAT_MILLIS, TimeUnit.MILLISECONDS);
              if (!options.containsKey("heartbeatFrequencyMS")) {
                server.heartbeatFrequency(HEARTBEAT_MILLIS, TimeUnit.MILLISECONDS);
              }
            });
    if (description.containsKey("serverApi")) {
      BsonDocument api = description.getDocument("serverApi");
      ServerApi.Builder builder =
          ServerApi.builder().version(ServerApiVersion.findByValue(text(api, "version")));
      if (api.containsKey("strict")) {
        builder.strict(api.getBoolean("strict").getValue());
      }
      if (api.containsKey("deprecationErrors")) {
        builder.deprecationErrors(api.getBoolean("deprecationErrors").getValue());
      }
      settings.serverApi(builder.build());
    }
  }

  private static MongoDatabase configured(MongoDatabase database, BsonDocument options) {
    MongoDatabase result = database;
    for (String name : options.keySet()) {
      BsonValue value = options.get(name);
      result =
          switch (name) {
            case "readConcern" -> result.withReadConcern(Arguments.readConcern(value.asDocument()));
            case "writeConcern" ->
                result.withWriteConcern(Arguments.writeConcern(value.asDocument()));
            case "readPreference" ->
                result.withReadPreference(Arguments.readPreference(value.asDocument()));
            case "timeoutMS" ->
                result.withTimeout(value.asNumber().longValue(), TimeUnit.MILLISECONDS);
            default -> throw new AssertionError("the runner does not know " + name);
          };
    }
    return result;
  }

  private static MongoCollection<BsonDocument> configured(
      MongoCollection<BsonDocument> collection, BsonDocument options) {
    MongoCollection<BsonDocument> result = collection;
    for (String name : options.keySet()) {
      BsonValue value = options.get(name);
      result =
          switch (name) {
            case "readConcern" -> result.withReadConcern(Arguments.readConcern(value.asDocument()));
            case "writeConcern" ->
                result.withWriteConcern(Arguments.writeConcern(value.asDocument()));
            case "readPreference" ->
                result.withReadPreference(Arguments.readPreference(value.asDocument()));
            case "timeoutMS" ->
                result.withTimeout(value.asNumber().longValue(), TimeUnit.MILLISECONDS);
            default -> throw new AssertionError("the runner does not know " + name);
          };
    }
    return result;
  }

  private ClientSession session(BsonDocument description) {
    BsonDocument given = description.getDocument("sessionOptions", new BsonDocument());
    ClientSessionOptions.Builder options = ClientSessionOptions.builder();
    for (String name : given.keySet()) {
      BsonValue value = given.get(name);
      switch (name) {
        case "causalConsistency" -> options.causallyConsistent(value.asBoolean().getValue());
        case "snapshot" -> options.snapshot(value.asBoolean().getValue());
        case "defaultTimeoutMS" ->
            options.defaultTimeout(value.asNumber().longValue(), TimeUnit.MILLISECONDS);
        case "defaultTransactionOptions" -> {
          TransactionOptions transaction = new Arguments(value.asDocument()).transaction();
          options.defaultTransactionOptions(transaction);
        }
        default -> throw new DriverCannot("a session has no option " + name);
      }
    }
    ClientSession session =
        get(text(description, "client"), MongoClient.class).startSession(options.build());
    sessions.put(text(description, "id"), session.getServerSession().getIdentifier());
    @Nullable BsonDocument time = deployment.clusterTime();
    if (time != null) {
      session.advanceClusterTime(time);
    }
    return session;
  }

  private GridFSBucket bucket(BsonDocument description) {
    MongoDatabase database = get(text(description, "database"), MongoDatabase.class);
    BsonDocument options = description.getDocument("bucketOptions", new BsonDocument());
    String name = options.getString("bucketName", new BsonString("fs")).getValue();
    int chunk = options.getNumber("chunkSizeBytes", new BsonInt32(255 * 1024)).intValue();
    GridFSBucket bucket = BlockingView.bucket(database, name).withChunkSizeBytes(chunk);
    for (String option : options.keySet()) {
      BsonValue value = options.get(option);
      bucket =
          switch (option) {
            case "bucketName", "chunkSizeBytes" -> bucket;
            case "readConcern" -> bucket.withReadConcern(Arguments.readConcern(value.asDocument()));
            case "writeConcern" ->
                bucket.withWriteConcern(Arguments.writeConcern(value.asDocument()));
            case "readPreference" ->
                bucket.withReadPreference(Arguments.readPreference(value.asDocument()));
            default -> throw new DriverCannot("a bucket has no option " + option);
          };
    }
    return bucket;
  }

  /** Closes first cursors, then sessions, then clients. */
  @Override
  public void close() {
    for (Class<?> type : List.of(MongoCursor.class, ClientSession.class, MongoClient.class)) {
      for (Object entity : all.values()) {
        if (type.isInstance(entity)) {
          try {
            ((AutoCloseable) entity).close();
          } catch (Exception e) {
            // Expected: a test may leave an object that cannot be closed.
          }
        }
      }
    }
    for (Object entity : all.values()) {
      if (entity instanceof ExecutorService thread) {
        thread.shutdownNow();
      }
    }
  }
}
