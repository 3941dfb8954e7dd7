package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoCredential;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.event.Order;
import dev.onehop.wire.RealTime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/**
 * The privileges that a user of change streams needs, with TLS, SCRAM and X.509. Also tests the
 * messages about missing privileges, and the effect of heartbeats. All writes go to one shard; the
 * other is idle.
 */
@Tag("full")
class StreamRightsIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final String COLLECTION = "orders";
  private static final int HALF = 1_000_000;
  private static final int WRITES = 60;
  private static final Duration BETWEEN_WRITES = Duration.ofMillis(25);
  private static final Document DATA = privilege("it", COLLECTION, "find", "changeStream");
  private static final Document OPLOG = privilege("local", "oplog.rs", "find");
  private static final Document HEARTBEATS =
      new Document("resource", new Document("cluster", true))
          .append("actions", List.of("appendOplogNote", "getShardMap"));

  private static TestCertificates certificates;
  private static SecuredCluster cluster;
  private static MongoClient writer;
  private static int next;

  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  @BeforeAll
  static void start() {
    certificates = TestCertificates.create();
    cluster = SecuredCluster.startWithTls(certificates);
    cluster.shardCollection(COLLECTION, HALF);
    writer =
        OneHop.builder(cluster.url())
            .applyToClientSettings(
                settings ->
                    settings
                        .credential(RealMongod.administrator())
                        .applyToSslSettings(
                            ssl -> ssl.enabled(true).context(certificates.trusting())))
            .routing(RoutingMode.DIRECT)
            .client(MongoClient.class);
  }

  @AfterAll
  static void stop() {
    if (writer != null) {
      writer.close();
    }
    if (cluster != null) {
      cluster.close();
    }
  }

  private static Document privilege(String database, String collection, String... actions) {
    return new Document("resource", new Document("db", database).append("collection", collection))
        .append("actions", List.of(actions));
  }

  private static List<Document> metadata(String... collections) {
    List<Document> privileges = new ArrayList<>();
    for (String name : collections) {
      privileges.add(privilege("config", name, "find"));
    }
    return privileges;
  }

  private static List<Document> allMetadata(Document... more) {
    List<Document> privileges = metadata("collections", "chunks", "databases", "shards");
    privileges.add(privilege("config", "changelog", "find", "changeStream"));
    privileges.addAll(List.of(more));
    return privileges;
  }

  /** Creates a user, and a role with these privileges, on some servers. */
  private static void create(
      String user, String database, List<Document> privileges, String... servers) {
    String role = "role of " + user;
    cluster.createUser(
        new Document("createRole", role)
            .append("privileges", privileges)
            .append("roles", List.of()),
        "admin",
        servers);
    Document command = new Document("createUser", user);
    if (database.equals("admin")) {
      command.append("pwd", "secret");
    }
    cluster.createUser(
        command.append("roles", List.of(new Document("role", role).append("db", "admin"))),
        database,
        servers);
  }

  @ParameterizedTest
  @ValueSource(strings = {"least", TestCertificates.CLIENT})
  void minimalPrivilegesAreSufficient(String user) throws InterruptedException {
    String database = user.equals("least") ? "admin" : "$external";
    create(user, database, allMetadata(HEARTBEATS), "config");
    create(user, database, List.of(DATA, OPLOG, HEARTBEATS), "one", "two");
    Logger logger = captureLog();
    try {
      Reading reading = new Reading(user);
      write(reading);
      reading.close();
      assertThat(log.list).extracting(ILoggingEvent::getFormattedMessage).isEmpty();
    } finally {
      logger.detachAppender(log);
    }
  }

  @Test
  void missingHeartbeatsDelayEventsAndLogOnce() throws InterruptedException {
    create("beating", "admin", allMetadata(HEARTBEATS), "config");
    create("beating", "admin", List.of(DATA, OPLOG, HEARTBEATS), "one", "two");
    create("reading", "admin", allMetadata(), "config");
    create("reading", "admin", List.of(DATA), "one", "two");
    Logger logger = captureLog();
    try {
      // The two readers run one after the other. Otherwise the heartbeats of the first would also
      // advance the idle shard's time for the second.
      Reading withHeartbeats = new Reading("beating");
      write(withHeartbeats);
      withHeartbeats.close();
      Reading withoutHeartbeats = new Reading("reading");
      write(withoutHeartbeats);
      withoutHeartbeats.close();
      System.err.printf(
          "median lag with heartbeats %d us, without %d us%n",
          withHeartbeats.medianMicros(), withoutHeartbeats.medianMicros());
      assertThat(withHeartbeats.medianMicros()).isLessThan(withoutHeartbeats.medianMicros());
    } finally {
      logger.detachAppender(log);
    }
    assertThat(log.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .singleElement(InstanceOfAssertFactories.STRING)
        .contains(
            "appendOplogNote on the cluster at the config servers",
            "appendOplogNote and getShardMap on the cluster at shard one",
            "appendOplogNote and getShardMap on the cluster at shard two",
            "find on local.oplog.rs at shard two",
            "docker/stream-users.js");
  }

  @Test
  void reportsMissingPrivilegesInOneMessage() {
    create("lacking", "admin", allMetadata(), "config");
    create("lacking", "admin", List.of(privilege("it", COLLECTION, "find")), "one");

    assertRefused(
        "lacking",
        "needs",
        "changeStream on it.orders at shard one",
        "a user with this name and password at shard two",
        cluster.address("two") + " refuses user lacking@admin",
        "docker/stream-users.js");
  }

  @Test
  void reportsUnreadableMetadata() {
    create("blind", "admin", metadata("collections", "shards"), "config");
    create("blind", "admin", List.of(DATA), "one", "two");

    assertRefused(
        "blind",
        "find on config.chunks at the config servers",
        "find on config.databases at the config servers");
  }

  /** A stream of a database needs other privileges than a stream of a collection. */
  @Test
  void databaseStreamNeedsOtherPrivileges() {
    create("narrow", "admin", allMetadata(), "config");
    create("narrow", "admin", List.of(DATA), "one", "two");

    assertThatThrownBy(
            () ->
                Flux.from(
                        ShardedChangeStream.builder(settings("narrow"))
                            .database("it")
                            .build()
                            .events())
                    .blockFirst(TIMEOUT))
        .isInstanceOf(MongoCommandException.class)
        .hasMessageContaining("find and changeStream on it at shard one");
  }

  @Test
  void scriptCreatesUser() throws IOException, InterruptedException {
    String output =
        UserScript.run(
            "stream-users.js",
            cluster,
            "&tls=true&tlsCAFile=" + certificates.authorityPem(),
            Map.of(
                "ONEHOP_USER",
                "scripted",
                "ONEHOP_PASSWORD",
                "secret",
                "ONEHOP_WATCH",
                "it." + COLLECTION,
                "ONEHOP_SHARD_OPTIONS",
                "tls=true&tlsCAFile=" + certificates.authorityPem()));

    assertThat(output)
        .contains("config servers: scripted has its roles", "one: scripted", "two: scripted");
    Logger logger = captureLog();
    try {
      Reading reading = new Reading("scripted");
      write(reading);
      reading.close();
      assertThat(log.list).isEmpty();
    } finally {
      logger.detachAppender(log);
    }
  }

  private Logger captureLog() {
    Logger logger = (Logger) LoggerFactory.getLogger("dev.onehop.streams");
    log.start();
    logger.addAppender(log);
    return logger;
  }

  private static MongoClientSettings settings(String user) {
    boolean external = user.equals(TestCertificates.CLIENT);
    return MongoClientSettings.builder()
        .applyConnectionString(new ConnectionString(cluster.url()))
        .credential(
            external
                ? MongoCredential.createMongoX509Credential()
                : MongoCredential.createCredential(user, "admin", "secret".toCharArray()))
        .applyToSslSettings(
            ssl ->
                ssl.enabled(true)
                    .context(external ? certificates.client() : certificates.trusting()))
        .build();
  }

  private static void assertRefused(String user, String... parts) {
    assertThatThrownBy(
            () ->
                Flux.from(
                        ShardedChangeStream.builder(settings(user))
                            .collection("it", COLLECTION)
                            .build()
                            .events())
                    .blockFirst(TIMEOUT))
        .isInstanceOfSatisfying(
            MongoCommandException.class, e -> assertThat(e.getErrorCode()).isEqualTo(13))
        .hasMessageContainingAll(parts);
  }

  /** Writes to shard one, and waits until all events were read in order. */
  private static void write(Reading reading) throws InterruptedException {
    int first = next;
    next += WRITES;
    var collection =
        writer.getDatabase("it").getCollection(COLLECTION).withWriteConcern(WriteConcern.MAJORITY);
    for (int id = first; id < next; id++) {
      reading.written(id);
      collection.insertOne(new Document("_id", id));
      RealTime.pass(BETWEEN_WRITES);
    }
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> {
              assertThat(reading.failure.get()).isNull();
              assertThat(reading.keys).hasSize(WRITES);
            });
    assertThat(reading.keys).isEqualTo(IntStream.range(first, next).boxed().toList());
  }

  /** Reads a totally ordered stream as one user, and measures the lags of the events. */
  private static final class Reading {
    final List<Integer> keys = Collections.synchronizedList(new ArrayList<>());
    final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final Map<Integer, Long> writtenNanos = new ConcurrentHashMap<>();
    private final List<Long> lags = Collections.synchronizedList(new ArrayList<>());
    private final Disposable subscription;

    Reading(String user) {
      BsonTimestamp written;
      try (MongoClient shard = cluster.administrator("one")) {
        written =
            shard
                .getDatabase("admin")
                .runCommand(new Document("ping", 1), BsonDocument.class)
                .getTimestamp("operationTime");
      }
      subscription =
          Flux.from(
                  ShardedChangeStream.builder(settings(user))
                      .collection("it", COLLECTION)
                      .order(Order.TOTAL)
                      .startAtOperationTime(new BsonTimestamp(written.getValue() + 1))
                      .build()
                      .documents())
              .subscribe(this::read, failure::set);
    }

    private static int key(RawBsonDocument event) {
      return event.getDocument("documentKey").getInt32("_id").getValue();
    }

    private void read(RawBsonDocument event) {
      int key = key(event);
      lags.add(System.nanoTime() - writtenNanos.get(key));
      keys.add(key);
    }

    void written(int key) {
      writtenNanos.put(key, System.nanoTime());
    }

    long medianMicros() {
      synchronized (lags) {
        return lags.stream().sorted().skip(lags.size() / 2).findFirst().orElseThrow() / 1_000;
      }
    }

    void close() {
      subscription.dispose();
    }
  }
}
