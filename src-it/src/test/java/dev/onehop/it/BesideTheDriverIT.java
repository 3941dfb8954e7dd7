package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoException;
import com.mongodb.ReadConcern;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.WriteModel;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The same operations on the plain driver and on ours, each on a collection of its own with the
 * same content: results, errors and what is stored are the same.
 */
@ParameterizedClass
@EnumSource(RoutingMode.class)
class BesideTheDriverIT {

  /** Three shards of one member, a mongos beside each and one beside the application. */
  static final Topology THREE_SHARDS =
      Topology.parse(
          "three-shards",
          """
          name: three-shards
          description: three shards on three hosts, each with a mongos, without any delay
          regions: [here]
          roundTrips:
            here <-> here: 0
          hosts:
            app: {region: here, address: 127.36.0.1}
            h1: {region: here, address: 127.36.1.1}
            h2: {region: here, address: 127.36.2.1}
            h3: {region: here, address: 127.36.3.1}
          client: app
          configServers: [app]
          shards:
            shard-1: [h1]
            shard-2: [h2]
            shard-3: [h3]
          mongos: [app, h1, h2, h3]
          """);

  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int PER_SHARD = 100;
  private static final int LOADED_PER_SHARD = 5;
  private static final int SCRIPTS = Integer.getInteger("onehop.it.scripts", 20);
  private static final int STEPS = 25;

  private static Testbed testbed;
  private static int collections;

  @Parameter private RoutingMode mode;

  private MongoClient plainClient;
  private MongoClient ourClient;
  private MongoCollection<Document> plain;
  private MongoCollection<Document> ours;

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(THREE_SHARDS).start();
  }

  @AfterAll
  static void stop() {
    if (testbed != null) {
      testbed.close();
    }
  }

  @BeforeEach
  void connect() {
    plainClient = MongoClients.create(testbed.url());
    ourClient = OneHop.builder(testbed.url()).routing(mode).reactiveClient();
    plain = sharded(plainClient);
    ours = sharded(ourClient);
    load(plain);
    load(ours);
  }

  @AfterEach
  void close() {
    plainClient.close();
    ourClient.close();
  }

  @Test
  void afterATransactionASessionGoesOnOnEveryShard() {
    try (ClientSession session = run(ourClient.startSession())) {
      for (boolean commit : new boolean[] {true, false}) {
        session.startTransaction();
        run(ours.updateOne(session, Filters.eq(0), Updates.inc("n", 1)));
        run(commit ? session.commitTransaction() : session.abortTransaction());

        for (int id : new int[] {100, 0, 200, 0, 100}) {
          assertThat(run(ours.find(session, Filters.eq(id)).first())).containsEntry("_id", id);
        }
      }
    }
  }

  @Test
  void sessionsGiveTheDriversResultsInAnyOrderOfOperations() {
    for (int seed = 0; seed < SCRIPTS; seed++) {
      load(plain);
      load(ours);
      List<String> expected = new SessionScript(plainClient, plain, seed).run();
      assertThat(new SessionScript(ourClient, ours, seed).run())
          .as("script of seed %d", seed)
          .isEqualTo(expected);
      assertThat(content(ours)).as("content after seed %d", seed).isEqualTo(content(plain));
    }
  }

  /** No shard has three members, so that every write ends in a write concern error. */
  @Test
  void aWriteConcernErrorStopsNoBulk() {
    MongoBulkWriteException failure =
        catchThrowableOfType(
            MongoBulkWriteException.class,
            () ->
                run(
                    ours.withWriteConcern(new WriteConcern(3))
                        .insertMany(
                            IntStream.of(10, 110, 210)
                                .mapToObj(id -> new Document("_id", id))
                                .toList())));

    assertThat(failure.getWriteResult().getInsertedCount()).isEqualTo(3);
    assertThat(failure.getWriteErrors()).isEmpty();
    assertThat(failure.getWriteConcernError()).isNotNull();
    assertThat(content(ours)).hasSize(3 * LOADED_PER_SHARD + 3);
  }

  @Test
  void bulksUnderAWriteConcernThatFailsGiveTheDriversResults() {
    for (WriteConcern concern :
        List.of(new WriteConcern(3), new WriteConcern(3, 100), new WriteConcern("elsewhere"))) {
      for (boolean ordered : new boolean[] {true, false}) {
        for (boolean inSession : new boolean[] {false, true}) {
          for (BulkCase bulk : BulkCase.values()) {
            load(plain);
            load(ours);
            String expected = bulk.outcome(plainClient, plain, concern, ordered, inSession);
            String name =
                "%s, %s, ordered %s, in a session %s".formatted(bulk, concern, ordered, inSession);
            assertThat(bulk.outcome(ourClient, ours, concern, ordered, inSession))
                .as(name)
                .isEqualTo(expected);
            assertThat(content(ours)).as(name).isEqualTo(content(plain));
          }
        }
      }
    }
  }

  /** Bulks over shards; those on one shard at a time are one command to the driver's mongos. */
  private enum BulkCase {
    INSERTS(insert(10), insert(110), insert(210)),
    ONE_SHARD(insert(10), insert(11)),
    BACK_AND_FORTH(insert(10), insert(110), insert(11), insert(111), insert(210)),
    UPSERTS(upsert(10), upsert(0), upsert(110), upsert(210), upsert(11)),
    UPDATES(update(0), update(100), update(99), update(200), update(1)),
    DELETES(delete(0), delete(100), delete(99), delete(200)),
    MIXED(insert(10), update(100), delete(200), upsert(110), insert(210), update(0)),
    DUPLICATE_FIRST(insert(0), insert(110), insert(210)),
    DUPLICATE_BETWEEN(insert(10), insert(100), insert(210)),
    DUPLICATE_LAST(insert(10), insert(110), insert(200)),
    DUPLICATES_EVERYWHERE(insert(0), insert(10), insert(100), insert(110), insert(200)),
    ERROR_AMONG_OTHERS(update(0), insert(110), insert(100), upsert(210), delete(1));

    @SuppressWarnings("ImmutableEnumChecker") // The list is, and its models are not changed.
    private final List<WriteModel<Document>> models;

    @SafeVarargs
    @SuppressWarnings("varargs") // The array goes no further than into the list.
    BulkCase(WriteModel<Document>... models) {
      this.models = List.of(models);
    }

    String outcome(
        MongoClient client,
        MongoCollection<Document> collection,
        WriteConcern concern,
        boolean ordered,
        boolean inSession) {
      MongoCollection<Document> where = collection.withWriteConcern(concern);
      BulkWriteOptions options = new BulkWriteOptions().ordered(ordered);
      if (!inSession) {
        return BesideTheDriverIT.outcome(() -> where.bulkWrite(models, options));
      }
      try (ClientSession session = run(client.startSession())) {
        return BesideTheDriverIT.outcome(() -> where.bulkWrite(session, models, options));
      }
    }

    private static WriteModel<Document> insert(int id) {
      return new InsertOneModel<>(new Document("_id", id));
    }

    private static WriteModel<Document> update(int id) {
      return new UpdateOneModel<>(Filters.eq(id), Updates.inc("n", 1));
    }

    private static WriteModel<Document> upsert(int id) {
      return new UpdateOneModel<>(
          Filters.eq(id), Updates.inc("n", 1), new UpdateOptions().upsert(true));
    }

    private static WriteModel<Document> delete(int id) {
      return new DeleteOneModel<>(Filters.eq(id));
    }
  }

  /** What one application does in one session, drawn by a seed. */
  private static final class SessionScript {
    private final MongoClient client;
    private final MongoCollection<Document> collection;
    private final Random random;
    private final List<String> said = new ArrayList<>();
    private int inserted;

    SessionScript(MongoClient client, MongoCollection<Document> collection, int seed) {
      this.client = client;
      this.collection = collection;
      this.random = new Random(seed);
    }

    List<String> run() {
      try (ClientSession session = BesideTheDriverIT.run(client.startSession())) {
        for (int i = 0; i < STEPS; i++) {
          int step = random.nextInt(20);
          String outcome = outcome(() -> step(step, session));
          said.add(i + "." + step + ": " + outcome + " " + session.hasActiveTransaction());
        }
        if (session.hasActiveTransaction()) {
          said.add("end: " + outcome(session::abortTransaction));
        }
      }
      return said;
    }

    private Publisher<?> step(int step, ClientSession session) {
      int id = random.nextInt(3) * PER_SHARD + random.nextInt(LOADED_PER_SHARD);
      int other = random.nextInt(3) * PER_SHARD + random.nextInt(LOADED_PER_SHARD);
      return switch (step) {
        case 0, 1, 2, 3 -> {
          session.startTransaction(
              TransactionOptions.builder()
                  .readConcern(random.nextBoolean() ? ReadConcern.SNAPSHOT : ReadConcern.LOCAL)
                  .writeConcern(WriteConcern.MAJORITY)
                  .build());
          yield Mono.empty();
        }
        case 4, 5, 6 -> session.commitTransaction();
        case 7 -> session.abortTransaction();
        case 8, 9 -> collection.find(session, Filters.eq(id)).first();
        case 10, 11 -> collection.updateOne(session, Filters.eq(id), Updates.inc("n", 1));
        case 12 -> collection.insertOne(session, fresh());
        case 13 -> collection.findOneAndUpdate(session, Filters.eq(id), Updates.inc("n", 10));
        case 14 ->
            collection
                .find(session, Filters.in("_id", id, other))
                .sort(new Document("_id", 1))
                .batchSize(2);
        case 15 -> collection.countDocuments(session, Filters.gt("n", 3));
        case 16 ->
            collection.bulkWrite(
                session,
                List.of(
                    new UpdateOneModel<>(Filters.eq(id), Updates.inc("n", 100)),
                    new UpdateOneModel<>(Filters.eq(other), Updates.inc("n", 100)),
                    new InsertOneModel<>(fresh())),
                new BulkWriteOptions().ordered(random.nextBoolean()));
        case 17 -> collection.deleteOne(session, Filters.eq(id));
        case 18 ->
            collection.updateMany(session, Filters.in("_id", id, other), Updates.inc("n", 1000));
        default ->
            // Fails if it is there.
            collection.insertOne(session, new Document("_id", id).append("n", -1));
      };
    }

    private Document fresh() {
      int shard = random.nextInt(3);
      return new Document("_id", shard * PER_SHARD + LOADED_PER_SHARD + inserted++).append("n", 0);
    }
  }

  /** What an application sees of an operation. */
  private static String outcome(Supplier<Publisher<?>> operation) {
    try {
      return String.valueOf(Flux.from(operation.get()).collectList().block(TIMEOUT));
    } catch (MongoBulkWriteException e) {
      return described(e);
    } catch (MongoException e) {
      return e.getClass().getSimpleName()
          + " "
          + e.getCode()
          + " "
          + new TreeSet<>(e.getErrorLabels());
    } catch (RuntimeException | AssertionError e) {
      return e.toString();
    }
  }

  /** Beside a write error, driver 5.8 lists inserts it did not try and leaves out some it did. */
  private static String described(MongoBulkWriteException e) {
    BulkWriteResult result = e.getWriteResult();
    return "inserted %d %s, matched %d, modified %d, deleted %d, upserts %s; errors %s; %s; labels %s"
        .formatted(
            result.getInsertedCount(),
            e.getWriteErrors().isEmpty() ? result.getInserts() : "",
            result.getMatchedCount(),
            result.getModifiedCount(),
            result.getDeletedCount(),
            result.getUpserts(),
            e.getWriteErrors().stream()
                .map(error -> error.getIndex() + "=" + error.getCode())
                .toList(),
            e.getWriteConcernError(),
            new TreeSet<>(e.getErrorLabels()));
  }

  private static MongoCollection<Document> sharded(MongoClient client) {
    String name = "beside" + ++collections;
    testbed.shardCollection("it." + name, Numbered.KEY, Numbered.splitAt(PER_SHARD, 2 * PER_SHARD));
    return client.getDatabase("it").getCollection(name);
  }

  private static void load(MongoCollection<Document> collection) {
    run(collection.deleteMany(new Document()));
    run(
        collection.insertMany(
            IntStream.range(0, 3 * LOADED_PER_SHARD)
                .map(i -> i / LOADED_PER_SHARD * PER_SHARD + i % LOADED_PER_SHARD)
                .mapToObj(id -> new Document("_id", id).append("n", id % PER_SHARD))
                .toList()));
  }

  private static List<Document> content(MongoCollection<Document> collection) {
    return Flux.from(collection.find().sort(new Document("_id", 1))).collectList().block(TIMEOUT);
  }

  private static <T> @Nullable T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
