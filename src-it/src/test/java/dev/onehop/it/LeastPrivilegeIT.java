package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoCredential;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.testbed.internal.cluster.Credentials;
import dev.onehop.testbed.internal.cluster.ReplicaSet;
import dev.onehop.testbed.internal.cluster.Server;
import dev.onehop.testbed.internal.cluster.Users;
import dev.onehop.testbed.topology.Host;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.bson.Document;
import org.junit.jupiter.api.Test;

/**
 * The user that the script for applications creates has only the privileges for routing and YCSB.
 */
class LeastPrivilegeIT {
  private static final String USER = "onehop";

  @Test
  void readsRoutingTablesAndWritesItsOwnDatabase() {
    try (RealMongod mongod = RealMongod.startWithAuthentication()) {
      create(mongod, "first password");
      create(mongod, "second password"); // Changes it.

      try (MongoClient client = client(mongod, "second password")) {
        for (String collection :
            List.of("shards", "mongos", "databases", "collections", "chunks")) {
          assertThat(client.getDatabase("config").getCollection(collection).find()).isEmpty();
        }
        client.getDatabase("ycsb").getCollection("usertable").insertOne(new Document("_id", 1));
        assertThat(client.getDatabase("ycsb").getCollection("usertable").countDocuments())
            .isEqualTo(1);

        assertRefused(() -> client.getDatabase("config").getCollection("settings").find().first());
        assertRefused(
            () -> client.getDatabase("admin").getCollection("system.users").find().first());
        assertRefused(
            () -> client.getDatabase("other").getCollection("c").insertOne(new Document()));
        assertRefused(
            () -> client.getDatabase("config").getCollection("chunks").insertOne(new Document()));
      }
    }
  }

  private static void create(RealMongod mongod, String password) {
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), mongod.port());
    Server server =
        new Server(
            "it",
            Server.Role.CONFIG,
            "it",
            new Host("it", "here", "127.0.0.1"),
            mongod.port(),
            address);
    try (ReplicaSet set =
        new ReplicaSet("it", List.of(server), new Credentials(RealMongod.administrator(), null))) {
      new Users(set).application(USER, password, "ycsb");
    }
  }

  private static MongoClient client(RealMongod mongod, String password) {
    return MongoClients.create(
        MongoClientSettings.builder()
            .applyConnectionString(new ConnectionString(mongod.url()))
            .credential(MongoCredential.createCredential(USER, "admin", password.toCharArray()))
            .build());
  }

  private static void assertRefused(Runnable operation) {
    assertThatThrownBy(operation::run)
        .isInstanceOfSatisfying(
            MongoCommandException.class, e -> assertThat(e.getErrorCode()).isEqualTo(13));
  }
}
