package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.Topology;
import dev.onehop.testbed.evidence.RouterSampling;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonMinKey;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The essentials of targeted mode on real servers. */
class TargetedModeIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int DOCUMENTS = 300;
  private static final int CONCURRENCY = 32;

  /** Three shards of one member, a mongos beside each and one beside the application. */
  private static final Topology TOPOLOGY =
      Topology.parse(
          "targeted-mode",
          """
          name: targeted-mode
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

  private static Testbed testbed;
  private static MongoClient client;
  private static int collections;

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(TOPOLOGY).start();
    client = OneHop.builder(testbed.url()).refreshInterval(Duration.ofSeconds(2)).reactiveClient();
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
  void operationsAndBulksAreServedBesideTheOwnerAlsoAfterAMove() {
    MongoCollection<Document> collection = sharded();
    run(collection.insertMany(Numbered.documents(DOCUMENTS)));
    assertThat(besideOwner(collection)).isEqualTo(1);

    String to = testbed.topology().shards().get(2).name();
    testbed.moveRange(
        collection.getNamespace().getFullName(), new BsonDocument("_id", new BsonMinKey()), to);

    await().atMost(TIMEOUT).until(() -> besideOwner(collection) == 1);
    assertThat(run(collection.countDocuments())).isEqualTo(DOCUMENTS);
  }

  @Test
  void cursorsTransactionsAndErrorsAreRightSideBySide() {
    MongoCollection<Document> collection = sharded();
    run(collection.insertMany(Numbered.documents(DOCUMENTS)));
    List<Integer> each = IntStream.range(0, DOCUMENTS).boxed().toList();

    Flux<Integer> scans =
        Flux.range(0, 12)
            .flatMap(
                scan ->
                    Flux.from(collection.find(third(scan)).batchSize(7))
                        .map(document -> document.getInteger("_id")),
                12,
                1);
    assertThat(scans.collectSortedList().block(TIMEOUT))
        .isEqualTo(each.stream().flatMap(id -> IntStream.range(0, 4).mapToObj(i -> id)).toList());

    try (ClientSession session = run(client.startSession())) {
      for (boolean commit : new boolean[] {true, false}) {
        session.startTransaction();
        for (int id : new int[] {250, 20, 120}) {
          run(collection.updateOne(session, Filters.eq(id), Updates.inc("n", 1_000)));
        }
        run(commit ? session.commitTransaction() : session.abortTransaction());
      }
      for (int id : new int[] {250, 20, 120}) {
        assertThat(run(collection.find(session, Filters.eq(id)).first()))
            .containsEntry("n", id + 1_000);
      }
    }

    assertThatThrownBy(
            () ->
                run(
                    collection.insertMany(
                        List.of(id(1_000), id(150), id(-1), id(20)),
                        new InsertManyOptions().ordered(false))))
        .isInstanceOfSatisfying(
            MongoBulkWriteException.class,
            e -> {
              assertThat(e.getWriteResult().getInsertedCount()).isEqualTo(2);
              assertThat(e.getWriteErrors())
                  .extracting(error -> error.getIndex())
                  .containsExactly(1, 3);
            });
  }

  @Test
  void aChangeStreamHasTheWritesOfAllShards() {
    MongoCollection<Document> collection = sharded();
    Queue<Integer> seen = new ConcurrentLinkedQueue<>();
    AtomicBoolean begun = new AtomicBoolean();
    var watching =
        Flux.from(collection.watch())
            .mapNotNull(ChangeStreamDocument::getFullDocument)
            .subscribe(
                document -> {
                  if (document.getInteger("_id") < 0) {
                    begun.set(true);
                  } else {
                    seen.add(document.getInteger("_id"));
                  }
                });
    try {
      for (int i = 1; !begun.get() && i < 1_000; i++) {
        run(collection.insertOne(id(-i)));
      }
      run(collection.insertMany(Numbered.documents(DOCUMENTS)));
      await().atMost(TIMEOUT).until(() -> seen.size() == DOCUMENTS);
      assertThat(seen).doesNotHaveDuplicates();
    } finally {
      watching.dispose();
    }
  }

  @Test
  void aMongosThatIsCutOffFailsNothingAndIsUsedAgain() {
    MongoCollection<Document> collection = sharded();
    run(
        collection.insertMany(
            IntStream.range(0, DOCUMENTS).mapToObj(i -> id(i).append("n", 0)).toList()));
    AtomicIntegerArray acknowledged = new AtomicIntegerArray(DOCUMENTS);
    AtomicLong operations = new AtomicLong();
    AtomicBoolean stopped = new AtomicBoolean();
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    Mono<Void> load =
        Flux.range(0, CONCURRENCY)
            .flatMap(
                worker ->
                    Mono.defer(
                            () -> {
                              int number = (int) operations.getAndIncrement();
                              int id = number * 7 % DOCUMENTS;
                              return number % 2 == 0
                                  ? Mono.from(collection.find(Filters.eq(id)).first()).then()
                                  : Mono.from(
                                          collection.updateOne(Filters.eq(id), Updates.inc("n", 1)))
                                      .doOnNext(done -> acknowledged.incrementAndGet(id))
                                      .then();
                            })
                        .doOnError(failures::add)
                        .onErrorComplete()
                        .repeat(() -> !stopped.get()),
                CONCURRENCY)
            .then()
            .cache();
    load.subscribe();

    for (int round = 0; round < 3; round++) {
      long before = operations.get();
      testbed.setBlocked("127.39.2.1:27017", true);
      await().atMost(TIMEOUT).until(() -> operations.get() > before + 2_000);
      testbed.setBlocked("127.39.2.1:27017", false);
      await().atMost(TIMEOUT).until(() -> besideOwner(collection) == 1);
    }
    stopped.set(true);
    load.block(TIMEOUT);

    assertThat(failures).isEmpty();
    for (Document document : Flux.from(collection.find()).collectList().block(TIMEOUT)) {
      int id = document.getInteger("_id");
      assertThat(document.getInteger("n")).as("document %d", id).isEqualTo(acknowledged.get(id));
    }
  }

  @Test
  void theSynchronousDriverHasTheSame() {
    MongoCollection<Document> collection = sharded();
    try (com.mongodb.client.MongoClient sync = synchronous();
        com.mongodb.client.ClientSession session = sync.startSession()) {
      var documents = in(sync, collection);
      documents.insertMany(Numbered.documents(DOCUMENTS), new InsertManyOptions().ordered(false));
      try (RouterSampling sampling =
          testbed.evidence(collection.getNamespace().getFullName()).sampleRouters(1)) {
        for (int i = 0; i < DOCUMENTS; i++) {
          assertThat(documents.find(Filters.eq(i)).first()).containsEntry("_id", i);
          documents.updateOne(Filters.eq(i), Updates.set("x", i));
        }
        assertThat(sampling.besideOwner().fraction().orElse(0)).isEqualTo(1);
      }
      List<Integer> found = new ArrayList<>();
      documents.find().batchSize(7).forEach(each -> found.add(each.getInteger("_id")));
      assertThat(found)
          .containsExactlyInAnyOrderElementsOf(IntStream.range(0, DOCUMENTS).boxed().toList());

      for (boolean commit : new boolean[] {true, false}) {
        session.startTransaction();
        for (int id : new int[] {250, 20, 120}) {
          documents.updateOne(session, Filters.eq(id), Updates.inc("n", 1_000));
        }
        if (commit) {
          session.commitTransaction();
        } else {
          session.abortTransaction();
        }
      }
      for (int id : new int[] {250, 20, 120}) {
        assertThat(documents.find(session, Filters.eq(id)).first()).containsEntry("n", id + 1_000);
      }
      assertThatThrownBy(
              () ->
                  documents.insertMany(
                      List.of(id(1_000), id(150), id(-1), id(20)),
                      new InsertManyOptions().ordered(false)))
          .isInstanceOfSatisfying(
              MongoBulkWriteException.class,
              e ->
                  assertThat(e.getWriteErrors())
                      .extracting(error -> error.getIndex())
                      .containsExactly(1, 3));
    }
  }

  @Test
  void aMongosThatIsCutOffFailsNothingOfTheSynchronousDriver() throws Exception {
    MongoCollection<Document> collection = sharded();
    run(
        collection.insertMany(
            IntStream.range(0, DOCUMENTS).mapToObj(i -> id(i).append("n", 0)).toList()));
    AtomicIntegerArray acknowledged = new AtomicIntegerArray(DOCUMENTS);
    AtomicLong operations = new AtomicLong();
    AtomicBoolean stopped = new AtomicBoolean();
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    try (com.mongodb.client.MongoClient sync = synchronous()) {
      var documents = in(sync, collection);
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < CONCURRENCY / 2; i++) {
        Thread thread =
            new Thread(
                () -> {
                  while (!stopped.get()) {
                    int number = (int) operations.getAndIncrement();
                    int id = number * 7 % DOCUMENTS;
                    try {
                      if (number % 2 == 0) {
                        documents.find(Filters.eq(id)).first();
                      } else {
                        documents.updateOne(Filters.eq(id), Updates.inc("n", 1));
                        acknowledged.incrementAndGet(id);
                      }
                    } catch (RuntimeException e) {
                      failures.add(e);
                    }
                  }
                });
        threads.add(thread);
        thread.start();
      }
      try {
        for (int round = 0; round < 2; round++) {
          long before = operations.get();
          testbed.setBlocked("127.39.2.1:27017", true);
          await().atMost(TIMEOUT).until(() -> operations.get() > before + 2_000);
          testbed.setBlocked("127.39.2.1:27017", false);
          await().atMost(TIMEOUT).until(() -> besideOwner(collection) == 1);
        }
      } finally {
        testbed.setBlocked("127.39.2.1:27017", false);
        stopped.set(true);
        for (Thread thread : threads) {
          thread.join(TIMEOUT.toMillis());
        }
      }
    }
    assertThat(failures).isEmpty();
    for (Document document : Flux.from(collection.find()).collectList().block(TIMEOUT)) {
      int id = document.getInteger("_id");
      assertThat(document.getInteger("n")).as("document %d", id).isEqualTo(acknowledged.get(id));
    }
  }

  private static com.mongodb.client.MongoClient synchronous() {
    return OneHop.builder(testbed.url()).refreshInterval(Duration.ofSeconds(2)).syncClient();
  }

  private static com.mongodb.client.MongoCollection<Document> in(
      com.mongodb.client.MongoClient sync, MongoCollection<Document> collection) {
    return sync.getDatabase("it").getCollection(collection.getNamespace().getCollectionName());
  }

  private static double besideOwner(MongoCollection<Document> collection) {
    try (RouterSampling sampling =
        testbed.evidence(collection.getNamespace().getFullName()).sampleRouters(1)) {
      Flux.range(0, DOCUMENTS)
          .flatMap(
              i ->
                  Mono.from(collection.find(Filters.eq(i)).first())
                      .then(Mono.from(collection.updateOne(Filters.eq(i), Updates.set("x", i)))),
              CONCURRENCY)
          .blockLast(TIMEOUT);
      run(collection.insertMany(List.of(id(5_000), id(-5_000), id(150_000))));
      run(collection.deleteMany(Filters.eq(5_000)));
      run(collection.deleteMany(Filters.eq(-5_000)));
      run(collection.deleteMany(Filters.eq(150_000)));
      return sampling.besideOwner().fraction().orElse(0);
    }
  }

  /** What one shard has. */
  private static org.bson.conversions.Bson third(int number) {
    int from = number % 3 * 100;
    return Filters.and(Filters.gte("_id", from), Filters.lt("_id", from + 100));
  }

  private static MongoCollection<Document> sharded() {
    String name = "targeted" + ++collections;
    testbed.shardCollection("it." + name, Numbered.KEY, Numbered.splitAt(100, 200));
    return client.getDatabase("it").getCollection(name);
  }

  private static Document id(int id) {
    return new Document("_id", id);
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
