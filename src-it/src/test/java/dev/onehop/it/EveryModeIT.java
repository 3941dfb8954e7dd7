package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoWriteException;
import com.mongodb.ReadConcern;
import com.mongodb.WriteConcern;
import com.mongodb.bulk.BulkWriteError;
import com.mongodb.client.ClientSession;
import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoChangeStreamCursor;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.MongoIterable;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.Collation;
import com.mongodb.client.model.CountOptions;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.Projections;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.Sorts;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.WriteModel;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import dev.onehop.it.clients.Mode;
import dev.onehop.it.clients.RoutedModes;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.clients.Driver;
import dev.onehop.routing.transport.PipeliningMeters;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;
import org.bson.RawBsonDocument;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** Every kind of operation of the driver's interface, on real shards, in every mode. */
@ShardedCluster
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class EveryModeIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int DOCUMENTS = 300;
  private static final int RANDOM_FINDS =
      Integer.getInteger("onehop.it.finds", RoutedModes.FULL ? 500 : 150);

  /** The number of documents for the finds. It is enough for several batches per shard. */
  private static final int FIND_DOCUMENTS = 240;

  private static SharedCluster cluster;

  private MongoDatabase database;
  private MongoClient client;

  /** The collection has a third of its documents on each shard. */
  private MongoCollection<Document> collection;

  @BeforeAll
  static void load(SharedCluster shared) {
    cluster = shared;
    System.setProperty("onehop.it.server", cluster.testbed().server().mongodVersion());
    cluster.shardCollection("numbered", Numbered.KEY, Numbered.splitAt(100, 200));
    cluster.shardCollection("large", Numbered.KEY, Numbered.splitAt(100, 200));
    cluster.shardCollection(
        "many", Numbered.KEY, Numbered.splitAt(FIND_DOCUMENTS / 3, 2 * FIND_DOCUMENTS / 3));
    try (MongoClient plain = MongoClients.create(cluster.url())) {
      MongoDatabase database = plain.getDatabase(cluster.database());
      List<Document> random = randomDocuments();
      database.getCollection("many").insertMany(random);
      database.getCollection("one").insertMany(random);
      for (Document document : Numbered.documents(DOCUMENTS)) {
        if (document.getInteger("_id") % 20 == 0) {
          document.append("large", new byte[4 * 1024 * 1024]);
        }
        database.getCollection("large").insertOne(document);
      }
    }
  }

  @BeforeEach
  void connect(MongoClient ofMode) {
    client = ofMode;
    database = client.getDatabase(cluster.database());
    collection = database.getCollection("numbered");
    fill();
  }

  private void fill() {
    collection.deleteMany(new Document());
    collection.insertMany(
        IntStream.range(0, DOCUMENTS)
            .mapToObj(i -> id(i).append("n", i).append("even", i % 2 == 0))
            .toList());
  }

  @RoutedModes
  void operationsOnOneDocument() {
    assertThat(read(7)).containsEntry("n", 7);
    assertThat(collection.updateOne(Filters.eq(7), Updates.inc("n", 1)).getModifiedCount())
        .isEqualTo(1);
    assertThat(
            collection.findOneAndUpdate(
                Filters.eq(7),
                Updates.inc("n", 1),
                new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER)))
        .containsEntry("n", 9);
    assertThat(
            collection
                .replaceOne(
                    Filters.eq(1_000), new Document("n", 1), new ReplaceOptions().upsert(true))
                .getUpsertedId())
        .isEqualTo(new BsonInt32(1_000));
    assertThat(collection.deleteOne(Filters.eq(1_000)).getDeletedCount()).isEqualTo(1);
    assertThat(collection.deleteOne(Filters.eq(1_000)).getDeletedCount()).isZero();
    assertThat(collection.updateOne(Filters.eq("n", 9), Updates.set("x", 1)).getMatchedCount())
        .isEqualTo(1);
    assertThatThrownBy(() -> collection.insertOne(id(7)))
        .isInstanceOf(MongoWriteException.class)
        .hasMessageContaining("duplicate key");
  }

  /**
   * The driver adds no {@code _id} to raw documents, so OneHop or a mongos has to add it. The
   * {@code _id} is the shard key.
   */
  @RoutedModes
  void documentsWithoutIdAreFoundByAddedId() {
    collection
        .withDocumentClass(RawBsonDocument.class)
        .insertMany(
            List.of(
                RawBsonDocument.parse("{raw: 1}"), RawBsonDocument.parse("{raw: 2, multi: true}")));

    List<Document> found = all(collection.find(Filters.exists("raw")));
    assertThat(found).extracting(each -> each.get("raw")).containsExactlyInAnyOrder(1, 2);
    assertThat(found)
        .allSatisfy(
            each ->
                assertThat(collection.find(Filters.eq(each.get("_id"))).first()).isEqualTo(each));
  }

  @RoutedModes
  void executesUnacknowledgedWrite() {
    collection
        .withWriteConcern(WriteConcern.UNACKNOWLEDGED)
        .updateOne(Filters.eq(8), Updates.set("n", -1));

    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(read(8)).containsEntry("n", -1));
  }

  @RoutedModes
  void bulkWriteErrorsHaveCallersIndexes() {
    List<WriteModel<Document>> models = new ArrayList<>();
    for (int i = 0; i < DOCUMENTS; i++) {
      models.add(new UpdateOneModel<>(Filters.eq(i), Updates.inc("n", 1)));
    }
    models.add(new InsertOneModel<>(id(250)));
    models.add(new InsertOneModel<>(id(1)));
    models.add(new InsertOneModel<>(id(1_001)));
    models.add(
        new UpdateOneModel<>(
            Filters.eq(1_002), Updates.set("n", 1), new UpdateOptions().upsert(true)));
    models.add(new DeleteOneModel<>(Filters.eq(0)));

    for (boolean ordered : new boolean[] {true, false}) {
      fill();
      assertThatThrownBy(
              () -> collection.bulkWrite(models, new BulkWriteOptions().ordered(ordered)))
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
      assertThat(collection.countDocuments()).isEqualTo(ordered ? DOCUMENTS : DOCUMENTS + 1);
    }
  }

  @RoutedModes
  void operationsOnSeveralShardsReturnCompleteResults() {
    assertThat(collection.countDocuments()).isEqualTo(DOCUMENTS);
    assertThat(collection.countDocuments(Filters.gte("n", 50), new CountOptions().skip(10)))
        .isEqualTo(DOCUMENTS - 60);
    assertThat(collection.estimatedDocumentCount()).isEqualTo(DOCUMENTS);
    assertThat(all(collection.find(Filters.lt("n", 290)).batchSize(7).sort(Sorts.descending("n"))))
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
    assertThat(collection.updateMany(Filters.lt("n", 250), Updates.set("x", 1)).getModifiedCount())
        .isEqualTo(250);
    assertThat(collection.deleteMany(Filters.gte("n", 50)).getDeletedCount())
        .isEqualTo(DOCUMENTS - 50);
  }

  @RoutedModes
  void parallelCursorsReturnTheirOwnDocuments() {
    List<Integer> read =
        InParallel.call(12, 12, scan -> all(collection.find(onShard(scan % 3)).batchSize(7)))
            .stream()
            .flatMap(List::stream)
            .map(document -> document.getInteger("_id"))
            .sorted()
            .toList();

    assertThat(read)
        .isEqualTo(
            IntStream.range(0, DOCUMENTS)
                .flatMap(id -> IntStream.of(id, id, id, id))
                .boxed()
                .toList());
    assertThat(all(collection.find().batchSize(7)))
        .extracting(document -> document.getInteger("_id"))
        .containsExactlyInAnyOrderElementsOf(IntStream.range(0, DOCUMENTS).boxed().toList());
  }

  @RoutedModes
  void transactionsAreCommittedAndAborted() {
    try (ClientSession session = client.startSession()) {
      for (boolean commit : new boolean[] {true, false}) {
        session.startTransaction();
        for (int id : new int[] {250, 20, 120}) {
          collection.updateOne(session, Filters.eq(id), Updates.inc("n", 1_000));
        }
        if (commit) {
          session.commitTransaction();
        } else {
          session.abortTransaction();
        }
      }
      for (int id : new int[] {250, 20, 120}) {
        assertThat(collection.find(session, Filters.eq(id)).first()).containsEntry("n", id + 1_000);
      }
    }
  }

  @RoutedModes
  void unorderedBulkWriteContinuesAfterErrors() {
    assertThatThrownBy(
            () ->
                collection.insertMany(
                    List.of(id(1_000), id(150), id(-1), id(20)),
                    new InsertManyOptions().ordered(false)))
        .isInstanceOfSatisfying(
            MongoBulkWriteException.class,
            e -> {
              assertThat(e.getWriteResult().getInsertedCount()).isEqualTo(2);
              assertThat(e.getWriteErrors())
                  .extracting(BulkWriteError::getIndex)
                  .containsExactly(1, 3);
            });
  }

  @RoutedModes
  void transactionReadsItsWritesAndChangeStreamReturnsThem() {
    BsonDocument beginning =
        client.getDatabase("admin").runCommand(new Document("ping", 1), BsonDocument.class);

    try (ClientSession session = client.startSession()) {
      session.startTransaction();
      collection.updateOne(session, Filters.eq(1), Updates.set("n", -1));
      collection.updateOne(session, Filters.eq(299), Updates.set("n", -2));
      assertThat(all(collection.find(session).sort(Sorts.ascending("n")).batchSize(2).limit(9)))
          .extracting(found -> found.getInteger("n"))
          .containsExactly(-2, -1, 0, 2, 3, 4, 5, 6, 7);
      session.commitTransaction();
    }

    assertThat(read(1)).containsEntry("n", -1);
    assertThat(read(299)).containsEntry("n", -2);
    try (MongoChangeStreamCursor<ChangeStreamDocument<Document>> changes =
        collection
            .watch(List.of(Aggregates.match(Filters.eq("operationType", "update"))))
            .startAtOperationTime(beginning.getTimestamp("operationTime"))
            .cursor()) {
      assertThat(List.of(changedId(changes), changedId(changes))).containsExactlyInAnyOrder(1, 299);
    }
  }

  @RoutedModes
  void changeStreamReturnsWritesOfAllShards() {
    try (MongoChangeStreamCursor<ChangeStreamDocument<Document>> changes =
        collection
            .watch(List.of(Aggregates.match(Filters.eq("operationType", "insert"))))
            .cursor()) {
      fill();

      assertThat(IntStream.range(0, DOCUMENTS).mapToObj(i -> changedId(changes)).toList())
          .containsExactlyInAnyOrderElementsOf(IntStream.range(0, DOCUMENTS).boxed().toList());
    }
  }

  @RoutedModes
  void metadataCursorsReturnAllBatches(Mode mode) {
    collection.dropIndexes();
    for (String field : List.of("a", "b", "c", "d")) {
      collection.createIndex(Indexes.ascending(field));
    }

    assertThat(all(collection.listIndexes().batchSize(2))).hasSize(5);
    for (int i = 0; i < 4; i++) {
      database.createCollection(mode + "other" + i);
    }
    assertThat(all(database.listCollections().batchSize(2)))
        .filteredOn(found -> found.getString("name").startsWith(mode + "other"))
        .hasSize(4);
  }

  /** Each mode runs other random finds. */
  @RoutedModes
  void findsMatchThoseOfUnshardedCollection(Mode mode) {
    MongoCollection<Document> many = database.getCollection("many");
    MongoCollection<Document> one = database.getCollection("one");

    InParallel.call(
        16,
        RANDOM_FINDS,
        i -> {
          RandomFind find = RandomFind.of(new Random(31L * mode.name().hashCode() + i));
          assertThat(all(find.on(many))).as("%s", find).isEqualTo(all(find.on(one)));
          return null;
        });
  }

  private static List<Document> randomDocuments() {
    Random random = new Random(42);
    return IntStream.range(0, FIND_DOCUMENTS)
        .mapToObj(
            i ->
                id(i)
                    .append("a", value(random))
                    .append("b", random.nextInt(20))
                    // The value of c is no array, because servers refuse a sort by two arrays.
                    .append("c", new Document("d", random.nextInt(9)).append("e", i % 7)))
        .toList();
  }

  /** All documents together are larger than a message may be, so they need several batches. */
  @RoutedModes(mode = RoutingMode.DIRECT)
  void largeDocumentsOfSeveralShardsAreReadInSeveralBatches() {
    MongoCollection<Document> large = database.getCollection("large");

    assertThat(all(large.find(Filters.exists("large")).sort(Sorts.descending("n"))))
        .extracting(found -> found.getInteger("n"))
        .hasSize(DOCUMENTS / 20)
        .isSortedAccordingTo((a, b) -> b - a);
    assertThat(all(large.find()).size()).isEqualTo(DOCUMENTS);
  }

  @RoutedModes
  void sortsTextByScore() {
    collection.createIndex(Indexes.text("text"));
    for (int i = 0; i < DOCUMENTS; i += 10) {
      // The length of the text decides the score. The scores differ, and each shard has some of the
      // documents with the best scores.
      String text = "hop " + "filler ".repeat(i / 10 * 7 % 30);
      collection.updateOne(Filters.eq(i), Updates.set("text", text));
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
    assertThat(all(collection.find(Filters.text("hop")).sort(Sorts.metaTextScore("s")).limit(10)))
        .extracting(each -> each.get("_id"))
        .containsExactlyElementsOf(found.stream().limit(10).map(each -> each.get("_id")).toList());
  }

  /** For a merge under a collation, the shards return sort keys that are not text. */
  @RoutedModes
  void sortsWithCollationMatchThoseOfUnshardedCollection() {
    MongoCollection<Document> one = database.getCollection("texts");
    List<Document> documents = new ArrayList<>();
    Random random = new Random(7);
    for (int i = 0; i < DOCUMENTS; i++) {
      String text =
          new StringBuilder()
              .appendCodePoint((i % 2 == 0 ? 0x4E00 : 0x100) + random.nextInt(0x800))
              .append(random.nextInt(3))
              .toString();
      documents.add(id(i).append("text", text));
    }
    for (MongoCollection<Document> each : List.of(collection, one)) {
      each.deleteMany(new Document());
      each.insertMany(documents);
    }

    for (String locale : List.of("zh", "de", "simple")) {
      for (int direction : List.of(1, -1)) {
        Function<MongoCollection<Document>, List<Document>> find =
            each ->
                all(
                    each.find()
                        .sort(new Document("text", direction).append("_id", 1))
                        .collation(Collation.builder().locale(locale).build()));
        assertThat(find.apply(collection)).isEqualTo(find.apply(one)).hasSize(DOCUMENTS);
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
            case 2 -> Filters.gte("_id", random.nextInt(FIND_DOCUMENTS));
            case 3 ->
                Filters.in(
                    "_id",
                    random.nextInt(FIND_DOCUMENTS),
                    random.nextInt(FIND_DOCUMENTS),
                    FIND_DOCUMENTS - 1);
            case 4 -> Filters.lt("c.e", random.nextInt(7));
            default ->
                Filters.or(
                    Filters.eq("a", value(random)),
                    Filters.lt("_id", random.nextInt(FIND_DOCUMENTS)));
          };
      // Sorts by _id at the end. Otherwise two servers could return documents with equal values in
      // different orders.
      List<String> fields = new ArrayList<>(List.of("a", "b", "c", "c.d", "c.e", "missing"));
      Collections.shuffle(fields, random);
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

    FindIterable<Document> on(MongoCollection<Document> collection) {
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

  @RoutedModes
  void readsWithEveryReadConcern() {
    for (ReadConcern concern :
        List.of(ReadConcern.LOCAL, ReadConcern.MAJORITY, ReadConcern.LINEARIZABLE)) {
      assertThat(collection.withReadConcern(concern).find(Filters.eq(9)).first())
          .containsEntry("n", 9);
    }
  }

  @RoutedModes(driver = Driver.REACTIVE, pipelined = true)
  void manyOperationsShareFewSockets(Mode mode) {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (MongoClient pipelined =
        mode.client(
            mode.builder(cluster.url())
                .meterRegistry(meters)
                .pipelining(sockets -> sockets.socketsPerServer(2)))) {
      collection = pipelined.getDatabase(cluster.database()).getCollection("numbered");

      assertThat(
              InParallel.call(
                  100,
                  3 * DOCUMENTS,
                  i ->
                      collection
                          .updateOne(Filters.eq(i % DOCUMENTS), Updates.inc("n", 1_000))
                          .getModifiedCount()))
          .hasSize(3 * DOCUMENTS)
          .containsOnly(1L);
      assertThat(InParallel.call(100, DOCUMENTS, i -> read(i).getInteger("n")))
          .isEqualTo(IntStream.range(0, DOCUMENTS).mapToObj(i -> i + 3_000).toList());
      // This find has cursors on all shards, which need separate sockets.
      assertThat(all(collection.find().sort(Sorts.descending("n")).batchSize(10)))
          .extracting(document -> document.getInteger("_id"))
          .isEqualTo(IntStream.range(0, DOCUMENTS).mapToObj(i -> DOCUMENTS - 1 - i).toList());
      collection
          .withWriteConcern(WriteConcern.UNACKNOWLEDGED)
          .updateOne(Filters.eq(5), Updates.set("unacknowledged", true));
      await().atMost(TIMEOUT).until(() -> read(5).containsKey("unacknowledged"));

      // At least one socket to each server: in direct mode to three shards, the config server and a
      // mongos, in targeted mode to three mongoses.
      assertThat(gauges(meters, PipeliningMeters.SOCKETS, "shared")).isBetween(3.0, 10.0);
      MeterNames.assertListed(meters, 11);
    }
    await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(gauges(meters, PipeliningMeters.SOCKETS, null)).isZero());
  }

  private static double gauges(MeterRegistry meters, PipeliningMeters meter, String use) {
    return meters.find(meter.meterName()).gauges().stream()
        .filter(gauge -> use == null || use.equals(gauge.getId().getTag("use")))
        .mapToDouble(Gauge::value)
        // The gauges of a closed client have no value.
        .filter(value -> !Double.isNaN(value))
        .sum();
  }

  private static Bson onShard(int number) {
    return Filters.and(Filters.gte("_id", number * 100), Filters.lt("_id", number * 100 + 100));
  }

  private static int changedId(MongoChangeStreamCursor<ChangeStreamDocument<Document>> changes) {
    return changes.next().getDocumentKey().getInt32("_id").getValue();
  }

  private static Document id(int id) {
    return new Document("_id", id);
  }

  private Document read(int id) {
    return collection.find(Filters.eq(id)).first();
  }

  private static <T> List<T> all(MongoIterable<T> found) {
    return found.into(new ArrayList<>());
  }
}
