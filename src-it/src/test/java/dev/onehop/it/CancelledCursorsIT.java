package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Filters;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.Testbed;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Cancelled reads leave no cursor on any server, and give their sessions back. The servers report
 * their open cursors. The plain driver runs the same cases.
 */
@ParameterizedClass
@EnumSource
@Tag("full")
class CancelledCursorsIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int DOCUMENTS = 300;
  private static final Bson ALL = new Document();

  private static Testbed testbed;
  private static Map<String, MongoClient> servers;
  private static int collections;

  @Parameter private ClientKind kind;

  private final Set<BsonDocument> sessions = ConcurrentHashMap.newKeySet();
  private final AtomicInteger inserted = new AtomicInteger();
  private Set<Document> before;
  private MongoClient client;
  private MongoCollection<Document> collection;

  enum ClientKind {
    PLAIN,
    TARGETED,
    DIRECT
  }

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(NearShards.WITH_MONGOSES).start();
    servers = new TreeMap<>();
    Stream.concat(testbed.shardHosts().values().stream(), Stream.of(testbed.configServers()))
        .map(replicaSet -> replicaSet.substring(replicaSet.indexOf('/') + 1))
        .forEach(
            host ->
                servers.put(
                    host, MongoClients.create("mongodb://" + host + "/?directConnection=true")));
  }

  @AfterAll
  static void stop() {
    if (servers != null) {
      servers.values().forEach(MongoClient::close);
    }
    if (testbed != null) {
      testbed.close();
    }
  }

  @BeforeEach
  void connect() {
    CommandListener listener = new Sessions(sessions);
    client =
        kind == ClientKind.PLAIN
            ? MongoClients.create(
                MongoClientSettings.builder()
                    .applyConnectionString(new ConnectionString(testbed.url()))
                    .addCommandListener(listener)
                    .build())
            : OneHop.builder(testbed.url())
                .routing(RoutingMode.valueOf(kind.name()))
                .applyToClientSettings(settings -> settings.addCommandListener(listener))
                .client(MongoClient.class);
    String name = "cancelled" + ++collections;
    testbed.shardCollection("it." + name, Numbered.KEY, Numbered.splitAt(100, 200));
    collection = client.getDatabase("it").getCollection(name);
    run(collection.insertMany(Numbered.documents(DOCUMENTS)));
    before = openCursors();
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void cancelledChangeStreamsLeaveNoCursors() {
    for (Publisher<?> stream :
        List.<Publisher<?>>of(
            collection.watch(),
            collection.watch(List.of(Aggregates.match(Filters.eq("operationType", "insert")))),
            collection.watch().batchSize(1).maxAwaitTime(300, TimeUnit.MILLISECONDS),
            client.getDatabase("it").watch(),
            client.watch())) {
      cancelAtAnyTime(stream);
      run(
          Flux.from(stream)
              .take(1)
              .takeUntilOther(
                  // The stream does not return changes from before its opening, so the test inserts
                  // again and again.
                  Flux.interval(Duration.ofMillis(50))
                      .onBackpressureDrop()
                      .concatMap(
                          i ->
                              collection.insertOne(
                                  new Document("_id", DOCUMENTS + inserted.getAndIncrement())))
                      .then())
              .then());
      assertNoneOpen("change stream");
    }
  }

  @Test
  void changeStreamSessionsAreReused() {
    for (int i = 0; i < 5; i++) {
      cancelAfter(collection.watch(), Duration.ofMillis(200));
      assertNoneOpen("change stream");
    }
    sessions.clear();
    for (int i = 0; i < 20; i++) {
      run(collection.find(Filters.eq(i)).first());
    }
    // Reads one after the other can share one session. The last stream may give its session back
    // late, so a second session is possible.
    assertThat(sessions).hasSizeLessThan(3);
  }

  @Test
  void cancelledReadsLeaveNoCursors() {
    try (ClientSession session = run(client.startSession())) {
      for (Publisher<?> read :
          List.<Publisher<?>>of(
              collection.find().batchSize(2),
              collection.find(Filters.lt("_id", 100)).batchSize(2),
              collection.find(session, Filters.lt("_id", 100)).batchSize(2),
              collection.find(session).batchSize(2),
              collection.find().sort(new Document("n", -1)).batchSize(3),
              collection.aggregate(List.of(Aggregates.match(ALL))).batchSize(2),
              collection.aggregate(List.of(Aggregates.match(Filters.gte("_id", 200)))).batchSize(2),
              collection.aggregate(session, List.of(Aggregates.match(ALL))).batchSize(2),
              collection.listIndexes().batchSize(1),
              client.getDatabase("it").listCollections().batchSize(1))) {
        cancelAtAnyTime(read);
        for (int taken : new int[] {1, 2, 3, 5}) {
          run(Flux.from(read).take(taken).then());
          run(Flux.from(read).limitRate(1).take(taken).then());
        }
        assertNoneOpen("read");
      }
    }
  }

  /**
   * Cancels a read at several moments, from before the first reply to the fetches of later batches.
   */
  private static void cancelAtAnyTime(Publisher<?> read) {
    Flux.from(read).subscribe().dispose();
    for (int millis = 1; millis < 400; millis = millis * 2 + 1) {
      cancelAfter(read, Duration.ofMillis(millis));
    }
    // Each of these reads is cancelled before all documents of a batch were delivered.
    run(Flux.from(read).delayElements(Duration.ofMillis(40)).take(Duration.ofMillis(150)).then());
    run(
        Flux.from(read)
            .delayElements(Duration.ofMillis(40))
            .timeout(Duration.ofMillis(20), Flux.empty())
            .then());
  }

  private static void cancelAfter(Publisher<?> read, Duration time) {
    run(Flux.from(read).take(time).then());
  }

  private void assertNoneOpen(String what) {
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> {
              Set<Document> open = openCursors();
              open.removeAll(before);
              assertThat(open).as("%s of %s", what, kind).isEmpty();
            });
  }

  /** The open cursors on the test's data, whether idle or in use by a command. */
  private static Set<Document> openCursors() {
    Set<Document> open = new HashSet<>();
    servers.forEach(
        (host, server) -> {
          Document currentOp =
              new Document("aggregate", 1)
                  .append(
                      "pipeline",
                      List.of(
                          new Document(
                              "$currentOp",
                              new Document("allUsers", true)
                                  .append("idleCursors", true)
                                  .append("localOps", true)),
                          new Document(
                              "$match",
                              Filters.or(
                                      Filters.eq("cursor.originatingCommand.$db", "it"),
                                      Filters.exists(
                                          "cursor.originatingCommand.pipeline.0.$changeStream"))
                                  .toBsonDocument()),
                          new Document(
                              "$project", new Document("ns", 1).append("cursor.cursorId", 1))))
                  .append("cursor", new Document());
          run(server.getDatabase("admin").runCommand(currentOp))
              .get("cursor", Document.class)
              .getList("firstBatch", Document.class)
              .forEach(cursor -> open.add(cursor.append("server", host)));
        });
    return open;
  }

  /** Collects the sessions of all commands that the driver has sent. */
  private record Sessions(Set<BsonDocument> seen) implements CommandListener {
    @Override
    public void commandStarted(CommandStartedEvent event) {
      BsonValue session = event.getCommand().get("lsid");
      if (session != null) {
        seen.add(session.asDocument().clone());
      }
    }
  }

  private static <T> @Nullable T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
