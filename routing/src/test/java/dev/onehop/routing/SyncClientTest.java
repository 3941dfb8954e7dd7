package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoInterruptedException;
import com.mongodb.MongoOperationTimeoutException;
import com.mongodb.MongoSocketException;
import com.mongodb.MongoSocketReadException;
import com.mongodb.MongoSocketReadTimeoutException;
import com.mongodb.WriteConcern;
import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Collation;
import com.mongodb.client.model.Filters;
import dev.onehop.routing.observation.RoutingObservationContext;
import dev.onehop.shards.command.ScriptedCluster;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.Document;
import org.bson.types.Binary;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

/** The synchronous driver on direct mode's router, over a scripted cluster. */
class SyncClientTest {
  private static final int WIRE_6_0 = 17;
  private static final long SECONDS = 20;
  private static final int ALMOST_16_MB = 16 * 1024 * 1024 - 100;

  private ScriptedCluster cluster;

  @BeforeEach
  void start() {
    cluster = new ScriptedCluster(WIRE_6_0);
  }

  @AfterEach
  void stop() {
    cluster.release();
    cluster.close();
  }

  private OneHop.Builder builder(String options) {
    return OneHop.builder("mongodb://" + cluster.address("config") + "/?" + options)
        .routing(RoutingMode.DIRECT);
  }

  private static MongoCollection<Document> collection(MongoClient client) {
    return client.getDatabase("it").getCollection("c");
  }

  private static Document find(MongoClient client, int id) {
    return collection(client).find(Filters.eq(id)).first();
  }

  /** Makes a call on a new thread. */
  private static <T> Call<T> startCall(Callable<T> what) {
    FutureTask<T> task = new FutureTask<>(what);
    Thread thread = new Thread(task, "caller");
    thread.setDaemon(true);
    thread.start();
    return new Call<>(task, thread);
  }

  private record Call<T>(FutureTask<T> task, Thread thread) {
    T result() throws InterruptedException, ExecutionException, TimeoutException {
      return task.get(SECONDS, TimeUnit.SECONDS);
    }

    Throwable failure() {
      return catchThrowable(this::result).getCause();
    }

    boolean isIn(String method) {
      return Arrays.stream(thread.getStackTrace())
          .anyMatch(each -> (each.getClassName() + "." + each.getMethodName()).endsWith(method));
    }
  }

  private static void holdFinds(ScriptedCluster cluster, String server) {
    cluster.hold(server, command -> command.getFirstKey().equals("find"));
  }

  @Test
  void callingThreadReadsFromSocketOfShard() throws Exception {
    try (MongoClient client = builder("").client(MongoClient.class)) {
      find(client, 5);
      holdFinds(cluster, "s1");

      Call<Document> call = startCall(() -> find(client, 5));
      await().until(() -> call.isIn("BlockingConnection.receive"));
      cluster.release();

      assertThat(call.result()).containsEntry("from", "s1");
    }
  }

  @Test
  void sendsCommandsToOwnerOrMongos() {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (MongoClient client =
        OneHop.builder("mongodb://" + cluster.address("m0") + "/")
            .routing(RoutingMode.DIRECT)
            .meterRegistry(meters)
            .client(MongoClient.class)) {
      MongoCollection<Document> collection = collection(client);
      for (int i = 0; i < 3; i++) {
        assertThat(find(client, -5)).containsEntry("from", "s0");
        assertThat(find(client, 5)).containsEntry("from", "s1");
        collection.insertOne(new Document("_id", 5));
        collection.updateOne(Filters.eq(-5), new Document("$set", new Document("n", 1)));
        collection.deleteOne(Filters.eq(5));
        assertThat(collection.find(Filters.gt("n", 1)).into(new ArrayList<>()))
            .extracting(each -> each.get("from"))
            .containsExactly("m0");
      }
      assertThat(
              meters
                  .get("onehop.operations")
                  .tags("operation", "find", "decision", "owner")
                  .timers())
          .extracting(timer -> timer.count())
          .containsExactlyInAnyOrder(3L, 3L);
    }
    try (MongoClient client = builder("").client(MongoClient.class)) {
      assertThatThrownBy(() -> client.getDatabase("it").createCollection("new"))
          .isInstanceOf(MongoCommandException.class)
          .hasMessageContaining(
              "needs a mongos in direct mode, but the URI names config servers" + " only");
    }
  }

  @Test
  void refreshesStaleTable() {
    AtomicInteger refusals = new AtomicInteger();
    try (MongoClient client = builder("").client(MongoClient.class)) {
      find(client, 5);
      cluster.script(
          "s1",
          command ->
              command.getFirstKey().equals("find") && refusals.getAndIncrement() < 2
                  ? BsonDocument.parse("{ok: 0, errmsg: 'stale', code: 13388}")
                  : null);

      assertThat(find(client, 5)).containsEntry("from", "s1");
      assertThat(refusals).hasValue(3);
    }
  }

  @Test
  void replacesBrokenConnection() {
    try (MongoClient client = builder("").client(MongoClient.class)) {
      find(client, 5);
      for (int i = 0; i < 3; i++) {
        cluster.stop("s1");
        cluster.start("s1");
        assertThat(find(client, 5)).containsEntry("from", "s1");
      }
    }
  }

  /**
   * The outcome of the write is unknown. The write is sent again only if it is retryable, because
   * the shard then recognises a repetition.
   */
  @ParameterizedTest
  @CsvSource({"false, true", "true, true", "false, false", "true, false"})
  void retriesRetryableWriteAfterBrokenConnection(boolean retryable, boolean blocking)
      throws Exception {
    try (OneHop router = builder("retryWrites=" + retryable).build();
        MongoClient client = MongoClients.create(router.syncClientSettings());
        com.mongodb.reactivestreams.client.MongoClient reactive =
            com.mongodb.reactivestreams.client.MongoClients.create(router.clientSettings())) {
      find(client, 5);
      cluster.hold("s1", command -> command.getFirstKey().equals("insert"));
      Document document = new Document("_id", 5);
      Call<?> call =
          startCall(
              () ->
                  blocking
                      ? collection(client).insertOne(document)
                      : Mono.from(reactive.getDatabase("it").getCollection("c").insertOne(document))
                          .block());
      await().until(() -> cluster.seen("s1", "insert").size() == 1);
      cluster.stop("s1");
      cluster.release();
      cluster.start("s1");

      if (retryable) {
        call.result();
      } else {
        assertThat(call.failure())
            .isInstanceOf(MongoSocketReadException.class)
            .hasStackTraceContaining(cluster.address("s1").toString());
      }
      assertThat(find(client, 5)).containsEntry("from", "s1");
      assertThat(cluster.seen("s1", "insert"))
          .hasSize(retryable ? 2 : 1)
          .extracting(insert -> insert.get("txnNumber"))
          .containsOnly(retryable ? new BsonInt64(1) : null);
    }
  }

  @Test
  void transfersDocumentsOf16Megabytes() {
    byte[] content = new byte[ALMOST_16_MB];
    Arrays.fill(content, (byte) 7);
    cluster.script(
        "s1",
        command ->
            command.getFirstKey().equals("find")
                ? ScriptedCluster.cursor(
                    new BsonArray(List.of(new BsonDocument("content", new BsonBinary(content)))))
                : null);
    try (MongoClient client = builder("").client(MongoClient.class)) {
      for (int i = 0; i < 3; i++) {
        assertThat(find(client, 5).get("content", Binary.class).getData()).isEqualTo(content);
        collection(client).insertOne(new Document("_id", i).append("content", content));
      }
    }
    assertThat(cluster.seen("s1", "insert"))
        .hasSize(3)
        .allSatisfy(
            insert ->
                assertThat(
                        insert
                            .getArray("documents")
                            .get(0)
                            .asDocument()
                            .getBinary("content")
                            .getData())
                    .isEqualTo(content));
  }

  @Test
  void clientIsUsableAfterReadTimeout() {
    try (MongoClient client =
        builder("socketTimeoutMS=300&retryReads=false").client(MongoClient.class)) {
      find(client, 5);
      holdFinds(cluster, "s1");
      assertThatThrownBy(() -> find(client, 5)).isInstanceOf(MongoSocketReadTimeoutException.class);
      cluster.release();

      assertThat(find(client, 5)).containsEntry("from", "s1");
    }
  }

  @Test
  void timeoutMsIncludesWaitForConnection() throws Exception {
    try (OneHop router = builder("maxPoolSize=1&retryReads=false").build();
        MongoClient client = MongoClients.create(router.syncClientSettings())) {
      find(client, 5);
      holdFinds(cluster, "s1");
      Call<Document> first = startCall(() -> find(client, 5));
      await().until(() -> first.isIn("BlockingConnection.receive"));

      long start = System.nanoTime();
      assertThatThrownBy(
              () ->
                  collection(client)
                      .withTimeout(400, TimeUnit.MILLISECONDS)
                      .find(Filters.eq(6))
                      .first())
          .isInstanceOf(MongoOperationTimeoutException.class);
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isBetween(Duration.ofMillis(300), Duration.ofSeconds(5));
      cluster.release();

      assertThat(first.result()).containsEntry("from", "s1");
      assertThat(find(client, 6)).containsEntry("from", "s1");
    }
  }

  @Test
  void interruptEndsWaitForConnection() throws Exception {
    try (MongoClient client = builder("maxPoolSize=1&retryReads=false").client(MongoClient.class)) {
      find(client, 5);
      holdFinds(cluster, "s1");
      Call<Document> first = startCall(() -> find(client, 5));
      await().until(() -> first.isIn("BlockingConnection.receive"));
      Call<Document> second = startCall(() -> find(client, 6));
      await().until(() -> second.isIn("BlockingServerPool.await"));

      second.thread().interrupt();
      assertThat(second.failure()).isInstanceOf(MongoInterruptedException.class);
      cluster.release();

      assertThat(first.result()).containsEntry("from", "s1");
      assertThat(find(client, 6)).containsEntry("from", "s1");
    }
  }

  @Test
  void closingRouterFailsPendingOperations() {
    MongoClient client;
    List<Call<Document>> calls = new ArrayList<>();
    try (OneHop router = builder("maxPoolSize=1&retryReads=false").build()) {
      client = MongoClients.create(router.syncClientSettings());
      find(client, 5);
      find(client, -5);
      holdFinds(cluster, "s1");
      calls.add(startCall(() -> find(client, 5)));
      await().until(() -> calls.get(0).isIn("BlockingConnection.receive"));
      calls.add(startCall(() -> find(client, 6)));
      await().until(() -> calls.get(1).isIn("BlockingServerPool.await"));
      calls.add(startCall(() -> decoded(client).first()));
      await().until(() -> calls.get(2).isIn("BlockingRequests.await"));
    }
    for (Call<Document> call : calls) {
      assertThat(call.failure())
          .isInstanceOf(MongoCommandException.class)
          .hasMessageContaining("the client is closed");
    }
    assertThatThrownBy(() -> find(client, -5)).hasMessageContaining("the client is closed");
    client.close();
  }

  /** A find on one shard. Its collation makes the router decode it. */
  private static FindIterable<Document> decoded(MongoClient client) {
    return collection(client)
        .find(Filters.eq(5))
        .collation(Collation.builder().locale("simple").build());
  }

  @Test
  void clientsOfOneRouterAreIndependent() {
    try (OneHop router = builder("").build();
        com.mongodb.reactivestreams.client.MongoClient reactive =
            com.mongodb.reactivestreams.client.MongoClients.create(router.clientSettings());
        MongoClient second = MongoClients.create(router.syncClientSettings())) {
      try (MongoClient first = MongoClients.create(router.syncClientSettings())) {
        assertThat(find(first, 5)).containsEntry("from", "s1");
      }
      assertThat(find(second, 5)).containsEntry("from", "s1");
      assertThat(
              Mono.from(reactive.getDatabase("it").getCollection("c").find(Filters.eq(5)).first())
                  .block(Duration.ofSeconds(SECONDS)))
          .containsEntry("from", "s1");
    }
  }

  @Test
  void everyThreadReceivesItsOwnReplies() throws Exception {
    try (MongoClient client = builder("maxPoolSize=3").client(MongoClient.class)) {
      cluster.script(
          "s1",
          command ->
              command.getFirstKey().equals("find")
                  ? ScriptedCluster.cursor(
                      new BsonArray(
                          List.of(
                              new BsonDocument("id", command.getDocument("filter").get("_id")))))
                  : null);
      List<Call<Void>> calls = new ArrayList<>();
      for (int thread = 0; thread < 12; thread++) {
        int first = thread * 1000;
        calls.add(
            startCall(
                () -> {
                  for (int id = first; id < first + 200; id++) {
                    assertThat(find(client, id).getInteger("id")).isEqualTo(id);
                  }
                  return null;
                }));
      }
      for (Call<Void> call : calls) {
        call.result();
      }
    }
  }

  @Test
  void unacknowledgedWritesKeepTheirOrder() {
    try (MongoClient client = builder("maxPoolSize=1").client(MongoClient.class)) {
      MongoCollection<Document> unacknowledged =
          collection(client).withWriteConcern(WriteConcern.UNACKNOWLEDGED);
      for (int i = 0; i < 20; i++) {
        unacknowledged.insertOne(new Document("_id", i));
      }
      await()
          .untilAsserted(
              () ->
                  assertThat(cluster.seen("s1", "insert"))
                      .extracting(
                          insert ->
                              insert.getArray("documents").get(0).asDocument().getInt32("_id"))
                      .containsExactlyElementsOf(
                          IntStream.range(0, 20).mapToObj(BsonInt32::new).toList()));
      assertThat(find(client, 5)).containsEntry("from", "s1");
    }
  }

  @Test
  void observationHasParentOfThread() {
    Queue<Observation.ContextView> parents = new ConcurrentLinkedQueue<>();
    ObservationRegistry observations = ObservationRegistry.create();
    observations
        .observationConfig()
        .observationHandler(
            new ObservationHandler<RoutingObservationContext>() {
              @Override
              public void onStop(RoutingObservationContext context) {
                if (context.getParentObservation() != null) {
                  parents.add(context.getParentObservation().getContextView());
                }
              }

              @Override
              public boolean supportsContext(Observation.Context context) {
                return context instanceof RoutingObservationContext;
              }
            });
    Observation.Context ours = new Observation.Context();
    try (MongoClient client =
        builder("").observationRegistry(observations).client(MongoClient.class)) {
      for (int i = 0; i < 2; i++) {
        Observation.createNotStarted("ours", () -> ours, observations)
            .observe(() -> find(client, 5));
      }
    }
    assertThat(parents).hasSize(2).allMatch(each -> each == ours);
  }

  @Test
  void errorNamesStoppedServer() {
    try (MongoClient client =
        builder("serverSelectionTimeoutMS=500&connectTimeoutMS=500").client(MongoClient.class)) {
      find(client, 5);
      cluster.stop("s1");

      assertThat(catchThrowable(() -> find(client, 5)))
          .isNotInstanceOf(MongoSocketException.class)
          .hasMessageContaining(cluster.address("s1").toString());
    }
  }
}
