package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.WriteModel;
import dev.onehop.it.clients.Mode;
import dev.onehop.it.clients.RoutedModes;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.evidence.LocalHits;
import dev.onehop.testbed.evidence.Placement;
import dev.onehop.testbed.evidence.RouterSampling;
import dev.onehop.testbed.evidence.ServerEvidence;
import dev.onehop.testbed.topology.Topology;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMinKey;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * For each operation, the shards' profilers record the address of the mongos that has sent it. So
 * these tests can check that routed operations go to the right mongos.
 */
class RoutedOperationsIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int DOCUMENTS = 300;
  private static final int CONCURRENCY = 32;
  private static final int ROUNDS = 2;
  private static final List<BsonDocument> SPLIT_POINTS = Numbered.splitAt(50, 100, 150, 200, 250);

  /**
   * Three shards of one member, with a mongos on each shard's host and one on the application's
   * host.
   */
  private static final Topology TOPOLOGY =
      Topology.parse(
          "routed-operations",
          """
          name: routed-operations
          description: three shards on three hosts, each with a mongos, not far away
          regions: [here, there]
          roundTrips:
            here <-> here: 0
            there <-> there: 0
            here <-> there: 2
          hosts:
            app: {region: here, address: 127.39.0.1}
            h1: {region: there, address: 127.39.1.1}
            h2: {region: there, address: 127.39.2.1}
            h3: {region: there, address: 127.39.3.1}
          client: app
          configServers: [app]
          shards:
            shard-1: [h1]
            shard-2: [h2]
            shard-3: [h3]
          mongos: [app, h1, h2, h3]
          """);

  private static TestCluster cluster;

  @BeforeAll
  static void start() {
    cluster = TestCluster.start(TOPOLOGY);
    shard("routed");
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @RoutedModes(mode = RoutingMode.TARGETED)
  void singleShardOperationsUseOwnersMongos(Mode mode) {
    try (MongoClient client = routed(mode)) {
      MongoCollection<Document> collection = filled(client, "routed");

      try (RouterSampling sampling = sampling("routed")) {
        runPointOperations(collection);

        LocalHits served = recordedHits(sampling);
        assertThat(served.fraction()).hasValue(1.0);
        assertThat(served.sampled()).isGreaterThanOrEqualTo(4L * DOCUMENTS);
      }
    }
    assertThat(evidence("routed").placement()).matches(Placement::isRight);
  }

  /**
   * Shows that the check of the hit rate can fail: an unrouted client's operations reach a mongos
   * near the owner only by chance.
   */
  @Test
  void unroutedOperationsRarelyUseOwnersMongos() {
    try (MongoClient client = Mode.PLAIN.client(cluster.url())) {
      MongoCollection<Document> collection = filled(client, "routed");

      try (RouterSampling sampling = evidence("routed").sampleRouters(1)) {
        runPointOperations(collection);

        assertThat(sampling.besideOwner().fraction().orElseThrow()).isLessThan(0.1);
      }
    }
  }

  @RoutedModes(mode = RoutingMode.TARGETED)
  void operationsFollowMovedRange(Mode mode) {
    String name = "moved" + mode;
    shard(name);
    try (MongoClient client = routed(mode)) {
      MongoCollection<Document> collection = filled(client, name);
      String to = cluster.shards().get(cluster.shards().size() - 1);

      cluster.moveRange(cluster.namespace(name), new BsonDocument("_id", new BsonMinKey()), to);

      await()
          .atMost(TIMEOUT)
          .untilAsserted(
              () -> {
                try (RouterSampling sampling = sampling(name)) {
                  assertThat(read(collection, 0)).isEqualTo(new Document("_id", 0).append("n", 0));
                  if (sampling != null) {
                    assertThat(sampling.besideOwner().fraction()).hasValue(1.0);
                  }
                }
              });
      assertThat(InParallel.call(CONCURRENCY, DOCUMENTS, i -> read(collection, i)))
          .isEqualTo(Numbered.documents(DOCUMENTS));
      try (RouterSampling sampling = sampling(name)) {
        runPointOperations(collection);
        assertThat(collection.countDocuments(Filters.eq(0))).isEqualTo(1);
        assertThat(recordedHits(sampling).fraction()).hasValue(1.0);
      }
      assertThat(collection.countDocuments()).isEqualTo(DOCUMENTS);
    }
  }

  @RoutedModes(mode = RoutingMode.TARGETED)
  void splitBulkWritesKeepIndexes(Mode mode) {
    try (MongoClient client = routed(mode)) {
      MongoCollection<Document> collection = filled(client, "routed");
      collection.deleteMany(new Document());
      List<WriteModel<Document>> models = new ArrayList<>();
      for (Document document : Numbered.documents(DOCUMENTS)) {
        models.add(new InsertOneModel<>(document));
      }
      for (int i = 0; i < DOCUMENTS; i++) {
        models.add(new UpdateOneModel<>(Filters.eq(i), Updates.inc("n", 1)));
      }
      models.add(new DeleteOneModel<>(Filters.eq(7)));

      BulkWriteResult result = collection.bulkWrite(models);

      assertThat(result.getInsertedCount()).isEqualTo(DOCUMENTS);
      assertThat(result.getModifiedCount()).isEqualTo(DOCUMENTS);
      assertThat(result.getDeletedCount()).isEqualTo(1);
      assertThat(result.getInserts().get(200).getId()).isEqualTo(new BsonInt32(200));
      // The test uses an unordered batch, because it is always split. The mongos of an ordered
      // batch depends on measured round trips.
      try (RouterSampling sampling = sampling("routed")) {
        collection.bulkWrite(
            models.subList(DOCUMENTS, 2 * DOCUMENTS), new BulkWriteOptions().ordered(false));
        assertThat(recordedHits(sampling).fraction()).hasValue(1.0);
      }
      assertThat(read(collection, 8)).containsEntry("n", 10);
      assertThat(read(collection, 7)).isNull();
    }
  }

  @RoutedModes(mode = RoutingMode.TARGETED)
  void multiShardOperationsReturnCompleteResults(Mode mode) {
    try (MongoClient client = routed(mode)) {
      MongoCollection<Document> collection = filled(client, "routed");

      assertThat(collection.countDocuments()).isEqualTo(DOCUMENTS);
      assertThat(
              collection
                  .find(Filters.gte("_id", 90))
                  .sort(new Document("_id", 1))
                  .limit(20)
                  .into(new ArrayList<>()))
          .extracting(document -> document.getInteger("_id"))
          .containsExactlyElementsOf(IntStream.range(90, 110).boxed().toList());
      assertThat(
              collection.updateMany(Filters.lt("n", 250), Updates.set("x", 1)).getModifiedCount())
          .isEqualTo(250);
      assertThat(collection.deleteMany(Filters.gte("n", 50)).getDeletedCount())
          .isEqualTo(DOCUMENTS - 50);
      assertThat(collection.estimatedDocumentCount()).isEqualTo(50);
    }
  }

  @Tag("full")
  @RoutedModes(mode = RoutingMode.TARGETED, pipelined = false)
  void blockedMongosCausesNoFailureAndIsReused(Mode mode) throws Exception {
    TestCluster.requireProcesses();
    Testbed testbed = cluster.testbed("links");
    String blocked = testbed.mongosAddresses().get(2);
    MongoClient client = routed(mode);
    MongoCollection<Document> collection = filled(client, "routed");
    collection.updateMany(new Document(), Updates.set("n", 0));
    AtomicIntegerArray acknowledged = new AtomicIntegerArray(DOCUMENTS);
    AtomicLong operations = new AtomicLong();
    AtomicBoolean stopped = new AtomicBoolean();
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    CompletableFuture<?> load =
        CompletableFuture.runAsync(
            () ->
                InParallel.call(
                    CONCURRENCY,
                    CONCURRENCY,
                    worker -> {
                      while (!stopped.get()) {
                        int number = (int) operations.getAndIncrement();
                        int id = number * 7 % DOCUMENTS;
                        try {
                          if (number % 2 == 0) {
                            collection.find(Filters.eq(id)).first();
                          } else {
                            collection.updateOne(Filters.eq(id), Updates.inc("n", 1));
                            acknowledged.incrementAndGet(id);
                          }
                        } catch (RuntimeException e) {
                          failures.add(e);
                        }
                      }
                      return null;
                    }));
    try {
      for (int round = 0; round < ROUNDS; round++) {
        long before = operations.get();
        testbed.setBlocked(blocked, true);
        await().atMost(TIMEOUT).until(() -> operations.get() > before + 2_000);
        testbed.setBlocked(blocked, false);
        await().atMost(TIMEOUT).until(() -> besideOwner(collection) == 1);
      }
    } finally {
      testbed.setBlocked(blocked, false);
      stopped.set(true);
      load.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    }

    assertThat(failures).isEmpty();
    for (Document document : collection.find()) {
      int id = document.getInteger("_id");
      assertThat(document.getInteger("n")).as("document %d", id).isEqualTo(acknowledged.get(id));
    }
    client.close();
  }

  /**
   * Reads documents of all shards, and returns the hit rate. The rate includes operations of other
   * threads.
   */
  private static double besideOwner(MongoCollection<Document> collection) {
    try (RouterSampling sampling = evidence("routed").sampleRouters(1)) {
      for (int i = 0; i < DOCUMENTS; i += 10) {
        assertThat(read(collection, i)).isNotNull();
        assertThat(collection.updateOne(Filters.eq(i), Updates.set("x", i)).getMatchedCount())
            .isEqualTo(1);
      }
      return sampling.besideOwner().fraction().orElse(0);
    }
  }

  /** The test uses the replica set of a shard as a replica set outside of a sharded cluster. */
  @RoutedModes(mode = RoutingMode.TARGETED, pipelined = false)
  void logsOnceThatReplicaSetIsNotRouted(Mode mode) {
    String shard = cluster.testbed("shard of its own").shardHosts().get(cluster.shards().get(0));
    String set = shard.substring(0, shard.indexOf('/'));
    for (boolean named : new boolean[] {true, false}) {
      String url =
          "mongodb://"
              + shard.substring(shard.indexOf('/') + 1)
              + (named ? "/?replicaSet=" + set : "/");
      ListAppender<ILoggingEvent> log = new ListAppender<>();
      Logger logger = (Logger) LoggerFactory.getLogger("dev.onehop");
      log.start();
      logger.addAppender(log);
      SimpleMeterRegistry meters = new SimpleMeterRegistry();
      try (MongoClient client = mode.client(url, settings -> {}, meters)) {
        for (String name : List.of("one", "two")) {
          MongoCollection<Document> collection = client.getDatabase("plain").getCollection(name);
          collection.insertMany(Numbered.documents(DOCUMENTS));

          assertThat(collection.updateOne(Filters.eq(3), Updates.inc("n", 1)).getModifiedCount())
              .isEqualTo(1);
          assertThat(read(collection, 3)).containsEntry("n", 4);
          assertThat(collection.countDocuments()).isEqualTo(DOCUMENTS);
        }
        client.getDatabase("plain").drop();
      } finally {
        logger.detachAppender(log);
      }
      assertThat(log.list)
          .extracting(ILoggingEvent::getFormattedMessage)
          .containsOnlyOnce(
              named
                  ? "nothing is routed, and the application gets the driver's own clients:"
                      + " replicaSet="
                      + set
                      + " names a replica set"
                  : "the URI leads to a replica set, not to a mongos: nothing will be routed");
      assertThat(meters.find("onehop.operations").tag("decision", "owner").timers()).isEmpty();
    }
  }

  /**
   * Executes each kind of operation on one document. Also inserts a batch of documents outside the
   * range of all others.
   */
  private static void runPointOperations(MongoCollection<Document> collection) {
    InParallel.call(
        CONCURRENCY,
        DOCUMENTS,
        i -> {
          assertThat(read(collection, i)).containsEntry("n", i);
          assertThat(collection.updateOne(Filters.eq(i), Updates.inc("n", 1)).getModifiedCount())
              .isEqualTo(1);
          assertThat(collection.deleteOne(Filters.eq(i)).getDeletedCount()).isEqualTo(1);
          return collection.insertOne(new Document("_id", i).append("n", i));
        });
    List<Integer> beyond = List.of(5_000, -5_000, 150_000);
    collection.insertMany(beyond.stream().map(i -> new Document("_id", i)).toList());
    for (int id : beyond) {
      assertThat(collection.deleteMany(Filters.eq(id)).getDeletedCount()).isEqualTo(1);
    }
  }

  private static void shard(String name) {
    cluster.shardCollection(cluster.namespace(name), Numbered.KEY, SPLIT_POINTS);
  }

  /** A collection with the documents 0 to 299, a third of them on each shard. */
  private static MongoCollection<Document> filled(MongoClient client, String name) {
    MongoCollection<Document> collection =
        client.getDatabase(cluster.database()).getCollection(name);
    collection.deleteMany(new Document());
    collection.insertMany(Numbered.documents(DOCUMENTS));
    return collection;
  }

  /** Starts recording the mongos of each operation; null if the cluster does not show it. */
  private static @Nullable RouterSampling sampling(String name) {
    return cluster.hasEvidence() ? evidence(name).sampleRouters(1) : null;
  }

  /**
   * The recorded hits. If nothing was recorded, this call skips the rest of the test. It must
   * therefore be the last check.
   */
  private static LocalHits recordedHits(@Nullable RouterSampling sampling) {
    Assumptions.assumeTrue(
        sampling != null,
        "all answers were right; where operations were served, a cluster from outside does not"
            + " show");
    return sampling.besideOwner();
  }

  private static ServerEvidence evidence(String name) {
    return cluster.testbed("profilers").evidence(cluster.namespace(name));
  }

  private static MongoClient routed(Mode mode) {
    String url = cluster.url(cluster.database(), "heartbeatFrequencyMS=1000");
    return mode.client(mode.builder(url).refreshInterval(Duration.ofSeconds(1)));
  }

  private static Document read(MongoCollection<Document> collection, int id) {
    return collection.find(Filters.eq(id)).first();
  }
}
