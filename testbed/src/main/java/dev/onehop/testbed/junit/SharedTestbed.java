package dev.onehop.testbed.junit;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.testbed.ProcessFailure;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The shared cluster of this JVM, started on first use. Ends with the JVM. Thread-safe. */
final class SharedTestbed {
  private static final Logger log = LoggerFactory.getLogger(SharedTestbed.class);

  private static final String TOPOLOGY =
      """
      name: shared
      description: a mongos near each of three shards, without delays
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
  private volatile @Nullable ProcessFailure died;

  /** Returns the cluster. Starts a new cluster if a server of the last cluster has ended. */
  synchronized Testbed get() {
    if (died != null) {
      close();
    }
    Testbed running = testbed;
    if (running == null) {
      died = null;
      running = Testbed.builder(Topology.parse("shared.yaml", TOPOLOGY)).failPoints().start();
      running.onProcessDeath(this::died);
      testbed = running;
    }
    return running;
  }

  private void died(ProcessFailure failure) {
    died = failure;
    log.error("a server of the shared cluster has ended: {}", failure.describe());
  }

  /**
   * Drops a class's databases. If the cluster fails to drop them, other classes get a new cluster.
   */
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

  private synchronized void close() {
    if (testbed != null) {
      testbed.close();
      testbed = null;
    }
  }
}
