package dev.onehop.testbed.junit;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.Topology;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The one cluster of this JVM, if it was asked for. Thread-safe. */
final class SharedTestbed implements AutoCloseable {
  private static final String TOPOLOGY =
      """
      name: shared
      description: a mongos beside each of three shards, without any delay
      regions: [here]
      roundTrips:
        here <-> here: 0
      hosts:
        one: {region: here, address: 127.33.0.1}
        two: {region: here, address: 127.33.0.2}
        three: {region: here, address: 127.33.0.3}
      client: one
      configServers: [one]
      shards:
        shard-1: [one]
        shard-2: [two]
        shard-3: [three]
      mongos: [one, two, three]
      """;
  private static final int DROP_SECONDS = 60;

  private @Nullable Testbed testbed;

  synchronized Testbed get() {
    Testbed running = testbed;
    if (running == null) {
      running = Testbed.builder(Topology.parse("shared.yaml", TOPOLOGY)).failPoints().start();
      testbed = running;
    }
    return running;
  }

  /** Drops a class's databases. A cluster that does not do that is of no use to other classes. */
  synchronized void dropDatabases(String name) {
    if (testbed == null) {
      return;
    }
    MongoClientSettings settings =
        MongoClientSettings.builder()
            .applyConnectionString(new ConnectionString(testbed.url()))
            .timeout(DROP_SECONDS, TimeUnit.SECONDS)
            .build();
    try (MongoClient client = MongoClients.create(settings)) {
      for (String database : client.listDatabaseNames()) {
        if (database.equals(name) || database.startsWith(name + "_")) {
          client.getDatabase(database).drop();
        }
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  @Override
  public synchronized void close() {
    if (testbed != null) {
      testbed.close();
      testbed = null;
    }
  }
}
