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
  private static final String SICK = "127.36.2.1:27018";

  /** The limit is so short that an operation fails if it waits for the sick shard. */
  private static final String TIME_LIMIT = "/?timeoutMS=2000";

  private static Testbed testbed;
  private static ServerProcess sick;

  @BeforeAll
  static void start() throws Exception {
    testbed = Testbed.builder(NearShards.WITH_MONGOSES).start();
    testbed.shardCollection("it.first", Numbered.KEY, Numbered.splitAt(100, 200));
    try (MongoClient client = Mode.PLAIN_SYNC.client(testbed.url())) {
      collection(client).insertMany(Numbered.documents(300));
    }
    sick = ServerProcess.of("three-shards", SICK);
  }

  @AfterAll
  static void stop() {
    if (sick != null) {
      sick.close();
    }
    if (testbed != null) {
      testbed.close();
    }
  }

  @RoutedModes
  void onHealthyShardsDoNotWaitForASickOne(Mode mode) throws Exception {
    // Loads the classes of the mode before the measurement, because this takes time.
    try (MongoClient first = mode.client(url(mode))) {
      assertThat(collection(first).find(Filters.eq(7)).first()).isNotNull();
    }
    sick.freeze();
    try {
      assertFirstOperationsSucceed(mode, "frozen");
    } finally {
      sick.resume();
    }
    sick.kill();
    try {
      assertFirstOperationsSucceed(mode, "killed");
    } finally {
      sick.restart();
    }
  }

  private static void assertFirstOperationsSucceed(Mode mode, String sickness) {
    for (int round = 0; round < 3; round++) {
      try (MongoClient client = mode.client(url(mode) + TIME_LIMIT)) {
        for (int id : List.of(7, 250)) {
          long begun = System.nanoTime();
          assertThat(collection(client).find(Filters.eq(id)).first()).containsEntry("n", id);
          System.err.printf(
              "%s, a shard %s: first find on a healthy shard in %d ms%n",
              mode, sickness, Duration.ofNanos(System.nanoTime() - begun).toMillis());
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
