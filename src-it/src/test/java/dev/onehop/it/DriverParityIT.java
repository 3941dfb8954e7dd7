package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoException;
import com.mongodb.ReadConcern;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.bulk.WriteConcernError;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.WriteModel;
import dev.onehop.it.clients.Mode;
import dev.onehop.it.clients.RoutedModes;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

/**
 * Runs the same operations on the plain driver and on OneHop. Each client has a separate collection
 * with the same documents. Results, errors and stored documents must be equal.
 */
@ShardedCluster
@Tag("full")
class DriverParityIT {
  private static final int PER_SHARD = 100;
  private static final int LOADED_PER_SHARD = 5;
  private static final int SCRIPTS = Integer.getInteger("onehop.it.scripts", 20);
  private static final int STEPS = 25;

  private static SharedCluster cluster;
  private static final Map<Mode, Side> plain = new EnumMap<>(Mode.class);
  private static final Map<String, Result> expected = new HashMap<>();

  private Mode mode;
  private MongoClient client;
  private Side ours;

  @BeforeAll
  static void shard(SharedCluster shared) {
    cluster = shared;
    for (String name : List.of("plain", "ours")) {
      cluster.shardCollection(name, Numbered.KEY, Numbered.splitAt(PER_SHARD, 2 * PER_SHARD));
    }
    for (Mode mode : List.of(Mode.PLAIN, Mode.PLAIN_SYNC)) {
      plain.put(mode, Side.of(mode.client(cluster.url()), "plain"));
    }
  }

  @AfterAll
  static void close() {
    plain.values().forEach(side -> side.client.close());
  }

  @BeforeEach
  void connect(Mode mode, MongoClient client) {
    this.mode = mode;
    this.client = client;
    ours = Side.of(client, "ours");
    ours.load();
  }

  /**
   * Compares the results of a program on OneHop and on the plain driver. The plain driver runs each
   * program only once.
   */
  private void assertSame(String name, Function<Side, ?> program) {
    Result theirs =
        expected.computeIfAbsent(
            mode.plain() + " " + name, any -> plain.get(mode.plain()).run(program));
    assertThat(ours.run(program)).as(name).isEqualTo(theirs);
  }

  @RoutedModes(mode = {RoutingMode.NONE, RoutingMode.TARGETED, RoutingMode.DIRECT})
  void sessionReachesEveryShardAfterTransaction() {
    try (ClientSession session = client.startSession()) {
      for (boolean commit : new boolean[] {true, false}) {
        session.startTransaction();
        ours.collection.updateOne(session, Filters.eq(0), Updates.inc("n", 1));
        if (commit) {
          session.commitTransaction();
        } else {
          session.abortTransaction();
        }

        for (int id : new int[] {100, 0, 200, 0, 100}) {
          assertThat(ours.collection.find(session, Filters.eq(id)).first())
              .containsEntry("_id", id);
        }
      }
    }
  }

  @RoutedModes(mode = {RoutingMode.NONE, RoutingMode.TARGETED, RoutingMode.DIRECT})
  void randomSessionsReturnSameResultsAsDriver() {
    for (int i = 0; i < SCRIPTS; i++) {
      int seed = i;
      assertSame("script of seed " + seed, side -> new SessionScript(side, seed).run());
    }
  }

  /**
   * No shard has the three members that the write concern requires, so every write gets a write
   * concern error.
   */
  @RoutedModes(mode = {RoutingMode.NONE, RoutingMode.TARGETED, RoutingMode.DIRECT})
  void bulkWriteContinuesAfterWriteConcernError() {
    MongoBulkWriteException failure =
        catchThrowableOfType(
            MongoBulkWriteException.class,
            () ->
                ours.collection
                    .withWriteConcern(new WriteConcern(3))
                    .insertMany(
                        IntStream.of(10, 110, 210)
                            .mapToObj(id -> new Document("_id", id))
                            .toList()));

    assertThat(failure.getWriteResult().getInsertedCount()).isEqualTo(3);
    assertThat(failure.getWriteErrors()).isEmpty();
    assertThat(failure.getWriteConcernError()).isNotNull();
    assertThat(ours.content()).hasSize(3 * LOADED_PER_SHARD + 3);
  }

  @RoutedModes(mode = {RoutingMode.NONE, RoutingMode.TARGETED, RoutingMode.DIRECT})
  void bulkWritesWithFailedWriteConcernMatchDriver() {
    for (WriteConcern concern :
        List.of(new WriteConcern(3), new WriteConcern(3, 100), new WriteConcern("elsewhere"))) {
      for (boolean ordered : new boolean[] {true, false}) {
        for (boolean inSession : new boolean[] {false, true}) {
          for (BulkCase bulk : BulkCase.values()) {
            assertSame(
                "%s, %s, ordered %s, in a session %s".formatted(bulk, concern, ordered, inSession),
                side -> bulk.outcome(side, concern, ordered, inSession));
          }
        }
      }
    }
  }

  /** The result of a program, and the documents of its collection afterwards. */
  private record Result(Object outcome, List<Document> content) {}

  /** A client with a separate collection. */
  private record Side(MongoClient client, MongoCollection<Document> collection) {
    static Side of(MongoClient client, String name) {
      return new Side(client, client.getDatabase(cluster.database()).getCollection(name));
    }

    Result run(Function<Side, ?> program) {
      load();
      return new Result(program.apply(this), content());
    }

    void load() {
      collection.deleteMany(new Document());
      collection.insertMany(
          IntStream.range(0, 3 * LOADED_PER_SHARD)
              .map(i -> i / LOADED_PER_SHARD * PER_SHARD + i % LOADED_PER_SHARD)
              .mapToObj(id -> new Document("_id", id).append("n", id % PER_SHARD))
              .toList());
    }

    List<Document> content() {
      return collection.find().sort(new Document("_id", 1)).into(new ArrayList<>());
    }
  }

  /** Bulk writes on one shard and on several shards. */
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

    @SuppressWarnings("ImmutableEnumChecker") // The list and its models never change.
    private final List<WriteModel<Document>> models;

    @SafeVarargs
    @SuppressWarnings("varargs") // The array is only read, to create the list.
    BulkCase(WriteModel<Document>... models) {
      this.models = List.of(models);
    }

    String outcome(Side side, WriteConcern concern, boolean ordered, boolean inSession) {
      MongoCollection<Document> where = side.collection.withWriteConcern(concern);
      BulkWriteOptions options = new BulkWriteOptions().ordered(ordered);
      if (!inSession) {
        return DriverParityIT.outcome(() -> where.bulkWrite(models, options));
      }
      try (ClientSession session = side.client.startSession()) {
        return DriverParityIT.outcome(() -> where.bulkWrite(session, models, options));
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

  /** Random operations of one application in one session, from a seed. */
  private static final class SessionScript {
    private final MongoClient client;
    private final MongoCollection<Document> collection;
    private final Random random;
    private final List<String> outcomes = new ArrayList<>();
    private int inserted;

    SessionScript(Side side, int seed) {
      this.client = side.client;
      this.collection = side.collection;
      this.random = new Random(seed);
    }

    List<String> run() {
      try (ClientSession session = client.startSession()) {
        for (int i = 0; i < STEPS; i++) {
          int step = random.nextInt(20);
          String outcome = outcome(() -> step(step, session));
          outcomes.add(i + "." + step + ": " + outcome + " " + session.hasActiveTransaction());
        }
        if (session.hasActiveTransaction()) {
          outcomes.add("end: " + outcome(() -> endTransaction(session, false)));
        }
      }
      return outcomes;
    }

    private Object step(int step, ClientSession session) {
      int id = random.nextInt(3) * PER_SHARD + random.nextInt(LOADED_PER_SHARD);
      int other = random.nextInt(3) * PER_SHARD + random.nextInt(LOADED_PER_SHARD);
      return switch (step) {
        case 0, 1, 2, 3 -> {
          session.startTransaction(
              TransactionOptions.builder()
                  .readConcern(random.nextBoolean() ? ReadConcern.SNAPSHOT : ReadConcern.LOCAL)
                  .writeConcern(WriteConcern.MAJORITY)
                  .build());
          yield "started";
        }
        case 4, 5, 6 -> endTransaction(session, true);
        case 7 -> endTransaction(session, false);
        case 8, 9 -> collection.find(session, Filters.eq(id)).first();
        case 10, 11 -> collection.updateOne(session, Filters.eq(id), Updates.inc("n", 1));
        case 12 -> collection.insertOne(session, newDocument());
        case 13 -> collection.findOneAndUpdate(session, Filters.eq(id), Updates.inc("n", 10));
        case 14 ->
            collection
                .find(session, Filters.in("_id", id, other))
                .sort(new Document("_id", 1))
                .batchSize(2)
                .into(new ArrayList<>());
        case 15 -> collection.countDocuments(session, Filters.gt("n", 3));
        case 16 ->
            collection.bulkWrite(
                session,
                List.of(
                    new UpdateOneModel<>(Filters.eq(id), Updates.inc("n", 100)),
                    new UpdateOneModel<>(Filters.eq(other), Updates.inc("n", 100)),
                    new InsertOneModel<>(newDocument())),
                new BulkWriteOptions().ordered(random.nextBoolean()));
        case 17 -> collection.deleteOne(session, Filters.eq(id));
        case 18 ->
            collection.updateMany(session, Filters.in("_id", id, other), Updates.inc("n", 1000));
        default ->
            // The insert fails if the document exists.
            collection.insertOne(session, new Document("_id", id).append("n", -1));
      };
    }

    private static Object endTransaction(ClientSession session, boolean commit) {
      if (commit) {
        session.commitTransaction();
      } else {
        session.abortTransaction();
      }
      return "ended";
    }

    private Document newDocument() {
      int shard = random.nextInt(3);
      return new Document("_id", shard * PER_SHARD + LOADED_PER_SHARD + inserted++).append("n", 0);
    }
  }

  /** The result or the error of an operation, as the application gets it. */
  private static String outcome(Supplier<?> operation) {
    try {
      return String.valueOf(operation.get());
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

  /**
   * Leaves out the list of inserts if there is a write error. Driver 5.8 then lists inserts that it
   * has not sent, and omits others.
   */
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
            described(e.getWriteConcernError(), e.getWriteErrors().isEmpty()),
            new TreeSet<>(e.getErrorLabels()));
  }

  /**
   * A mongos lists the write concern errors of several shards in the order of their arrival. If a
   * mongos receives only one statement and it fails, the mongos does not report the shard's write
   * concern error. With write errors, only the reasons are therefore compared.
   */
  private static String described(@Nullable WriteConcernError error, boolean alone) {
    if (error == null) {
      return "none";
    }
    String several = "multiple errors reported : ";
    boolean one = !error.getMessage().startsWith(several);
    List<String> errors =
        one
            ? List.of(error.getCodeName() + ": " + error.getMessage())
            : List.of(error.getMessage().substring(several.length()).split(" :: and :: "));
    if (alone) {
      return "%d %s %s".formatted(error.getCode(), new TreeSet<>(errors), error.getDetails());
    }
    return errors.stream()
        .map(each -> each.replaceFirst(" at shard-\\d$", ""))
        .distinct()
        .sorted()
        .toList()
        .toString();
  }
}
