package dev.onehop.routing.targeted;

import static dev.onehop.routing.targeted.Targeted.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.ClientSessionOptions;
import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.WriteConcern;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.Updates;
import com.mongodb.event.CommandFailedEvent;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.event.CommandSucceededEvent;
import com.mongodb.observability.ObservabilitySettings;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.wire.CapturedLog;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.Document;
import org.bson.codecs.DocumentCodecProvider;
import org.bson.codecs.ValueCodecProvider;
import org.bson.codecs.configuration.CodecRegistries;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

/** Differences that an application could notice between a routed client and a plain client. */
class DriverDifferencesTest {
  @RegisterExtension
  private final CapturedLog twiceReleased = CapturedLog.ofTwiceReleasedSessions();

  @RegisterExtension
  private final CapturedLog unrouted =
      new CapturedLog("dev.onehop.routing", "nothing is routed", "nothing will be routed");

  private final ScriptedCluster cluster = new ScriptedCluster(Targeted.WIRE_6_0);

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void listenersReceiveOnlyCommandsOfApplication() {
    Queue<String> expected = new ConcurrentLinkedQueue<>();
    Queue<String> routed = new ConcurrentLinkedQueue<>();
    cluster.script("m0", DriverDifferencesTest::changeStream);
    try (MongoClient plain =
            MongoClients.create(
                listening(expected)
                    .applyConnectionString(new ConnectionString(Targeted.uri(cluster, "")))
                    .build());
        MongoClient client =
            Targeted.builder(cluster, "")
                .applyToClientSettings(
                    settings -> settings.addCommandListener(new EventRecorder(routed)))
                .client(MongoClient.class)) {
      runEveryKindOfOperation(plain);
      runEveryKindOfOperation(client);
    }
    assertThat(cluster.seen("m0", "find").toString()).contains("chunks");
    assertThat(routed).containsExactlyElementsOf(expected).contains("find it", "find succeeded");
  }

  @Tag("newer-driver")
  @Test
  void tracesContainOnlyOperationsOfApplication() {
    Queue<String> expected = new ConcurrentLinkedQueue<>();
    Queue<String> routed = new ConcurrentLinkedQueue<>();
    try (MongoClient plain =
            MongoClients.create(
                Traced.tracing(MongoClientSettings.builder(), expected)
                    .applyConnectionString(new ConnectionString(Targeted.uri(cluster, "")))
                    .build());
        MongoClient client =
            Targeted.builder(cluster, "")
                .applyToClientSettings(settings -> Traced.tracing(settings, routed))
                .client(MongoClient.class)) {
      for (MongoClient each : List.of(plain, client)) {
        run(in(each).find(Filters.eq(5)).first());
        run(in(each).insertOne(new Document("_id", 5)));
      }
    }
    assertThat(routed).containsExactlyElementsOf(expected).isNotEmpty();
  }

  @Test
  void metersWriteOnOneShardOnce() {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (MongoClient client =
        Targeted.builder(cluster, "").meterRegistry(meters).client(MongoClient.class)) {
      run(in(client).bulkWrite(List.of(new InsertOneModel<>(new Document("_id", 5)))));
      run(in(client).insertMany(List.of(new Document("_id", 5))));
      ClientSession session = run(client.startSession());
      run(in(client).insertMany(session, List.of(new Document("_id", 5))));

      assertThat(meters.get("onehop.operations").tag("outcome", "ok").timers())
          .extracting(timer -> timer.getId().getTag("operation") + " " + timer.count())
          .containsExactly("insert 3");
      assertThat(meters.find("onehop.operations").tag("outcome", "cancelled").timers()).isEmpty();
    }
  }

  @Test
  void needsNoCodecForBsonDocument() {
    try (MongoClient client =
        Targeted.builder(cluster, "")
            .applyToClientSettings(
                settings ->
                    settings.codecRegistry(
                        CodecRegistries.fromProviders(
                            new ValueCodecProvider(), new DocumentCodecProvider())))
            .client(MongoClient.class)) {
      assertThat(run(in(client).find(new Document("_id", 5)).first())).containsEntry("from", "m1");
      assertThat(run(in(client).find(new Document("_id", -5)).first())).containsEntry("from", "m0");
    }
  }

  @Test
  void directConnectionUsesOnlyItsServer() {
    for (Consumer<OneHop.Builder> settings :
        List.<Consumer<OneHop.Builder>>of(
            builder -> {}, builder -> builder.pipelining(sockets -> {}))) {
      OneHop.Builder builder = Targeted.builder(cluster, "directConnection=true");
      settings.accept(builder);
      try (MongoClient client = builder.client(MongoClient.class)) {
        assertThat(run(in(client).find(Filters.eq(5)).first())).containsEntry("from", "m0");
        run(in(client).insertMany(List.of(new Document("_id", 5), new Document("_id", -5))));
      }
    }
    assertThat(cluster.seen("m1", "hello")).isEmpty();
    assertThat(cluster.seen("m1", "insert")).isEmpty();
    assertThatThrownBy(
            () ->
                OneHop.builder(Targeted.uri(cluster, "directConnection=true"))
                    .routing(RoutingMode.DIRECT)
                    .client(MongoClient.class))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("directConnection");
  }

  @ParameterizedTest
  @ValueSource(strings = {"?replicaSet=s0", ""})
  void replicaSetChoosesSnapshotTime(String options) {
    cluster.script("s0", DriverDifferencesTest::replyWithTimes);
    String uri = "mongodb://" + cluster.address("s0") + "/" + options;
    try (MongoClient plain = MongoClients.create(uri);
        MongoClient client = OneHop.builder(uri).client(MongoClient.class)) {
      for (MongoClient each : List.of(plain, client)) {
        ClientSession session =
            run(each.startSession(ClientSessionOptions.builder().snapshot(true).build()));
        run(in(each).find(session, Filters.eq(5)).first());
        run(in(each).find(session, Filters.eq(5)).first());
      }
    }
    assertThat(cluster.seen("s0", "find"))
        .filteredOn(command -> command.getString("$db").getValue().equals("it"))
        .extracting(command -> command.getDocument("readConcern").containsKey("atClusterTime"))
        .containsExactly(false, true, false, true);
  }

  /** The log line is written at the start, and not only with the first operation. */
  @Test
  void logsUnroutedReplicaSetAtStart() {
    try (OneHop router = OneHop.builder("mongodb://" + cluster.address("s0") + "/").build()) {
      await()
          .untilAsserted(
              () ->
                  assertThat(unrouted.messages())
                      .containsExactly(
                          "the URI leads to a replica set, not to a mongos: nothing will be"
                              + " routed"));
      assertThat(router.status().isReady()).isFalse();
    }
  }

  /** The URI names a single secondary. The driver adds the read preference to the command. */
  @Test
  void readsFromSingleSecondary() {
    cluster.script(
        "s0",
        command ->
            command.getFirstKey().equalsIgnoreCase("hello")
                    || command.getFirstKey().equalsIgnoreCase("ismaster")
                ? BsonDocument.parse(
                    """
                    {ok: 1, helloOk: true, ismaster: false, isWritablePrimary: false,
                     secondary: true, setName: 's0', hosts: ['%1$s'], me: '%1$s',
                     minWireVersion: 0, maxWireVersion: 17, logicalSessionTimeoutMinutes: 30,
                     maxBsonObjectSize: 16777216, maxMessageSizeBytes: 48000000,
                     maxWriteBatchSize: 100000}
                    """
                        .formatted(cluster.address("s0")))
                : null);
    String uri = "mongodb://" + cluster.address("s0") + "/";
    try (MongoClient plain = MongoClients.create(uri);
        MongoClient client = OneHop.builder(uri).client(MongoClient.class)) {
      for (MongoClient each : List.of(plain, client)) {
        assertThat(run(in(each).find(Filters.eq(-5)).first())).containsEntry("from", "s0");
      }
    }
    assertThat(cluster.seen("s0", "find"))
        .filteredOn(command -> command.getString("$db").getValue().equals("it"))
        .extracting(command -> command.get("$readPreference"))
        .hasSize(2)
        .containsOnly(BsonDocument.parse("{mode: 'primaryPreferred'}"));
  }

  private static BsonDocument changeStream(BsonDocument command) {
    return command.containsKey("aggregate")
        ? BsonDocument.parse(
            """
            {ok: 1, cursor: {id: 0, ns: 'it.c', postBatchResumeToken: {_data: '1'}, firstBatch: [
              {_id: {_data: '1'}, operationType: 'insert', ns: {db: 'it', coll: 'c'},
               documentKey: {_id: 5}, fullDocument: {_id: 5},
               clusterTime: {$timestamp: {t: 5, i: 5}}}]}}
            """)
        : null;
  }

  private static BsonDocument replyWithTimes(BsonDocument command) {
    BsonDocument reply =
        switch (command.getFirstKey()) {
          case "find" ->
              ScriptedCluster.cursor(new BsonArray(List.of(BsonDocument.parse("{_id: 5}"))));
          case "ping" -> BsonDocument.parse("{ok: 1}");
          default -> null;
        };
    if (reply == null) {
      return null;
    }
    if (reply.containsKey("cursor")) {
      reply
          .getDocument("cursor")
          .put("atClusterTime", BsonDocument.parse("{t: {$timestamp: {t: 7, i: 7}}}").get("t"));
    }
    reply.putAll(
        BsonDocument.parse(
            """
            {operationTime: {$timestamp: {t: 5, i: 5}},
             $clusterTime: {clusterTime: {$timestamp: {t: 5, i: 5}},
               signature: {hash: {$binary: {base64: '', subType: '00'}}, keyId: 0}}}
            """));
    return reply;
  }

  /**
   * The bulk write is not split. Its parts would get no replies, so parts at several mongoses could
   * overtake each other.
   */
  @Test
  void orderedUnacknowledgedBulkWriteKeepsOrder() {
    // The mongos has such a long round trip that a split would be faster.
    cluster.delay(
        "m1", command -> command.containsKey("hello") ? Duration.ofMillis(300) : Duration.ZERO);
    List<InsertOneModel<Document>> models =
        IntStream.range(0, 10)
            .mapToObj(i -> new InsertOneModel<>(new Document("_id", i % 2 == 0 ? i : -i)))
            .toList();
    try (MongoClient client = Targeted.builder(cluster, "").client(MongoClient.class)) {
      run(in(client).find(Filters.eq(5)).first());
      run(in(client).withWriteConcern(WriteConcern.UNACKNOWLEDGED).bulkWrite(models));
      run(in(client).find(Filters.eq(5)).first());
    }
    assertThat(cluster.seen("m1", "insert")).isEmpty();
    assertThat(cluster.seen("m0", "insert"))
        .flatExtracting(command -> command.getArray("documents"))
        .extracting(document -> document.asDocument().getInt32("_id").getValue())
        .containsExactly(0, -1, 2, -3, 4, -5, 6, -7, 8, -9);
  }

  @Test
  void commandsCarryIdentifierOfSession() {
    try (MongoClient client = Targeted.builder(cluster, "").client(MongoClient.class)) {
      ClientSession session = run(client.startSession());
      for (int id : new int[] {5, -5, 6}) {
        run(in(client).find(session, Filters.eq(id)).first());
        run(in(client).updateOne(session, Filters.eq(id), Updates.set("x", 1)));
      }
      BsonDocument identifier = session.getServerSession().getIdentifier();
      assertThat(sessions("find")).hasSize(3).containsOnly(identifier);
      assertThat(sessions("update")).hasSize(3).containsOnly(identifier);
      assertThat(
              Stream.of("m0", "m1")
                  .flatMap(mongos -> cluster.seen(mongos, "update").stream())
                  .map(command -> command.getInt64("txnNumber").getValue()))
          .containsExactlyInAnyOrder(1L, 2L, 3L);

      session.startTransaction();
      run(in(client).insertOne(session, new Document("_id", 5)));
      identifier = session.getServerSession().getIdentifier();
      Flux.from(session.commitTransaction()).blockLast(Targeted.TIMEOUT);

      assertThat(sessions("insert")).containsExactly(identifier);
      assertThat(sessions("commitTransaction")).containsExactly(identifier);
    }
  }

  private List<BsonDocument> sessions(String command) {
    return Stream.of("m0", "m1")
        .flatMap(mongos -> cluster.seen(mongos, command).stream())
        .filter(each -> !each.getString("$db").equals(new BsonString("config")))
        .map(each -> each.getDocument("lsid"))
        .toList();
  }

  /**
   * Runs every kind of operation, including a snapshot and a change stream, before which OneHop
   * reads the cluster time with its own clients.
   */
  private static void runEveryKindOfOperation(MongoClient client) {
    run(in(client).find(Filters.eq(5)).first());
    run(in(client).insertOne(new Document("_id", 5)));
    ClientSession snapshot =
        run(client.startSession(ClientSessionOptions.builder().snapshot(true).build()));
    run(in(client).find(snapshot, Filters.eq(5)).first());
    run(in(client).watch().first());
  }

  private static MongoClientSettings.Builder listening(Queue<String> events) {
    return MongoClientSettings.builder().addCommandListener(new EventRecorder(events));
  }

  /** A separate class, because it uses a class that drivers before 5.7 lack. */
  private static final class Traced {
    static MongoClientSettings.Builder tracing(
        MongoClientSettings.Builder settings, Queue<String> ended) {
      ObservationRegistry registry = ObservationRegistry.create();
      registry
          .observationConfig()
          .observationHandler(
              new ObservationHandler<>() {
                @Override
                public void onStop(Observation.Context context) {
                  ended.add(context.getContextualName());
                }

                @Override
                public boolean supportsContext(Observation.Context context) {
                  return true;
                }
              });
      return settings.observabilitySettings(
          ObservabilitySettings.micrometerBuilder().observationRegistry(registry).build());
    }
  }

  private static MongoCollection<Document> in(MongoClient client) {
    return client.getDatabase("it").getCollection("c");
  }

  private record EventRecorder(Queue<String> events) implements CommandListener {
    @Override
    public void commandStarted(CommandStartedEvent event) {
      if (!event.getCommandName().equals("endSessions")) {
        events.add(event.getCommandName() + " " + event.getDatabaseName());
      }
    }

    @Override
    public void commandSucceeded(CommandSucceededEvent event) {
      if (!event.getCommandName().equals("endSessions")) {
        events.add(event.getCommandName() + " succeeded");
      }
    }

    @Override
    public void commandFailed(CommandFailedEvent event) {
      events.add(event.getCommandName() + " failed");
    }
  }
}
