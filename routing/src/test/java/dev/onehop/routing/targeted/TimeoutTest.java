package dev.onehop.routing.targeted;

import static dev.onehop.routing.targeted.Targeted.isInternal;
import static dev.onehop.routing.targeted.Targeted.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.ClientSessionOptions;
import com.mongodb.MongoOperationTimeoutException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.wire.CapturedLog;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * An operation's {@code timeoutMS} limits the whole operation, including the steps before it is
 * sent. Each test compares a routed client with the plain driver in the same run.
 */
class TimeoutTest {
  private static final Duration LIMIT = Duration.ofMillis(500);

  /**
   * The time by which an operation may exceed its timeout on a busy machine. An operation with a
   * fault takes at least twice its timeout, so the test still finds the fault.
   */
  private static final Duration LATE = Duration.ofMillis(400);

  private static final int TRIES = 4;
  private static final Duration LONG = Duration.ofSeconds(5);

  @RegisterExtension
  private final CapturedLog twiceReleased = CapturedLog.ofTwiceReleasedSessions();

  private final ScriptedCluster cluster = new ScriptedCluster(Targeted.WIRE_6_0);

  @AfterEach
  void close() {
    cluster.close();
  }

  private static Map<String, Function<MongoCollection<Document>, Publisher<?>>> calls() {
    return Map.of(
        "find", collection -> collection.find(Filters.eq(5)),
        "findFirst", collection -> collection.find(Filters.eq(5)).first(),
        "aggregate", collection -> collection.aggregate(List.of()),
        "countDocuments", collection -> collection.countDocuments(Filters.eq(5)),
        "insertOne", collection -> collection.insertOne(new Document("_id", 5)),
        "updateOne", collection -> collection.updateOne(Filters.eq(5), Updates.set("x", 1)),
        "insertMany", collection -> collection.insertMany(List.of(new Document("_id", 5))),
        "bulkWrite",
            collection ->
                collection.bulkWrite(
                    List.of(
                        new InsertOneModel<>(new Document("_id", 5)),
                        new InsertOneModel<>(new Document("_id", -5))),
                    new BulkWriteOptions().ordered(false)));
  }

  static Stream<String> operations() {
    return calls().keySet().stream().sorted();
  }

  @ParameterizedTest
  @MethodSource("operations")
  void includesWaitForTable(String operation) {
    cluster.delay("m0", command -> isData(command) || isInternal(command) ? LONG : Duration.ZERO);

    assertTimeoutApplies(
        "timeoutMS=" + LIMIT.toMillis(), client -> calls().get(operation).apply(in(client)));
  }

  @Test
  void appliesOnEveryLevel() {
    cluster.delay("m0", command -> isData(command) || isInternal(command) ? LONG : Duration.ZERO);

    assertTimeoutApplies(
        "",
        client ->
            in(client)
                .withTimeout(LIMIT.toMillis(), TimeUnit.MILLISECONDS)
                .find(Filters.eq(5))
                .first());
    assertTimeoutApplies(
        "",
        client ->
            client
                .getDatabase("it")
                .withTimeout(LIMIT.toMillis(), TimeUnit.MILLISECONDS)
                .getCollection("c")
                .find(Filters.eq(5))
                .first());
    assertTimeoutApplies(
        "",
        client ->
            client
                .withTimeout(LIMIT.toMillis(), TimeUnit.MILLISECONDS)
                .getDatabase("it")
                .getCollection("c")
                .find(Filters.eq(5))
                .first());
  }

  @Test
  void appliesInSessions() {
    cluster.delay("m0", command -> isData(command) || isInternal(command) ? LONG : Duration.ZERO);

    assertTimeoutApplies(
        "timeoutMS=" + LIMIT.toMillis(),
        client ->
            in(client)
                .find(session(client, ClientSessionOptions.builder().build()), Filters.eq(5))
                .first());
    assertTimeoutApplies(
        "",
        client -> {
          ClientSession session =
              session(
                  client,
                  ClientSessionOptions.builder()
                      .defaultTimeout(LIMIT.toMillis(), TimeUnit.MILLISECONDS)
                      .build());
          session.startTransaction();
          return in(client).find(session, Filters.eq(5)).first();
        });
  }

  private void delayDataAndPings() {
    for (String mongos : List.of("m0", "m1")) {
      cluster.delay(
          mongos, command -> isData(command) || command.containsKey("ping") ? LONG : Duration.ZERO);
    }
  }

  /**
   * Before a snapshot read, OneHop sends a command to every mongos. The timeout includes these
   * round trips.
   */
  @Test
  void includesRoundTripsOfSnapshot() {
    try (MongoClient client =
        Targeted.builder(cluster, "timeoutMS=" + LIMIT.toMillis()).client(MongoClient.class)) {
      run(in(client).find(Filters.eq(5)).first());
      delayDataAndPings();
      repeatOnFailure(
          () -> {
            ClientSession session =
                session(client, ClientSessionOptions.builder().snapshot(true).build());
            assertTimesOutInTime(() -> run(in(client).find(session, Filters.eq(5)).first()));
          });
    }
  }

  /**
   * The timeout also includes the round trips before a change stream starts. A mongos that does not
   * reply uses only a part of the timeout.
   */
  @Test
  void includesStartOfChangeStream() {
    try (MongoClient client =
        Targeted.builder(cluster, "timeoutMS=" + LIMIT.toMillis()).client(MongoClient.class)) {
      run(in(client).find(Filters.eq(5)).first());
      delayDataAndPings();
      repeatOnFailure(() -> assertTimesOutInTime(() -> run(in(client).watch().first())));
    }
  }

  @Test
  void appliesWithoutServer() {
    String unreachable = "mongodb://127.0.0.1:1/?timeoutMS=" + LIMIT.toMillis();
    repeatOnFailure(
        () -> {
          try (MongoClient plain = MongoClients.create(unreachable);
              MongoClient client = OneHop.builder(unreachable).client(MongoClient.class)) {
            assertTimesOutInTime(() -> run(in(plain).find(Filters.eq(5)).first()));
            assertTimesOutInTime(() -> run(in(client).find(Filters.eq(5)).first()));
          }
        });
  }

  /**
   * Reads of the metadata take too long. The operation succeeds, because a mongos executes it
   * without a table.
   */
  @Test
  void operationIsUnroutedWhileTableLoads() {
    cluster.delay("m0", command -> isInternal(command) ? LONG : Duration.ZERO);
    repeatOnFailure(
        () -> {
          try (MongoClient client =
              Targeted.builder(cluster, "timeoutMS=" + LIMIT.toMillis())
                  .client(MongoClient.class)) {
            assertThat(Mono.from(in(client).find(Filters.eq(5)).first()).onErrorComplete().block())
                .isNotNull()
                .containsEntry("from", "m0");
          }
        });
  }

  /** All parts of a bulk write share its timeout, even if they run one after another. */
  @Test
  void appliesToAllPartsOfBulkWrite() {
    // The mongos has such a long round trip that a split is faster.
    cluster.delay("m1", command -> command.containsKey("hello") ? LATE : Duration.ZERO);
    List<InsertOneModel<Document>> models =
        IntStream.range(0, 10)
            .mapToObj(i -> new InsertOneModel<>(new Document("_id", i % 2 == 0 ? i : -i)))
            .toList();
    try (MongoClient client =
        Targeted.builder(cluster, "timeoutMS=" + LIMIT.toMillis()).client(MongoClient.class)) {
      await()
          .atMost(Targeted.TIMEOUT)
          .ignoreExceptions()
          .until(() -> run(in(client).find(Filters.eq(5)).first()).get("from").equals("m1"));
      for (String mongos : List.of("m0", "m1")) {
        cluster.delay(mongos, command -> isData(command) ? LIMIT.dividedBy(4) : Duration.ZERO);
      }

      repeatOnFailure(() -> assertTimesOutInTime(() -> run(in(client).bulkWrite(models))));

      assertThat(cluster.seen("m1", "insert")).isNotEmpty();
    }
  }

  @Test
  void usesTableThatLoadsSlowly() {
    cluster.delay("m0", command -> isInternal(command) ? LIMIT : Duration.ZERO);
    try (MongoClient client =
        Targeted.builder(cluster, "timeoutMS=" + LIMIT.toMillis() / 2).client(MongoClient.class)) {
      await()
          .atMost(Targeted.TIMEOUT)
          .ignoreExceptionsInstanceOf(MongoOperationTimeoutException.class)
          .untilAsserted(
              () ->
                  assertThat(run(in(client).find(Filters.eq(5)).first()))
                      .containsEntry("from", "m1"));
    }
  }

  /**
   * Runs an operation without a server that replies, with a plain client and with a routed client.
   */
  private void assertTimeoutApplies(String options, Function<MongoClient, Publisher<?>> operation) {
    repeatOnFailure(
        () -> {
          try (MongoClient plain = MongoClients.create(Targeted.uri(cluster, options));
              MongoClient client = Targeted.builder(cluster, options).client(MongoClient.class)) {
            assertTimesOutInTime(() -> run(operation.apply(plain)));
            assertTimesOutInTime(() -> run(operation.apply(client)));
          }
        });
  }

  /**
   * Repeats an attempt that failed, because on a busy machine a single operation may take longer.
   */
  private static void repeatOnFailure(Runnable attempt) {
    for (int tries = 1; tries < TRIES; tries++) {
      try {
        attempt.run();
        return;
      } catch (AssertionError busy) {
        // Once more.
      }
    }
    attempt.run();
  }

  private static void assertTimesOutInTime(Runnable operation) {
    long began = System.nanoTime();
    assertThatThrownBy(operation::run)
        .isInstanceOfAny(MongoOperationTimeoutException.class, MongoTimeoutException.class);
    assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(LIMIT.plus(LATE));
  }

  private static ClientSession session(MongoClient client, ClientSessionOptions options) {
    return run(client.startSession(options));
  }

  private static MongoCollection<Document> in(MongoClient client) {
    return client.getDatabase("it").getCollection("c");
  }

  private static boolean isData(BsonDocument command) {
    return command.getString("$db").getValue().equals("it");
  }
}
