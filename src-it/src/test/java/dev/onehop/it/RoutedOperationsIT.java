package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.WriteModel;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.observation.RouteExplanation;
import dev.onehop.testbed.Topology;
import dev.onehop.testbed.evidence.BesideOwner;
import dev.onehop.testbed.evidence.Placement;
import dev.onehop.testbed.evidence.RouterSampling;
import dev.onehop.testbed.evidence.ServerEvidence;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Where routed operations are served, as the shards saw it: their profilers note the address of the
 * router that each operation came from.
 */
class RoutedOperationsIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int DOCUMENTS = 300;

  private static TestCluster cluster;
  private static int collections;

  @BeforeAll
  static void start() {
    cluster = TestCluster.start(Topology.named("us-2014"));
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  void operationsOnOneShardAreServedBesideIt() {
    String name = sharded();
    try (MongoClient client = routed()) {
      MongoCollection<Document> collection = collection(client, name);
      run(collection.insertMany(Numbered.documents(DOCUMENTS)));

      try (RouterSampling sampling = sampling(name)) {
        everyPointOperation(collection);

        BesideOwner served = seen(sampling);
        assertThat(served.fraction()).hasValue(1.0);
        assertThat(served.sampled()).isGreaterThanOrEqualTo(4L * DOCUMENTS);
      }
    }
    assertThat(evidence(name).placement()).matches(Placement::isRight);
  }

  /** The evidence can fail: an unrouted client is served beside the owner by chance only. */
  @Test
  void withoutRoutingTheLocalMongosServesAll() {
    String name = sharded();
    try (MongoClient client = MongoClients.create(cluster.url())) {
      MongoCollection<Document> collection = collection(client, name);
      run(collection.insertMany(Numbered.documents(DOCUMENTS)));

      try (RouterSampling sampling = evidence(name).sampleRouters(1)) {
        everyPointOperation(collection);

        assertThat(sampling.besideOwner().fraction().orElseThrow()).isLessThan(0.1);
      }
    }
  }

  @Test
  void afterARangeMovedOperationsFollowIt() {
    String name = sharded();
    try (MongoClient client = routed()) {
      MongoCollection<Document> collection = collection(client, name);
      run(collection.insertMany(Numbered.documents(DOCUMENTS)));
      String to = cluster.shards().get(cluster.shards().size() - 1);

      cluster.moveRange("it." + name, new BsonDocument("_id", new org.bson.BsonMinKey()), to);

      await()
          .atMost(TIMEOUT)
          .untilAsserted(
              () -> {
                try (RouterSampling sampling = sampling(name)) {
                  assertThat(read(collection, 0)).isEqualTo(new Document("_id", 0).append("n", 0));
                  if (sampling == null) {
                    assertThat(explanation(collection, 0).shards()).containsExactly(to);
                  } else {
                    assertThat(sampling.besideOwner().fraction()).hasValue(1.0);
                  }
                }
              });
      List<Document> all =
          Flux.range(0, DOCUMENTS)
              .flatMapSequential(i -> collection.find(Filters.eq(i)).first(), 32)
              .collectList()
              .block(TIMEOUT);
      assertThat(all).isEqualTo(Numbered.documents(DOCUMENTS));
    }
  }

  @Test
  void bulkWritesAreSplitAndKeepTheCallersIndexes() {
    String name = sharded();
    try (MongoClient client = routed()) {
      MongoCollection<Document> collection = collection(client, name);
      List<WriteModel<Document>> models = new ArrayList<>();
      for (int i = 0; i < DOCUMENTS; i++) {
        models.add(new InsertOneModel<>(new Document("_id", i).append("n", i)));
      }
      for (int i = 0; i < DOCUMENTS; i++) {
        models.add(new UpdateOneModel<>(Filters.eq(i), Updates.inc("n", 1)));
      }
      models.add(new DeleteOneModel<>(Filters.eq(7)));

      try (RouterSampling sampling = sampling(name)) {
        BulkWriteResult result = run(collection.bulkWrite(models));

        assertThat(result.getInsertedCount()).isEqualTo(DOCUMENTS);
        assertThat(result.getModifiedCount()).isEqualTo(DOCUMENTS);
        assertThat(result.getDeletedCount()).isEqualTo(1);
        assertThat(result.getInserts().get(200).getId()).isEqualTo(new BsonInt32(200));
        run(
            collection.bulkWrite(
                models.subList(DOCUMENTS, 2 * DOCUMENTS), new BulkWriteOptions().ordered(false)));
        assertThat(read(collection, 8)).containsEntry("n", 10);
        assertThat(read(collection, 7)).isNull();
        assertThat(seen(sampling).fraction()).hasValue(1.0);
      }
    }
  }

  @Test
  void operationsOnSeveralShardsGiveWholeAnswers() {
    String name = sharded();
    try (MongoClient client = routed()) {
      MongoCollection<Document> collection = collection(client, name);
      run(collection.insertMany(Numbered.documents(DOCUMENTS)));

      assertThat(run(collection.countDocuments())).isEqualTo(DOCUMENTS);
      List<Document> sorted =
          Flux.from(collection.find(Filters.gte("_id", 90)).sort(new Document("_id", 1)).limit(20))
              .collectList()
              .block(TIMEOUT);
      assertThat(sorted)
          .extracting(document -> document.getInteger("_id"))
          .containsExactlyElementsOf(IntStream.range(90, 110).boxed().toList());
      assertThat(
              run(collection.updateMany(Filters.lt("n", 250), Updates.set("x", 1)))
                  .getModifiedCount())
          .isEqualTo(250);
      assertThat(run(collection.deleteMany(Filters.gte("n", 50))).getDeletedCount())
          .isEqualTo(DOCUMENTS - 50);
      assertThat(run(collection.estimatedDocumentCount())).isEqualTo(50);
    }
  }

  /** A shard's own replica set stands for any that is no sharded cluster. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aReplicaSetIsUsedAsByTheOfficialClientAndThatIsSaidOnce(boolean named) {
    String shard = cluster.testbed("shard of its own").shardHosts().get("shard-va");
    String set = shard.substring(0, shard.indexOf('/'));
    String url =
        "mongodb://"
            + shard.substring(shard.indexOf('/') + 1)
            + (named ? "/?replicaSet=" + set : "/");
    ListAppender<ILoggingEvent> said = new ListAppender<>();
    Logger logger = (Logger) LoggerFactory.getLogger("dev.onehop.routing");
    said.start();
    logger.addAppender(said);
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (MongoClient client = OneHop.builder(url).meterRegistry(meters).reactiveClient()) {
      for (String name : List.of("one", "two")) {
        MongoCollection<Document> collection = client.getDatabase("plain").getCollection(name);
        run(collection.insertMany(Numbered.documents(DOCUMENTS)));

        assertThat(run(collection.updateOne(Filters.eq(3), Updates.inc("n", 1))).getModifiedCount())
            .isEqualTo(1);
        assertThat(read(collection, 3)).containsEntry("n", 4);
        assertThat(run(collection.countDocuments())).isEqualTo(DOCUMENTS);
      }
      run(client.getDatabase("plain").drop());
    } finally {
      logger.detachAppender(said);
    }
    assertThat(said.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .containsOnlyOnce(
            named
                ? "nothing is routed, and clients are the driver's own: replicaSet="
                    + set
                    + " asks for a replica set"
                : "the URI leads to a replica set, not to a mongos: nothing will be routed");
    assertThat(meters.find("onehop.operations").tag("decision", "owner").timers()).isEmpty();
  }

  private static void everyPointOperation(MongoCollection<Document> collection) {
    Flux.range(0, DOCUMENTS)
        .flatMap(
            i ->
                Mono.from(collection.find(Filters.eq(i)).first())
                    .doOnNext(found -> assertThat(found).containsEntry("n", i))
                    .then(Mono.from(collection.updateOne(Filters.eq(i), Updates.inc("n", 1))))
                    .doOnNext(updated -> assertThat(updated.getModifiedCount()).isEqualTo(1))
                    .then(Mono.from(collection.deleteOne(Filters.eq(i))))
                    .doOnNext(deleted -> assertThat(deleted.getDeletedCount()).isEqualTo(1))
                    .then(Mono.from(collection.insertOne(new Document("_id", i).append("n", i)))),
            64)
        .blockLast(TIMEOUT);
  }

  /** A new collection over all shards, a third of the ids 0 to 299 on each. */
  private static String sharded() {
    String name = "routed" + collections++;
    cluster.shardCollection("it." + name, Numbered.KEY, Numbered.splitAt(50, 100, 150, 200, 250));
    return name;
  }

  /** Begins to see where operations are served; null on a cluster that does not show it. */
  private static @Nullable RouterSampling sampling(String name) {
    return cluster.hasEvidence() ? evidence(name).sampleRouters(1) : null;
  }

  /** Where they were served; for the end of a test, which ends here where nothing shows it. */
  private static BesideOwner seen(@Nullable RouterSampling sampling) {
    Assumptions.assumeTrue(
        sampling != null,
        "all answers were right; where operations were served, a cluster from outside does not show");
    return sampling.besideOwner();
  }

  private static RouteExplanation explanation(MongoCollection<Document> collection, int id) {
    return Mono.from(OneHop.explain(collection, Filters.eq(id))).block(TIMEOUT);
  }

  private static ServerEvidence evidence(String name) {
    return cluster.testbed("profilers").evidence("it." + name);
  }

  private static MongoClient routed() {
    return OneHop.builder(cluster.url()).refreshInterval(Duration.ofSeconds(2)).reactiveClient();
  }

  private static MongoCollection<Document> collection(MongoClient client, String name) {
    return client.getDatabase("it").getCollection(name);
  }

  private static Document read(MongoCollection<Document> collection, int id) {
    return Mono.from(collection.find(Filters.eq(id)).first()).block(TIMEOUT);
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
