package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.ClientSessionOptions;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.client.model.Accumulators;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.Sorts;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.geojson.Point;
import com.mongodb.client.model.geojson.Position;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Commands that direct mode does not execute go to a mongos if the URI names one. If the URI names
 * config servers, direct mode refuses these commands. The mongos is the testbed's stand-in router,
 * a separate process at an address of the URI.
 */
@ShardedCluster
class DirectHandOverIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private static SharedCluster cluster;
  private static Testbed testbed;
  private static final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private static MongoClient client;
  private static MongoClient plain;
  private static MongoClient withoutMongos;
  private static String compared;
  private static int collections;

  @BeforeAll
  static void start(SharedCluster shared) {
    cluster = shared;
    testbed = cluster.testbed();
    client =
        OneHop.builder(testbed.url())
            .routing(RoutingMode.DIRECT)
            .meterRegistry(meters)
            .client(MongoClient.class);
    plain = MongoClients.create(testbed.url());
    withoutMongos =
        OneHop.builder("mongodb://" + testbed.configServers().replaceFirst(".*/", ""))
            .routing(RoutingMode.DIRECT)
            .client(MongoClient.class);
  }

  @AfterAll
  static void stop() {
    if (client != null) {
      client.close();
      plain.close();
      withoutMongos.close();
    }
  }

  @Test
  void commitsTransactionsOverSeveralShards() {
    MongoCollection<Document> collection = loaded();
    double before = handedOver();

    inTransaction(
        session ->
            Flux.concat(
                collection.updateOne(session, Filters.eq(1), Updates.set("n", -1)),
                collection.updateOne(session, Filters.eq(150), Updates.set("n", -1)),
                collection.insertOne(session, new Document("_id", 299_000).append("n", -1))),
        true);

    assertThat(run(collection.countDocuments(Filters.eq("n", -1)))).isEqualTo(3);
    // The five commands: three statements, the commit, and the count over all shards.
    assertThat(handedOver() - before).isEqualTo(5);
  }

  @Test
  void abortsTransactionsOverSeveralShards() {
    MongoCollection<Document> collection = loaded();

    inTransaction(
        session ->
            Flux.concat(
                collection.updateOne(session, Filters.eq(1), Updates.set("n", -1)),
                collection.deleteOne(session, Filters.eq(299)),
                // Within the transaction, the count includes the transaction's writes.
                Mono.from(collection.countDocuments(session, Filters.eq("n", -1)))
                    .doOnNext(count -> assertThat(count).isEqualTo(1))),
        false);

    assertThat(run(collection.countDocuments(Filters.eq("n", -1)))).isZero();
    assertThat(run(collection.countDocuments())).isEqualTo(300);
  }

  @Test
  void createsAndDropsCollectionsAndIndexes() {
    MongoDatabase database = client.getDatabase(cluster.database());
    String name = "made" + ++collections;
    double before = handedOver();

    run(database.createCollection(name));
    MongoCollection<Document> collection = database.getCollection(name);
    run(collection.createIndex(Indexes.ascending("n")));
    run(collection.insertOne(new Document("_id", 1).append("n", 1)));
    assertThat(all(collection.listIndexes())).hasSize(2);
    run(collection.dropIndex("n_1"));
    assertThat(all(collection.listIndexes())).hasSize(1);
    run(collection.drop());

    assertThat(run(collection.countDocuments())).isZero();
    assertThat(all(database.listCollectionNames())).doesNotContain(name);
    // The seven commands: create, createIndexes, dropIndexes, drop and three listings.
    assertThat(handedOver() - before).isEqualTo(7);
  }

  @Test
  void changeStreamCoversAllShards() {
    MongoCollection<Document> collection = loaded();
    BsonDocument beginning =
        run(client.getDatabase("admin").runCommand(new Document("ping", 1), BsonDocument.class));
    for (int key : List.of(1, 150, 299)) {
      run(collection.updateOne(Filters.eq(key), Updates.set("n", -key)));
    }

    assertThat(
            Flux.from(
                    collection
                        .watch(List.of(Aggregates.match(Filters.eq("operationType", "update"))))
                        .startAtOperationTime(beginning.getTimestamp("operationTime")))
                .map(event -> event.getDocumentKey().getInt32("_id").getValue())
                .take(3)
                .collectList()
                .block(TIMEOUT))
        .containsExactly(1, 150, 299);
  }

  @Test
  void snapshotReadsCoverAllShards() {
    MongoCollection<Document> collection = loaded();
    var options = ClientSessionOptions.builder().snapshot(true).causallyConsistent(false).build();

    List<Integer> seen =
        Flux.usingWhen(
                client.startSession(options),
                session ->
                    Mono.from(collection.find(session, Filters.eq(5)).first())
                        // This delete is later than the snapshot, so the next find still returns
                        // the documents.
                        .then(Mono.from(collection.deleteMany(new Document())))
                        .thenMany(collection.find(session).sort(Sorts.ascending("_id"))),
                session -> Mono.fromRunnable(session::close))
            .map(found -> found.getInteger("_id"))
            .collectList()
            .block(TIMEOUT);

    assertThat(seen).hasSize(300);
    assertThat(run(collection.countDocuments())).isZero();
  }

  /**
   * A mongos would execute these pipelines, but the stand-in router refuses them. OneHop then
   * returns the refusal, and executes no part of the pipeline.
   */
  @Test
  void returnsRefusalOfRouter() {
    MongoCollection<Document> collection = loaded();

    for (Map.Entry<String, List<Bson>> each : pipelines().entrySet()) {
      double before = handedOver();
      assertThatThrownBy(() -> all(collection.aggregate(each.getValue())))
          .as(each.getKey())
          .isInstanceOf(MongoCommandException.class)
          // The message comes from the stand-in router, and not from OneHop.
          .hasMessageNotContaining("needs a mongos in direct mode");
      assertThat(handedOver() - before).as(each.getKey()).isEqualTo(1);
    }
    assertThat(all(client.getDatabase(cluster.database()).listCollectionNames()))
        .doesNotContain("elsewhere");
  }

  /**
   * Both clients get the same reply, except for times and other fields that differ with each
   * execution.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{find: 'NAME', sort: {_id: 1}, batchSize: 300}",
        "{find: 'NAME', filter: {n: {$gte: 250}}, sort: {n: -1}, skip: 5, limit: 30}",
        "{count: 'NAME', query: {n: {$gte: 5}}}",
        "{distinct: 'NAME', key: 'even', query: {}}",
        "{aggregate: 'NAME', pipeline: [{$match: {n: {$lt: 0}}}], cursor: {}}",
        "{aggregate: 'NAME', pipeline: [{$group: {_id: '$even'}}], cursor: {}}",
        "{aggregate: 'NAME', pipeline: [{$lookup: {from: 'x', as: 'y', pipeline: []}}], cursor: {}}",
        "{findAndModify: 'NAME', query: {n: 5}, update: {$set: {x: 1}}}",
        "{update: 'NAME', updates: [{q: {n: {$gte: 5}}, u: {$unset: {no: 1}}, multi: true}]}",
        "{update: 'NAME', updates: [{q: {_id: 5}, u: {$set: {n: 5}}}, {q: {n: 250}, u: {$set: {n:"
            + " 250}}}]}",
        "{update: 'NAME', updates: [{q: {x: 5}, u: {$set: {y: 5}}, upsert: true}]}",
        "{delete: 'NAME', deletes: [{q: {n: -5}, limit: 0}]}",
        "{insert: 'NAME', documents: [{_id: [5]}]}",
        "{insert: 'NAME', documents: [{_id: 5}, {_id: [5]}, {_id: 6}], ordered: false}",
        "{listIndexes: 'NAME', cursor: {}}",
        "{explain: {find: 'NAME', filter: {_id: 5}}, verbosity: 'queryPlanner'}",
        "{createIndexes: 'NAME', indexes: [{key: {_id: 1}, name: '_id_'}]}",
        "{create: 'NAME'}",
        "{collMod: 'NAME', nothing: 1}",
        "{dropIndexes: 'NAME', index: 'none'}",
        "{dbStats: 1}",
        "{bulkWrite: 1, ops: [], nsInfo: []}",
        "{find: 'NAME', filter: 5}",
        "{find: ''}",
        "{aggregate: 'NAME', pipeline: 5, cursor: {}}",
        "{update: 'NAME', updates: [{q: {}}]}",
        "{noSuchCommand: 1}"
      })
  void returnsSameReplyAsMongos(String command) {
    String json = command.replace("NAME", comparedCollection());
    double before = handedOver();
    long operationsBefore = dataOperations();

    BsonDocument direct = reply(client, json);

    assertThat(handedOver() - before).isEqualTo(1);
    if (command.matches(".(find: 'N|insert|update|delete).*")) {
      assertThat(dataOperations()).as("of the mongoses").isGreaterThan(operationsBefore);
    }
    assertThat(direct).isEqualTo(reply(plain, json));
  }

  private static String comparedCollection() {
    if (compared == null) {
      compared = loaded().getNamespace().getCollectionName();
    }
    return compared;
  }

  /** The number of reads and writes of data that the mongoses have received. */
  private static long dataOperations() {
    return testbed
        .evidence(cluster.namespace(comparedCollection()))
        .routerOperations()
        .values()
        .stream()
        .flatMap(operations -> operations.entrySet().stream())
        .filter(each -> List.of("query", "insert", "update", "delete").contains(each.getKey()))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  private static BsonDocument reply(MongoClient of, String command) {
    BsonDocument reply;
    try {
      reply =
          run(
              of.getDatabase(cluster.database())
                  .runCommand(BsonDocument.parse(command), BsonDocument.class));
    } catch (MongoCommandException e) {
      reply = e.getResponse();
    }
    BsonDocument comparable = new BsonDocument();
    comparable.putAll(reply);
    List.of("operationTime", "$clusterTime", "electionId", "opTime").forEach(comparable::remove);
    return comparable;
  }

  @Test
  void rejectsMongosCommandsWithoutMongos() {
    MongoCollection<Document> loaded = loaded();
    MongoCollection<Document> collection =
        withoutMongos
            .getDatabase(cluster.database())
            .getCollection(loaded.getNamespace().getCollectionName());

    for (Map.Entry<String, List<Bson>> each : pipelines().entrySet()) {
      assertRefused(each.getKey(), () -> all(collection.aggregate(each.getValue())));
    }
    assertRefused(
        "create",
        () -> run(withoutMongos.getDatabase(cluster.database()).createCollection("elsewhere")));
    assertRefused("drop", () -> run(collection.drop()));
    assertRefused("dropDatabase", () -> run(withoutMongos.getDatabase(cluster.database()).drop()));
    assertRefused("createIndexes", () -> run(collection.createIndex(Indexes.ascending("n"))));
    assertRefused("$changeStream", () -> all(collection.watch()));
    assertRefused(
        "a transaction",
        () ->
            Mono.usingWhen(
                    withoutMongos.startSession(),
                    session -> {
                      session.startTransaction();
                      return Mono.from(
                          collection.updateOne(session, Filters.eq(1), Updates.set("n", -1)));
                    },
                    session -> Mono.fromRunnable(session::close))
                .block(TIMEOUT));

    assertRefused("find over several shards", () -> all(collection.find()));
    assertRefused("aggregate over several shards", () -> run(collection.countDocuments()));
    assertRefused(
        "several shards", () -> run(collection.updateMany(new Document(), Updates.set("n", -1))));
    assertRefused(
        "listCollections",
        () -> all(withoutMongos.getDatabase(cluster.database()).listCollectionNames()));
    assertRefused("listIndexes", () -> all(collection.listIndexes()));
    assertRefused("listDatabases", () -> all(withoutMongos.listDatabaseNames()));
    assertRefused("explain", () -> run(collection.find(Filters.eq(1)).explain()));

    // The refused commands have changed nothing, and other operations succeed.
    assertThat(all(client.getDatabase(cluster.database()).listCollectionNames()))
        .doesNotContain("elsewhere");
    assertThat(run(loaded.countDocuments(Filters.gte("n", 0)))).isEqualTo(300);
    assertThat(run(collection.find(Filters.eq(1)).first())).containsEntry("n", 1);
  }

  /**
   * The documents of several shards must be merged by distance, so a mongos executes these finds.
   */
  @Test
  void mongosExecutesFindsByDistanceOverSeveralShards() {
    MongoCollection<Document> loaded = located();
    MongoCollection<Document> collection =
        withoutMongos
            .getDatabase(cluster.database())
            .getCollection(loaded.getNamespace().getCollectionName());
    List<Bson> near =
        List.of(
            Filters.nearSphere("at", new Point(new Position(0, 0)), null, null),
            Filters.near("at", new Point(new Position(0, 0)), null, null),
            Filters.and(
                Filters.gte("n", 0),
                Filters.and(Filters.nearSphere("at", new Point(new Position(0, 0)), null, null))),
            Document.parse("{flat: {$near: [0, 0], $maxDistance: 300}}"),
            Document.parse("{at: {$geoNear: {type: 'Point', coordinates: [0, 0]}}}"));

    for (Bson filter : near) {
      double before = handedOver();
      // The stand-in router refuses this find.
      assertThatThrownBy(() -> all(loaded.find(filter).limit(10)))
          .isInstanceOf(MongoCommandException.class);
      assertThat(handedOver() - before).isEqualTo(1);
      assertRefused("find over several shards", () -> all(collection.find(filter).limit(10)));
      // This find is sorted by a field, so the stand-in router can merge the shards' documents.
      assertThat(
              all(loaded.find(filter).sort(Sorts.descending("n")).limit(10)).stream()
                  .map(found -> found.getInteger("n")))
          .containsExactlyElementsOf(IntStream.iterate(299, i -> i - 1).limit(10).boxed().toList());
      // One shard owns all these documents, so direct mode sends the find to it. The shard returns
      // them in the order of their distance.
      assertThat(
              all(collection.find(Filters.and(Filters.in("_id", 150, 199, 101), filter)).limit(2))
                  .stream()
                  .map(found -> found.getInteger("n")))
          .containsExactly(199, 150);
    }
    Bson nearest =
        Document.parse(
            "{$geoNear: {near: {type: 'Point', coordinates: [0, 0]}, distanceField: 'far'}}");
    assertRefused(
        "aggregate over several shards", () -> all(collection.aggregate(List.of(nearest))));
  }

  /**
   * A mongos executes these commands, because a shard would join only its own part of the sharded
   * collection.
   */
  @Test
  void mongosReadsViewsThatJoinShardedCollections() {
    String sharded = loaded().getNamespace().getCollectionName();
    MongoDatabase database = client.getDatabase(cluster.database());
    String base = "single" + ++collections;
    run(database.getCollection(base).insertOne(new Document("_id", 1)));
    run(
        database.createView(
            base + "view", base, List.of(Aggregates.lookup(sharded, "_id", "_id", "found"))));
    double before = handedOver();

    assertThat(run(database.getCollection(base).find().first())).isNotNull();
    assertThat(handedOver() - before).isZero();
    assertThat(run(database.getCollection(base + "view").find().first())).isNotNull();
    assertThat(run(database.getCollection(base + "view").countDocuments())).isEqualTo(1);
    assertThat(handedOver() - before).isEqualTo(2);
    assertRefused(
        "a view",
        () ->
            run(
                withoutMongos
                    .getDatabase(cluster.database())
                    .getCollection(base + "view")
                    .find()
                    .first()));
  }

  @Test
  void mongosReadsViewsOfShardedCollections() {
    String base = loaded().getNamespace().getCollectionName();
    MongoDatabase database = client.getDatabase(cluster.database());
    run(database.createView(base + "view", base, List.of()));
    MongoCollection<Document> view = database.getCollection(base + "view");
    MongoCollection<Document> same =
        withoutMongos.getDatabase(cluster.database()).getCollection(base + "view");

    // At the second attempt, the table is loaded, so the command could be forwarded without
    // decoding.
    for (int i = 0; i < 2; i++) {
      double before = handedOver();
      assertThatThrownBy(() -> run(view.find(Filters.eq(5)).first()))
          .isInstanceOf(MongoCommandException.class);
      assertThat(handedOver() - before).isEqualTo(1);
      assertRefused("a view", () -> run(same.find(Filters.eq(5)).first()));
    }
    assertRefused("a view", () -> run(same.countDocuments()));
    assertRefused("a view", () -> run(same.estimatedDocumentCount()));
    assertRefused("a view", () -> all(same.distinct("n", Integer.class)));
  }

  private static Map<String, List<Bson>> pipelines() {
    return Map.of(
        "$lookup", List.of(Aggregates.lookup("other", "n", "_id", "found")),
        "$out", List.of(Aggregates.match(Filters.eq(5)), Aggregates.out("elsewhere")),
        "$merge", List.of(Aggregates.match(Filters.eq(5)), Aggregates.merge("elsewhere")),
        "$graphLookup", List.of(Aggregates.graphLookup("other", "$n", "n", "_id", "found")),
        "$unionWith", List.of(Aggregates.unionWith("other", List.of())),
        "aggregate over several shards",
            List.of(Aggregates.group("$even", Accumulators.sum("sum", "$n"))));
  }

  private static void assertRefused(String what, Runnable operation) {
    assertThatThrownBy(operation::run)
        .as(what)
        .isInstanceOfSatisfying(MongoException.class, e -> assertThat(e.getCode()).isEqualTo(115))
        .hasMessageContaining(what)
        .hasMessageContaining(
            "needs a mongos in direct mode, but the URI names config servers" + " only")
        .hasMessageContaining("config servers");
  }

  private static double handedOver() {
    return meters.get("onehop.fallbacks").tags("reason", "handed-over").counter().count();
  }

  private static void inTransaction(
      Function<ClientSession, Publisher<?>> statements, boolean commit) {
    Mono.usingWhen(
            client.startSession(),
            session -> {
              session.startTransaction();
              return Flux.from(statements.apply(session))
                  .then(
                      Mono.defer(
                          () ->
                              Mono.from(
                                  commit
                                      ? session.commitTransaction()
                                      : session.abortTransaction())));
            },
            session -> Mono.fromRunnable(session::close))
        .block(TIMEOUT);
  }

  /** A new collection with a third of its documents on each shard. */
  private static MongoCollection<Document> loaded() {
    String name = "handover" + ++collections;
    testbed.shardCollection(
        cluster.namespace(name),
        new BsonDocument("_id", new BsonInt32(1)),
        IntStream.of(100, 200).mapToObj(i -> new BsonDocument("_id", new BsonInt32(i))).toList());
    MongoCollection<Document> collection =
        client.getDatabase(cluster.database()).getCollection(name);
    run(
        collection.insertMany(
            IntStream.range(0, 300)
                .mapToObj(i -> new Document("_id", i).append("n", i).append("even", i % 2 == 0))
                .toList()));
    return collection;
  }

  /**
   * A collection like {@link #loaded} whose documents have a place. The greater the {@code _id},
   * the nearer the place is to the origin.
   */
  private static MongoCollection<Document> located() {
    MongoCollection<Document> collection = loaded();
    run(
        collection.updateMany(
            new Document(),
            List.of(
                Document.parse(
                    """
                    {$set: {flat: [{$divide: [{$subtract: [299, '$_id']}, 10]}, {$literal: 0}]}}\
                    """),
                Document.parse("{$set: {at: {type: 'Point', coordinates: '$flat'}}}"))));
    run(collection.createIndex(Indexes.geo2dsphere("at")));
    run(collection.createIndex(Indexes.geo2d("flat")));
    return collection;
  }

  private static <T> List<T> all(Publisher<T> operation) {
    return Flux.from(operation).collectList().block(TIMEOUT);
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
