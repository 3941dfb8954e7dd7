package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.mongodb.client.model.Collation;
import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.wire.CapturedLog;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** A client that is closed during an operation logs no error. */
class ClosedClientTest {
  private static final Duration START_TIMEOUT = Duration.ofSeconds(8);

  /** Longer than the time in which the event loops end, which is three seconds at most. */
  private static final Duration SHUTDOWN_TIME = Duration.ofSeconds(4);

  private static final int WIRE_6_0 = 17;

  @RegisterExtension
  private final CapturedLog twiceReleased = CapturedLog.ofTwiceReleasedSessions();

  private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
  private ScriptedCluster cluster;

  @BeforeEach
  void start() {
    cluster = new ScriptedCluster(WIRE_6_0);
    logged.start();
    root.addAppender(logged);
  }

  @AfterEach
  void stop() {
    root.detachAppender(logged);
    cluster.close();
  }

  @Test
  void closeDuringDiscoveryLogsNoError() throws InterruptedException {
    cluster.stop("config");
    CompletableFuture<Document> operation;
    try (MongoClient client =
        OneHop.builder("mongodb://" + cluster.address("config") + "/")
            .routing(RoutingMode.DIRECT)
            .client(MongoClient.class)) {
      operation = Mono.from(client.getDatabase("it").getCollection("c").find().first()).toFuture();
      RealTime.pass(Duration.ofSeconds(1));
    }
    assertThat(operation).failsWithin(Duration.ofSeconds(20));
    // Operations that wait for the cluster fail after this time, and such a failure could log an
    // error.
    RealTime.pass(START_TIMEOUT);

    assertThat(errors()).isEmpty();
  }

  @Test
  void closeDuringReadOfClusterIdLogsNoError() throws InterruptedException {
    cluster.hold("m0", ClosedClientTest::readsClusterId);
    MongoClient client =
        OneHop.builder("mongodb://" + cluster.address("m0") + "/").client(MongoClient.class);
    CompletableFuture<Document> operation =
        Mono.from(client.getDatabase("it").getCollection("c").find().first()).toFuture();
    await()
        .until(
            () -> cluster.seen("m0", "find").stream().anyMatch(ClosedClientTest::readsClusterId));
    client.close();
    cluster.release();
    assertThat(operation.handle((result, failure) -> true)).succeedsWithin(Duration.ofSeconds(20));
    RealTime.pass(SHUTDOWN_TIME);

    assertThat(errors()).isEmpty();
  }

  private static boolean readsClusterId(BsonDocument command) {
    return command.getString("find", new BsonString("")).getValue().equals("version");
  }

  @Test
  void closeDuringShardOperationsLogsNoError() throws InterruptedException {
    CountDownLatch received = new CountDownLatch(2);
    CountDownLatch closed = new CountDownLatch(1);
    for (String shard : List.of("s0", "s1")) {
      cluster.script(
          shard,
          command -> {
            if (command.containsKey("find")) {
              received.countDown();
              awaitQuietly(closed);
            }
            return null;
          });
    }
    List<CompletableFuture<Document>> operations = new ArrayList<>();
    try (MongoClient client =
        OneHop.builder("mongodb://" + cluster.address("config") + "/")
            .routing(RoutingMode.DIRECT)
            .client(MongoClient.class)) {
      MongoCollection<Document> collection = client.getDatabase("it").getCollection("c");
      operations.add(Mono.from(collection.find(Filters.eq(1)).first()).toFuture());
      // The collation makes the router decode this operation.
      operations.add(
          Mono.from(
                  collection
                      .find(Filters.eq(-1))
                      .collation(Collation.builder().locale("simple").build())
                      .first())
              .toFuture());
      assertThat(received.await(20, TimeUnit.SECONDS)).isTrue();
    }
    RealTime.pass(SHUTDOWN_TIME);
    closed.countDown();
    operations.forEach(each -> assertThat(each).failsWithin(Duration.ofSeconds(20)));
    RealTime.pass(Duration.ofSeconds(1));

    assertThat(errors()).isEmpty();
  }

  /**
   * Operations end even if they are about to be sent, or about to get a reply, when the client is
   * closed.
   */
  @Tag("newer-driver")
  @ParameterizedTest
  @CsvSource({"DIRECT, true", "DIRECT, false", "TARGETED, true", "TARGETED, false"})
  void operationsEndAfterClose(RoutingMode mode, boolean pipelined) throws InterruptedException {
    for (String shard : List.of("s0", "s1")) {
      cluster.delay(shard, command -> Duration.ofMillis(ThreadLocalRandom.current().nextInt(30)));
    }
    for (int round = 0; round < 10; round++) {
      List<CompletableFuture<?>> operations = new ArrayList<>();
      OneHop.Builder builder =
          OneHop.builder("mongodb://" + cluster.address("m0") + "/").routing(mode);
      if (pipelined) {
        builder.pipelining(pipelining -> {});
      }
      try (MongoClient client = builder.client(MongoClient.class)) {
        MongoCollection<Document> collection = client.getDatabase("it").getCollection("c");
        Mono.from(collection.find().first()).block();
        for (int i = -50; i < 50; i++) {
          operations.add(Mono.from(collection.find(Filters.eq(i)).first()).toFuture());
          operations.add(Mono.from(collection.insertOne(new Document("_id", i))).toFuture());
          operations.add(Mono.from(collection.find()).toFuture());
        }
        RealTime.pass(Duration.ofMillis(round * 5L));
      }
      for (CompletableFuture<?> operation : operations) {
        assertThat(operation.handle((result, failure) -> true))
            .succeedsWithin(Duration.ofSeconds(20));
      }
    }
    RealTime.pass(SHUTDOWN_TIME);

    assertThat(errors()).isEmpty();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private List<String> errors() {
    return List.copyOf(logged.list).stream()
        .filter(event -> event.getLevel().isGreaterOrEqual(Level.ERROR))
        .map(
            event ->
                event.getFormattedMessage()
                    + ": "
                    + (event.getThrowableProxy() == null
                        ? ""
                        : event.getThrowableProxy().getMessage()))
        .toList();
  }
}
