package dev.onehop.it;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.model.Filters;
import dev.onehop.testbed.internal.cluster.Cluster;
import dev.onehop.testbed.internal.cluster.Credentials;
import dev.onehop.testbed.internal.cluster.ReplicaSet;
import dev.onehop.testbed.internal.cluster.Server;
import dev.onehop.testbed.internal.cluster.ShardedCollection;
import dev.onehop.testbed.topology.Host;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * A config server and two shards with access control, and with TLS if a test needs it. Each has
 * only one user, the administrator of {@link RealMongod}.
 */
final class SecuredCluster implements AutoCloseable {
  static final List<String> SHARDS = List.of("one", "two");

  private final @Nullable TestCertificates certificates;
  private final RealMongod config;
  private final Map<String, RealMongod> shards = new LinkedHashMap<>();
  private final Cluster cluster;

  private SecuredCluster(@Nullable TestCertificates certificates) {
    this.certificates = certificates;
    this.config = RealMongod.startSecured("config", "--configsvr", certificates);
    List<ReplicaSet> sets = new ArrayList<>();
    for (String name : SHARDS) {
      RealMongod shard = RealMongod.startSecured(name, "--shardsvr", certificates);
      shards.put(name, shard);
      sets.add(set(name, Server.Role.SHARD, shard));
    }
    this.cluster = new Cluster(set("config", Server.Role.CONFIG, config), sets, null);
    cluster.form();
  }

  static SecuredCluster start() {
    return new SecuredCluster(null);
  }

  static SecuredCluster startWithTls(TestCertificates certificates) {
    return new SecuredCluster(certificates);
  }

  private ReplicaSet set(String name, Server.Role role, RealMongod mongod) {
    Server server =
        new Server(
            name,
            role,
            name,
            new Host("it", "here", "localhost"),
            mongod.port(),
            new InetSocketAddress("localhost", mongod.port()));
    return new ReplicaSet(
        name,
        List.of(server),
        new Credentials(
            RealMongod.administrator(), certificates == null ? null : certificates.trusting()));
  }

  /**
   * Shards {@code it.NAME} by {@code _id}. The second shard owns the documents from {@code half}
   * on.
   */
  void shardCollection(String name, int half) {
    ShardedCollection collection = new ShardedCollection(cluster, "it." + name);
    collection.create(new BsonDocument("_id", new BsonInt32(1)), null);
    collection.spread(List.of(new BsonDocument("_id", new BsonInt32(half))));
  }

  void moveRange(String name, BsonDocument min, String shard) {
    new ShardedCollection(cluster, "it." + name).moveRange(min, null, shard);
  }

  /** The config server's URI, without options. */
  String url() {
    return "mongodb://localhost:" + config.port() + "/";
  }

  /** The address of a shard, or of the config server for {@code config}. */
  String address(String name) {
    return "localhost:" + server(name).port();
  }

  private RealMongod server(String name) {
    return name.equals("config") ? config : shards.get(name);
  }

  /** Creates a user on some of the servers {@code config}, {@code one} and {@code two}. */
  void createUser(Document user, String database, String... servers) {
    for (String server : servers) {
      try (MongoClient client = administrator(server)) {
        client.getDatabase(database).runCommand(user);
      }
    }
  }

  /** The roles of a user on a server; null if the server does not have the user. */
  @Nullable List<Document> roles(String server, String user) {
    try (MongoClient client = administrator(server)) {
      Document found =
          client
              .getDatabase("admin")
              .getCollection("system.users")
              .find(Filters.eq("user", user))
              .first();
      return found == null ? null : found.getList("roles", Document.class);
    }
  }

  /** A client of one server with all privileges. */
  MongoClient administrator(String server) {
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder()
            .applyConnectionString(new ConnectionString(server(server).url()))
            .credential(RealMongod.administrator());
    if (certificates != null) {
      settings.applyToSslSettings(ssl -> ssl.enabled(true).context(certificates.trusting()));
    }
    return MongoClients.create(settings.build());
  }

  @Override
  public void close() {
    cluster.close();
    shards.values().forEach(RealMongod::close);
    config.close();
  }
}
