package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoWriteException;
import com.mongodb.ReadConcern;
import com.mongodb.WriteConcern;
import com.mongodb.bulk.BulkWriteError;
import com.mongodb.client.model.Accumulators;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.Collation;
import com.mongodb.client.model.CountOptions;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.Projections;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.Sorts;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.WriteModel;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.transport.PipeliningMeters;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.Topology;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;
import org.bson.RawBsonDocument;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The official interface on direct mode: every kind of operation on real shards. */
class DirectModeIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final Duration MONGOS_KNOWS_SHARDS = Duration.ofSeconds(45);
  private static final int DOCUMENTS = 300;
  private static final int RANDOM_FINDS = Integer.getInteger("onehop.it.finds", 2_000);

  /** Enough for several batches of each shard; more only take longer to be sent. */
  private static final int FOUND_AMONG = 240;

  private static Testbed testbed;
  private static MongoClient client;
  private static int collections;

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(Topology.named("single-host")).start();
    client = OneHop.builder(testbed.url()).routing(RoutingMode.DIRECT).reactiveClient();
  }

  @AfterAll
  static void stop() {
    if (client != null) {
      client.close();
    }
    if (testbed != null) {
      testbed.close();
    }
  }

  @Test
  void operationsOnOneDocument() {
    MongoCollection<Document> collection = loaded();

    assertThat(read(collection, 7)).containsEntry("n", 7);
    assertThat(run(collection.updateOne(Filters.eq(7), Updates.inc("n", 1))).getModifiedCount())
        .isEqualTo(1);
    assertThat(
            run(
                collection.findOneAndUpdate(
                    Filters.eq(7),
                    Updates.inc("n", 1),
                    new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER))))
        .containsEntry("n", 9);
    assertThat(
            run(collection.replaceOne(
                    Filters.eq(1_000), new Document("n", 1), new ReplaceOptions().upsert(true)))
                .getUpsertedId())
        .isEqualTo(new BsonInt32(1_000));
    assertThat(run(collection.deleteOne(Filters.eq(1_000))).getDeletedCount()).isEqualTo(1);
    assertThat(run(collection.deleteOne(Filters.eq(1_000))).getDeletedCount()).isZero();
    assertThat(run(collection.updateOne(Filters.eq("n", 9), Updates.set("x", 1))).getMatchedCount())
        .isEqualTo(1);
    assertThatThrownBy(() -> run(collection.insertOne(new Document("_id", 7))))
        .isInstanceOf(MongoWriteException.class)
        .hasMessageContaining("duplicate key");
  }

  /** The driver does not look into raw documents, and the shard key is the _id. */
  @Test
  void documentsWithoutAnIdAreFoundWhereTheirIdLeads() {
    MongoCollection<Document> collection = loaded();

    run(
        collection
            .withDocumentClass(RawBsonDocument.class)
            .insertMany(
                List.of(
                    RawBsonDocument.parse("{raw: 1}"),
                    RawBsonDocument.parse("{raw: 2, multi: true}"))));

    List<Document> found = all(collection.find(Filters.exists("raw")));
    assertThat(found).extracting(each -> each.get("raw")).containsExactlyInAnyOrder(1, 2);
    assertThat(found)
        .allSatisfy(
            each ->
                assertThat(run(collection.find(Filters.eq(each.get("_id"))).first()))
                    .isEqualTo(each));
  }

  @Test
  void aWriteThatNobodyWaitsForIsDoneWhereItBelongs() throws InterruptedException {
    MongoCollection<Document> collection = loaded();

    run(
        collection
            .withWriteConcern(WriteConcern.UNACKNOWLEDGED)
            .updateOne(Filters.eq(8), Updates.set("n", -1)));
    for (int i = 0; i < 100 && read(collection, 8).getInteger("n") != -1; i++) {
      Thread.sleep(20);
    }
    assertThat(read(collection, 8)).containsEntry("n", -1);
  }

  @Test
  void aClientThatIsClosedWhileItIsAskedLosesNoBuffer() {
    MongoCollection<Document> collection = loaded();
    try (LeakWatch leaks = LeakWatch.start()) {
      for (int i = 0; i < 5; i++) {
        MongoClient closed =
            OneHop.builder(testbed.url()).routing(RoutingMode.DIRECT).reactiveClient();
        MongoCollection<Document> here =
            closed
                .getDatabase(collection.getNamespace().getDatabaseName())
                .getCollection(collection.getNamespace().getCollectionName());
        read(here, 7);
        Mono.from(here.find(Filters.and(Filters.eq(7), Filters.where("sleep(1000) || true"))))
            .onErrorComplete()
            .subscribe();
        Mono.delay(Duration.ofMillis(300)).block();
        closed.close();
      }
      assertThat(leaks.leaks()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void bulkWritesKeepTheCallersIndexes(boolean ordered) {
    MongoCollection<Document> collection = loaded();
    List<WriteModel<Document>> models = new ArrayList<>();
    for (int i = 0; i < DOCUMENTS; i++) {
      models.add(new UpdateOneModel<>(Filters.eq(i), Updates.inc("n", 1)));
    }
    models.add(new InsertOneModel<>(new Document("_id", 250)));
    models.add(new InsertOneModel<>(new Document("_id", 1)));
    models.add(new InsertOneModel<>(new Document("_id", 1_001)));
    models.add(
        new UpdateOneModel<>(
            Filters.eq(1_002), Updates.set("n", 1), new UpdateOptions().upsert(true)));
    models.add(new DeleteOneModel<>(Filters.eq(0)));

    assertThatThrownBy(
            () -> run(collection.bulkWrite(models, new BulkWriteOptions().ordered(ordered))))
        .isInstanceOfSatisfying(
            MongoBulkWriteException.class,
            e -> {
              assertThat(e.getWriteResult().getModifiedCount()).isEqualTo(DOCUMENTS);
              assertThat(e.getWriteErrors())
                  .extracting(BulkWriteError::getIndex)
                  .containsExactlyElementsOf(
                      ordered ? List.of(DOCUMENTS) : List.of(DOCUMENTS, DOCUMENTS + 1));
              assertThat(e.getWriteResult().getInsertedCount()).isEqualTo(ordered ? 0 : 1);
              assertThat(e.getWriteResult().getUpserts()).hasSize(ordered ? 0 : 1);
            });
    assertThat(run(collection.countDocuments())).isEqualTo(ordered ? DOCUMENTS : DOCUMENTS + 1);
  }

  @Test
  void operationsOnSeveralShardsGiveWholeAnswers() {
    MongoCollection<Document> collection = loaded();

    assertThat(run(collection.countDocuments())).isEqualTo(DOCUMENTS);
    assertThat(run(collection.countDocuments(Filters.gte("n", 50), new CountOptions().skip(10))))
        .isEqualTo(DOCUMENTS - 60);
    assertThat(run(collection.estimatedDocumentCount())).isEqualTo(DOCUMENTS);
    assertThat(run(collection.find(Filters.lt("n", 290)).batchSize(7).sort(Sorts.descending("n"))))
        .hasSize(290)
        .isSortedAccordingTo((a, b) -> b.getInteger("n") - a.getInteger("n"));
    assertThat(all(collection.distinct("even", Boolean.class))).containsExactly(false, true);
    assertThat(
            all(
                collection.aggregate(
                    List.of(
                        Aggregates.match(Filters.gte("n", 100)),
                        Aggregates.project(Projections.include("n"))))))
        .hasSize(200);
    assertThat(run(collection.updateMany(Filters.lt("n", 250), Updates.set("x", 1))))
        .matches(updated -> updated.getModifiedCount() == 250);
    assertThat(run(collection.deleteMany(Filters.gte("n", 50))).getDeletedCount())
        .isEqualTo(DOCUMENTS - 50);
  }

  /** A stand-in is no mongos: it refuses what it can't do, and so does direct mode by way of it. */
  @Test
  void whatOnlyAMongosCanDoIsRefusedWithoutOne() {
    MongoCollection<Document> collection = loaded();
    String shards = "mongodb://" + testbed.configServers().replaceFirst(".*/", "");
    try (MongoClient onConfigServers =
        OneHop.builder(shards).routing(RoutingMode.DIRECT).reactiveClient()) {
      MongoCollection<Document> same = onConfigServers.getDatabase("it").getCollection(name());
      assertThat(read(same, 5)).containsEntry("n", 5);
      for (List<Bson> pipeline :
          List.<List<Bson>>of(
              List.of(Aggregates.match(Filters.eq(5)), Aggregates.out("elsewhere")),
              List.of(
                  Aggregates.match(Filters.eq(5)), Aggregates.lookup("other", "n", "_id", "found")),
              List.of(Aggregates.group("$even", Accumulators.sum("sum", "$n"))))) {
        assertThatThrownBy(() -> all(same.aggregate(pipeline)))
            .isInstanceOf(MongoCommandException.class)
            .hasMessageContaining("mongos");
      }
      assertThatThrownBy(() -> run(same.drop())).hasMessageContaining("the command drop");
      assertThatThrownBy(() -> all(same.watch())).hasMessageContaining("$changeStream");
      assertThatThrownBy(() -> inTransaction(onConfigServers, session -> same.find(session)))
          .hasMessageContaining("a transaction");
    }
    assertThat(read(collection, 5)).containsEntry("n", 5);
  }

  @Test
  void aConfigServerIsNotTakenForTheCluster() {
    MongoCollection<Document> collection = loaded();
    String shards = "mongodb://" + testbed.configServers().replaceFirst(".*/", "");
    try (MongoClient onConfigServers =
        OneHop.builder(shards).routing(RoutingMode.DIRECT).reactiveClient()) {
      List<String> names = all(onConfigServers.listDatabaseNames());
      assertThat(names).contains("it", "admin", "config").doesNotContain("local");
      // A mongos names admin and config, which the config servers have, and what the shards have
      // that it knows of. It may have started before they were added, and reads every half minute
      // which there are.
      await()
          .atMost(MONGOS_KNOWS_SHARDS)
          .untilAsserted(() -> assertThat(all(client.listDatabaseNames())).isEqualTo(names));
      MongoDatabase admin = onConfigServers.getDatabase("admin");
      assertThat(run(admin.runCommand(new Document("ping", 1)))).containsEntry("ok", 1.0);
      for (String command : List.of("replSetGetStatus", "currentOp", "top")) {
        assertThatThrownBy(() -> run(admin.runCommand(new Document(command, 1))))
            .isInstanceOf(MongoCommandException.class)
            .hasMessageContaining("the command " + command + " on admin")
            .hasMessageContaining("config servers");
      }
      MongoDatabase config = onConfigServers.getDatabase("config");
      assertThat(run(config.getCollection("shards").countDocuments())).isEqualTo(3);
      assertThatThrownBy(() -> run(config.getCollection("system.sessions").countDocuments()))
          .isInstanceOf(MongoCommandException.class);
    }
    assertThat(read(collection, 5)).containsEntry("n", 5);
  }

  @Test
  void transactionsAndChangeStreamsAreTheMongosBusiness() {
    MongoCollection<Document> collection = loaded();
    BsonDocument beginning =
        run(client.getDatabase("admin").runCommand(new Document("ping", 1), BsonDocument.class));

    inTransaction(
        client,
        session ->
            Flux.concat(
                collection.updateOne(session, Filters.eq(1), Updates.set("n", -1)),
                collection.updateOne(session, Filters.eq(299), Updates.set("n", -2)),
                collection.find(session).sort(Sorts.ascending("n")).batchSize(2).limit(9)));

    assertThat(read(collection, 1)).containsEntry("n", -1);
    assertThat(read(collection, 299)).containsEntry("n", -2);
    List<Integer> seen =
        Flux.from(
                collection
                    .watch(List.of(Aggregates.match(Filters.eq("operationType", "update"))))
                    .startAtOperationTime(beginning.getTimestamp("operationTime")))
            .map(event -> event.getDocumentKey().getInt32("_id").getValue())
            .take(2)
            .collectList()
            .block(TIMEOUT);
    assertThat(seen).containsExactlyInAnyOrder(1, 299);
  }

  private static void inTransaction(
      MongoClient client, Function<ClientSession, Publisher<?>> statements) {
    Mono.usingWhen(
            client.startSession(),
            session -> {
              session.startTransaction();
              return Flux.from(statements.apply(session))
                  .then(Mono.defer(() -> Mono.from(session.commitTransaction())));
            },
            session -> Mono.fromRunnable(session::close))
        .block(TIMEOUT);
  }

  @Test
  void cursorsOfMetadataAreReadToTheirEnd() {
    MongoCollection<Document> collection = loaded();
    for (String field : List.of("a", "b", "c", "d")) {
      run(collection.createIndex(Indexes.ascending(field)));
    }

    assertThat(all(collection.listIndexes().batchSize(2))).hasSize(5);
    String prefix = name() + "other";
    for (int i = 0; i < 4; i++) {
      run(client.getDatabase("it").createCollection(prefix + i));
    }
    assertThat(all(client.getDatabase("it").listCollections().batchSize(2)))
        .filteredOn(found -> found.getString("name").startsWith(prefix))
        .hasSize(4);
  }

  @Test
  void explainShowsTheHop() {
    MongoCollection<Document> collection = loaded();

    Document one = run(collection.find(Filters.eq(7)).explain());
    assertThat(plan(one)).containsEntry("stage", "SINGLE_SHARD");
    assertThat(one.get("route", Document.class))
        .containsEntry("hop", "direct")
        .containsEntry("servers", List.of("127.30.0.1:27018"));
    Document several = run(collection.find(Filters.gte("n", 7)).explain());
    assertThat(plan(several)).containsEntry("stage", "SHARD_MERGE");
    assertThat(plan(several).getList("shards", Document.class)).hasSize(3);
  }

  @Test
  void findsEqualThoseOfAnUnshardedCollection() {
    Random random = new Random(42);
    List<Document> documents =
        IntStream.range(0, FOUND_AMONG)
            .mapToObj(
                i ->
                    new Document("_id", i)
                        .append("a", value(random))
                        .append("b", random.nextInt(20))
                        // Not another array: a sort by two of them is refused.
                        .append("c", new Document("d", random.nextInt(9)).append("e", i % 7)))
            .toList();
    String sharded = sharded(FOUND_AMONG / 3, 2 * FOUND_AMONG / 3);
    MongoCollection<Document> many = client.getDatabase("it").getCollection(sharded);
    MongoCollection<Document> one = client.getDatabase("it").getCollection(sharded + "one");
    run(many.insertMany(documents));
    run(one.insertMany(documents));

    Flux.range(0, RANDOM_FINDS)
        .flatMapSequential(
            i -> {
              RandomFind find = RandomFind.of(new Random(i));
              return Mono.zip(
                      Flux.from(find.on(many)).collectList(), Flux.from(find.on(one)).collectList())
                  .doOnNext(
                      both -> assertThat(both.getT1()).as("%s", find).isEqualTo(both.getT2()));
            },
            16)
        .blockLast(Duration.ofMinutes(5));
  }

  /** More than a message can hold. */
  @Test
  void largeDocumentsOfSeveralShardsAreReadInSeveralBatches() {
    MongoCollection<Document> collection = loaded();
    for (int i = 0; i < DOCUMENTS; i += 20) {
      run(collection.updateOne(Filters.eq(i), Updates.set("large", new byte[4 * 1024 * 1024])));
    }

    assertThat(
            Flux.from(collection.find(Filters.exists("large")).sort(Sorts.descending("n")))
                .map(found -> found.getInteger("n"))
                .collectList()
                .block(TIMEOUT))
        .hasSize(DOCUMENTS / 20)
        .isSortedAccordingTo((a, b) -> b - a);
    assertThat(Flux.from(collection.find()).map(found -> 1).count().block(TIMEOUT))
        .isEqualTo(DOCUMENTS);
  }

  @Test
  void textIsFoundInTheOrderOfItsScore() {
    MongoCollection<Document> collection = loaded();
    run(collection.createIndex(Indexes.text("text")));
    for (int i = 0; i < DOCUMENTS; i += 10) {
      // Another score each, and the best ones on all shards.
      String text = "hop " + "filler ".repeat(i / 10 * 7 % 30);
      run(collection.updateOne(Filters.eq(i), Updates.set("text", text)));
    }

    List<Document> found =
        all(
            collection
                .find(Filters.text("hop"))
                .projection(Projections.metaTextScore("score"))
                .sort(Sorts.metaTextScore("score")));

    assertThat(found)
        .hasSize(DOCUMENTS / 10)
        .isSortedAccordingTo((a, b) -> Double.compare(b.getDouble("score"), a.getDouble("score")));
    assertThat(
            all(collection.find(Filters.text("hop")).sort(Sorts.metaTextScore("s")).limit(10))
                .stream()
                .map(each -> each.get("_id")))
        .containsExactlyElementsOf(found.stream().limit(10).map(each -> each.get("_id")).toList());
  }

  /** The shards then tell the collation's keys to merge by, which are no text. */
  @Test
  void sortsUnderACollationEqualThoseOfAnUnshardedCollection() {
    MongoCollection<Document> many = loaded();
    MongoCollection<Document> one = client.getDatabase("it").getCollection(name() + "one");
    List<Document> documents = new ArrayList<>();
    Random random = new Random(7);
    for (int i = 0; i < DOCUMENTS; i++) {
      String text =
          new StringBuilder()
              .appendCodePoint((i % 2 == 0 ? 0x4E00 : 0x100) + random.nextInt(0x800))
              .append(random.nextInt(3))
              .toString();
      documents.add(new Document("_id", i).append("text", text));
    }
    run(many.deleteMany(new Document()));
    run(many.insertMany(documents));
    run(one.insertMany(documents));

    for (String locale : List.of("zh", "de", "simple")) {
      for (int direction : List.of(1, -1)) {
        Function<MongoCollection<Document>, List<Document>> find =
            collection ->
                all(
                    collection
                        .find()
                        .sort(new Document("text", direction).append("_id", 1))
                        .collation(Collation.builder().locale(locale).build()));
        assertThat(find.apply(many)).isEqualTo(find.apply(one));
      }
    }
  }

  private record RandomFind(
      Bson filter, Bson sort, int skip, int limit, Bson projection, int batchSize) {
    static RandomFind of(Random random) {
      Bson filter =
          switch (random.nextInt(6)) {
            case 0 -> new Document();
            case 1 -> Filters.eq("b", random.nextInt(20));
            case 2 -> Filters.gte("_id", random.nextInt(FOUND_AMONG));
            case 3 ->
                Filters.in(
                    "_id",
                    random.nextInt(FOUND_AMONG),
                    random.nextInt(FOUND_AMONG),
                    FOUND_AMONG - 1);
            case 4 -> Filters.lt("c.e", random.nextInt(7));
            default ->
                Filters.or(
                    Filters.eq("a", value(random)), Filters.lt("_id", random.nextInt(FOUND_AMONG)));
          };
      // Ties are broken by _id, as nothing else makes the order of two servers the same.
      List<String> fields = new ArrayList<>(List.of("a", "b", "c", "c.d", "c.e", "missing"));
      java.util.Collections.shuffle(fields, random);
      Document sort = new Document();
      for (String field : fields.subList(0, random.nextInt(3))) {
        if (!(field.equals("c") && (sort.containsKey("c.d") || sort.containsKey("c.e")))
            && !(field.startsWith("c.") && sort.containsKey("c"))) {
          sort.append(field, random.nextBoolean() ? 1 : -1);
        }
      }
      sort.append("_id", random.nextBoolean() ? 1 : -1);
      Bson projection =
          switch (random.nextInt(5)) {
            case 0 -> Projections.include("a", "c.e");
            case 1 -> Projections.exclude("a", "b");
            case 2 -> Projections.fields(Projections.include("b"), Projections.excludeId());
            case 3 -> Projections.fields(Projections.include("a"), Projections.computed("x", "$b"));
            default -> new Document();
          };
      return new RandomFind(
          filter,
          sort,
          random.nextBoolean() ? random.nextInt(40) : 0,
          random.nextBoolean() ? random.nextInt(80) : 0,
          projection,
          random.nextBoolean() ? 1 + random.nextInt(40) : 0);
    }

    FindPublisher<Document> on(MongoCollection<Document> collection) {
      return collection
          .find(filter)
          .sort(sort)
          .skip(skip)
          .limit(limit)
          .projection(projection)
          .batchSize(batchSize);
    }
  }

  private static Object value(Random random) {
    return switch (random.nextInt(9)) {
      case 0 -> random.nextInt(5);
      case 1 -> random.nextInt(5) + 0.5;
      case 2 -> (long) random.nextInt(5);
      case 3 -> "s" + random.nextInt(5);
      case 4 -> null;
      case 5 -> random.nextBoolean();
      case 6 -> new Document("x", random.nextInt(3));
      case 7 -> List.of(random.nextInt(5), random.nextInt(5));
      default -> new BsonDateTime(random.nextInt(5));
    };
  }

  @Test
  void readsUnderEveryReadConcern() {
    MongoCollection<Document> collection = loaded();

    for (ReadConcern concern :
        List.of(ReadConcern.LOCAL, ReadConcern.MAJORITY, ReadConcern.LINEARIZABLE)) {
      assertThat(read(collection.withReadConcern(concern), 9)).containsEntry("n", 9);
    }
  }

  @Test
  void manyOperationsShareFewSockets() {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    MongoCollection<Document> plain = loaded();
    try (MongoClient pipelined =
        OneHop.builder(testbed.url())
            .routing(RoutingMode.DIRECT)
            .meterRegistry(meters)
            .pipelining(sockets -> sockets.socketsPerServer(2))
            .reactiveClient()) {
      MongoCollection<Document> same =
          pipelined.getDatabase("it").getCollection(plain.getNamespace().getCollectionName());

      long changed =
          Flux.range(0, 3 * DOCUMENTS)
              .flatMap(i -> same.updateOne(Filters.eq(i % DOCUMENTS), Updates.inc("n", 1_000)), 100)
              .filter(result -> result.getModifiedCount() == 1)
              .count()
              .block(TIMEOUT);
      assertThat(changed).isEqualTo(3 * DOCUMENTS);
      List<Integer> read =
          Flux.range(0, DOCUMENTS)
              .flatMapSequential(i -> same.find(Filters.eq(i)).first(), 100)
              .map(document -> document.getInteger("n"))
              .collectList()
              .block(TIMEOUT);
      assertThat(read).isEqualTo(IntStream.range(0, DOCUMENTS).mapToObj(i -> i + 3_000).toList());
      // Cursors on all shards, which take sockets of their own.
      assertThat(all(same.find().sort(Sorts.descending("n")).batchSize(10)))
          .extracting(document -> document.getInteger("_id"))
          .isEqualTo(IntStream.range(0, DOCUMENTS).mapToObj(i -> DOCUMENTS - 1 - i).toList());
      run(
          same.withWriteConcern(WriteConcern.UNACKNOWLEDGED)
              .updateOne(Filters.eq(5), Updates.set("unacknowledged", true)));
      await().atMost(TIMEOUT).until(() -> read(same, 5).containsKey("unacknowledged"));

      // To three shards, the config server and a mongos.
      assertThat(gauges(meters, PipeliningMeters.SOCKETS, "shared")).isBetween(3.0, 10.0);
    }
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> {
              assertThat(gauges(meters, PipeliningMeters.SOCKETS, null)).isZero();
            });
  }

  private static double gauges(MeterRegistry meters, PipeliningMeters meter, String use) {
    return meters.find(meter.meterName()).gauges().stream()
        .filter(gauge -> use == null || use.equals(gauge.getId().getTag("use")))
        .mapToDouble(Gauge::value)
        // What it counted is gone, client and all.
        .filter(value -> !Double.isNaN(value))
        .sum();
  }

  private static Document plan(Document explained) {
    return explained.get("queryPlanner", Document.class).get("winningPlan", Document.class);
  }

  private static String name() {
    return "direct" + collections;
  }

  private static String sharded(int... points) {
    collections++;
    testbed.shardCollection(
        "it." + name(),
        new BsonDocument("_id", new BsonInt32(1)),
        IntStream.of(points).mapToObj(i -> new BsonDocument("_id", new BsonInt32(i))).toList());
    return name();
  }

  /** A new collection with a third of its documents on each shard. */
  private static MongoCollection<Document> loaded() {
    MongoCollection<Document> collection =
        client.getDatabase("it").getCollection(sharded(100, 200));
    run(
        collection.insertMany(
            IntStream.range(0, DOCUMENTS)
                .mapToObj(i -> new Document("_id", i).append("n", i).append("even", i % 2 == 0))
                .toList()));
    return collection;
  }

  private static Document read(MongoCollection<Document> collection, int id) {
    return run(collection.find(Filters.eq(id)).first());
  }

  private static List<Document> run(FindPublisher<Document> find) {
    return all(find);
  }

  private static <T> List<T> all(Publisher<T> operation) {
    return Flux.from(operation).collectList().block(TIMEOUT);
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
