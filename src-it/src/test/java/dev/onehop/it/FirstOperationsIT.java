package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import dev.onehop.it.clients.Mode;
import dev.onehop.it.clients.RoutedModes;
import dev.onehop.testbed.Testbed;
import java.time.Duration;
import java.util.List;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** An application starts while one shard's server is frozen, or killed. */
@Tag("full")
class FirstOperationsIT {
  private static final String FAILED_SERVER = "127.36.2.1:27018";

  /** The limit is so short that an operation fails if it waits for the failed shard. */
  private static final String TIME_LIMIT = "/?timeoutMS=2000";

  private static Testbed testbed;
  private static ServerProcess failedServer;

  @BeforeAll
  static void start() throws Exception {
    testbed = Testbed.builder(NearShards.WITH_MONGOSES).start();
    testbed.shardCollection("it.first", Numbered.KEY, Numbered.splitAt(100, 200));
    try (MongoClient client = Mode.PLAIN_SYNC.client(testbed.url())) {
      collection(client).insertMany(Numbered.documents(300));
    }
    failedServer = ServerProcess.of("three-shards", FAILED_SERVER);
  }

  @AfterAll
  static void stop() {
    if (failedServer != null) {
      failedServer.close();
    }
    if (testbed != null) {
      testbed.close();
    }
  }

  @RoutedModes
  void healthyShardsDoNotWaitForFailedShard(Mode mode) throws Exception {
    // Loads the classes of the mode before the measurement, because this takes time.
    try (MongoClient first = mode.client(url(mode))) {
      assertThat(collection(first).find(Filters.eq(7)).first()).isNotNull();
    }
    failedServer.freeze();
    try {
      assertFirstOperationsSucceed(mode, "frozen");
    } finally {
      failedServer.resume();
    }
    failedServer.kill();
    try {
      assertFirstOperationsSucceed(mode, "killed");
    } finally {
      failedServer.restart();
    }
  }

  private static void assertFirstOperationsSucceed(Mode mode, String failure) {
    for (int round = 0; round < 3; round++) {
      try (MongoClient client = mode.client(url(mode) + TIME_LIMIT)) {
        for (int id : List.of(7, 250)) {
          long begun = System.nanoTime();
          assertThat(collection(client).find(Filters.eq(id)).first()).containsEntry("n", id);
          System.err.printf(
              "%s, a shard %s: first find on a healthy shard in %d ms%n",
              mode, failure, Duration.ofNanos(System.nanoTime() - begun).toMillis());
        }
      }
    }
  }

  private static MongoCollection<Document> collection(MongoClient client) {
    return client.getDatabase("it").getCollection("first");
  }

  private static String url(Mode mode) {
    return mode.isDirect()
        ? "mongodb://" + testbed.configServers().replaceFirst(".*/", "")
        : testbed.url();
  }
}
