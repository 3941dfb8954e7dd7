package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoCompressor;
import com.mongodb.MongoException;
import com.mongodb.WriteConcern;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.types.Binary;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Operations have the same results on shared sockets as on the driver's sockets. */
@SharedReplicaSet
@Tag("full")
class PipelinedTransportIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private static RealMongod mongod;
  private static LeakWatch leakWatch;

  private PipelinedClient pipelined;
  private MongoCollection<Document> collection;

  @BeforeAll
  static void start(RealMongod shared) {
    leakWatch = LeakWatch.start();
    mongod = shared;
  }

  @AfterAll
  static void stop() {
    List<String> leaks = leakWatch.leaks();
    leakWatch.close();
    assertThat(leaks).isEmpty();
  }

  @BeforeEach
  void connect() {
    pipelined = new PipelinedClient(mongod.url());
    collection =
        pipelined.client().getDatabase("it").getCollection("c" + new ObjectId().toHexString());
  }

  @AfterEach
  void close() {
    pipelined.close();
    await().untilAsserted(() -> assertThat(pipelined.sharedSockets()).isZero());
  }

  @Test
  void manyRequestsShareFewSockets() {
    run(Flux.range(0, 500).flatMap(n -> collection.insertOne(new Document("_id", n)), 200));

    assertThat(run(collection.countDocuments())).isEqualTo(500L);
    assertThat(pipelined.sharedSockets()).isEqualTo(PipelinedClient.SOCKETS);
    assertThat(pipelined.requests("shared")).isGreaterThanOrEqualTo(500);
  }

  @Test
  void matchesRepliesToRequests() {
    run(
        collection.insertMany(
            IntStream.range(0, 100).mapToObj(n -> new Document("_id", n).append("n", n)).toList()));

    List<Integer> wrong =
        Flux.range(0, 1_000)
            .flatMap(
                n ->
                    Mono.from(collection.find(Filters.eq("_id", n % 100)).first())
                        .filter(found -> found.getInteger("n") != n % 100)
                        .map(found -> n),
                256)
            .collectList()
            .block(TIMEOUT);

    assertThat(wrong).isEmpty();
  }

  @Test
  void readsCursorOfManyBatches() {
    run(
        collection.insertMany(
            IntStream.range(0, 10_000).mapToObj(n -> new Document("_id", n)).toList()));

    List<Integer> ids =
        Flux.from(collection.find().sort(new Document("_id", 1)).batchSize(100))
            .map(found -> found.getInteger("_id"))
            .collectList()
            .block(TIMEOUT);

    assertThat(ids).isEqualTo(IntStream.range(0, 10_000).boxed().toList());
    assertThat(pipelined.requests("own")).isGreaterThanOrEqualTo(100);
  }

  @Test
  void transfersDocumentOfMaximumSize() {
    byte[] bytes = new byte[16 * 1024 * 1024 - 100];
    Arrays.fill(bytes, (byte) 7);
    run(collection.insertOne(new Document("_id", 1).append("b", new Binary(bytes))));

    Document found = run(collection.find(Filters.eq("_id", 1)).first());

    assertThat(found.get("b", Binary.class).getData()).isEqualTo(bytes);
  }

  @Test
  void changeStreamContinuesDuringConcurrentWrites() throws InterruptedException {
    run(collection.insertOne(new Document()));
    Set<BsonValue> seen = ConcurrentHashMap.newKeySet();
    Disposable stream =
        Flux.from(collection.watch())
            .map(ChangeStreamDocument::getDocumentKey)
            .subscribe(key -> seen.add(key.get("_id")));
    // Inserts until the stream has an event, because it may open later than the first insert.
    await()
        .atMost(TIMEOUT)
        .until(
            () -> {
              run(collection.insertOne(new Document()));
              return !seen.isEmpty();
            });
    List<Thread> writers = new ArrayList<>();
    for (int writer = 0; writer < 64; writer++) {
      int first = writer * 5;
      writers.add(
          new Thread(
              () -> {
                for (int n = first; n < first + 5; n++) {
                  run(collection.insertOne(new Document("_id", n)));
                }
              }));
    }
    writers.forEach(Thread::start);
    for (Thread writer : writers) {
      writer.join();
    }

    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () ->
                assertThat(seen)
                    .containsAll(IntStream.range(0, 64 * 5).mapToObj(BsonInt32::new).toList()));
    stream.dispose();
  }

  @Test
  void commitsTransaction() {
    run(collection.insertOne(new Document("_id", 0)));
    ClientSession session = run(pipelined.client().startSession());
    session.startTransaction();
    for (int n = 1; n <= 50; n++) {
      run(collection.insertOne(session, new Document("_id", n)));
    }
    assertThat(run(collection.countDocuments())).isEqualTo(1L);
    runEmpty(session.commitTransaction());
    session.close();

    assertThat(run(collection.countDocuments())).isEqualTo(51L);
  }

  @Test
  void abortsTransaction() {
    run(collection.insertOne(new Document("_id", 0)));
    ClientSession session = run(pipelined.client().startSession());
    session.startTransaction();
    run(collection.insertOne(session, new Document("_id", 1)));
    runEmpty(session.abortTransaction());
    session.close();

    assertThat(run(collection.countDocuments())).isEqualTo(1L);
  }

  @Test
  void cancelledSubscriberKillsCursor() {
    run(
        collection.insertMany(
            IntStream.range(0, 1_000).mapToObj(n -> new Document("_id", n)).toList()));
    long before = openCursors();
    BaseSubscriber<Document> subscriber =
        new BaseSubscriber<>() {
          @Override
          protected void hookOnSubscribe(Subscription subscription) {
            request(10);
          }
        };
    collection.find().batchSize(10).subscribe(subscriber);
    await().atMost(TIMEOUT).until(() -> openCursors() > before);

    subscriber.cancel();

    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(openCursors()).isEqualTo(before));
  }

  @Test
  void cancelledReadsDoNotAffectOtherReads() {
    run(
        collection.insertMany(
            IntStream.range(0, 100).mapToObj(n -> new Document("_id", n)).toList()));
    AtomicInteger wrong = new AtomicInteger();
    for (int n = 0; n < 200; n++) {
      int id = n % 100;
      Disposable running =
          Mono.from(collection.find(Filters.eq("_id", id)).first())
              .subscribe(
                  found -> {
                    if (found.getInteger("_id") != id) {
                      wrong.incrementAndGet();
                    }
                  });
      if (n % 3 == 0) {
        running.dispose();
      }
    }

    for (int n = 0; n < 100; n++) {
      assertThat(run(collection.find(Filters.eq("_id", n)).first())).containsEntry("_id", n);
    }
    assertThat(wrong).hasValue(0);
  }

  @Test
  void slowCommandsDelayOthersOnlyBriefly() throws InterruptedException {
    run(collection.insertOne(new Document("_id", 1)));
    List<Mono<Document>> slow = new ArrayList<>();
    for (int n = 0; n < 3; n++) {
      // A find with a limit of 1 may use a shared socket. This one blocks its socket for six
      // seconds.
      slow.add(Mono.from(collection.find(Filters.where("sleep(6000) || true")).limit(1).first()));
    }
    CompletableFuture<?> running = Flux.merge(slow).then().toFuture();
    // Requests that follow at once may wait behind the slow finds. After this pause, the client
    // knows the slow sockets and uses others.
    RealTime.pass(Duration.ofSeconds(2));
    AtomicInteger answered = new AtomicInteger();
    long start = System.nanoTime();
    while (TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) < 2_000) {
      run(
          Flux.range(0, 20)
              .flatMap(n -> collection.find(Filters.eq("_id", 1)).first(), 20)
              .doOnNext(found -> answered.incrementAndGet()));
    }
    running.join();

    // Three of the five sockets are slow. If the finds of a round still used them, the round would
    // wait for a slow find.
    assertThat(answered.get()).isGreaterThan(40);
  }

  @Test
  void executesUnacknowledgedWrites() {
    MongoCollection<Document> unacknowledged =
        collection.withWriteConcern(WriteConcern.UNACKNOWLEDGED);
    run(Flux.range(0, 200).flatMap(n -> unacknowledged.insertOne(new Document("_id", n)), 100));

    await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(run(collection.countDocuments())).isEqualTo(200L));
  }

  /**
   * A compressed message is small, and its flag for "no reply" is inside the compressed bytes. Even
   * so, the transport must not wait for a reply.
   */
  @ParameterizedTest
  @ValueSource(strings = {"zlib", "snappy", "zstd"})
  void executesCompressedUnacknowledgedWrites(String compressor) {
    try (PipelinedClient compressing =
        new PipelinedClient(
            mongod.url(), settings -> settings.compressorList(List.of(compressor(compressor))))) {
      MongoCollection<Document> unacknowledged =
          compressing
              .client()
              .getDatabase("it")
              .getCollection(collection.getNamespace().getCollectionName())
              .withWriteConcern(WriteConcern.UNACKNOWLEDGED);
      for (int n = 0; n < 40; n++) {
        byte[] bytes = new byte[n % 4 == 0 ? 1_000 : 1_500_000];
        // Only one half of the bytes can be compressed.
        new Random(n).nextBytes(bytes);
        Arrays.fill(bytes, 0, bytes.length / 2, (byte) 7);
        run(unacknowledged.insertOne(new Document("_id", n).append("b", new Binary(bytes))));
      }

      await()
          .atMost(TIMEOUT)
          .untilAsserted(() -> assertThat(run(collection.countDocuments())).isEqualTo(40L));
    }
  }

  @Test
  void errorsDoNotAffectOtherRequests() {
    run(collection.insertOne(new Document("_id", 0)));

    List<String> outcomes =
        Flux.range(0, 500)
            .flatMap(
                n ->
                    Mono.from(collection.insertOne(new Document("_id", n % 2 == 0 ? 0 : n)))
                        .map(inserted -> "ok")
                        .onErrorReturn(MongoException.class, "duplicate"),
                100)
            .collectList()
            .block(TIMEOUT);

    assertThat(outcomes).filteredOn("ok"::equals).hasSize(250);
    assertThat(outcomes).filteredOn("duplicate"::equals).hasSize(250);
  }

  @Test
  void rejectsLogout() {
    assertThatThrownBy(
            () ->
                run(
                    pipelined
                        .client()
                        .getDatabase("admin")
                        .runCommand(new BsonDocument("logout", new BsonInt32(1)))))
        .hasMessageContaining("all operations that share the socket");
  }

  @ParameterizedTest
  @ValueSource(strings = {"zlib", "snappy", "zstd"})
  void compressesMessages(String compressor) {
    try (PipelinedClient compressing =
        new PipelinedClient(
            mongod.url(), settings -> settings.compressorList(List.of(compressor(compressor))))) {
      MongoCollection<Document> here =
          compressing
              .client()
              .getDatabase("it")
              .getCollection(collection.getNamespace().getCollectionName());
      long before = compressedByServer(compressor);
      run(
          Flux.range(0, 100)
              .flatMap(
                  n -> here.insertOne(new Document("_id", n).append("p", "x".repeat(1_000))), 100));
      run(Flux.range(0, 100).flatMap(n -> here.find(Filters.eq("_id", n)).first(), 100));

      assertThat(Flux.from(here.find()).count().block(TIMEOUT)).isEqualTo(100L);
      assertThat(compressing.requests("shared")).isGreaterThanOrEqualTo(200);
      assertThat(compressedByServer(compressor)).isGreaterThan(before);
      // The client opens another socket only while requests wait, so several rounds may be
      // necessary.
      await()
          .untilAsserted(
              () -> {
                run(Flux.range(0, 100).flatMap(n -> here.find(Filters.eq(n)).first(), 100));
                assertThat(compressing.sharedSockets()).isEqualTo(PipelinedClient.SOCKETS);
              });
    }
  }

  private static MongoCompressor compressor(String name) {
    return switch (name) {
      case "zlib" -> MongoCompressor.createZlibCompressor();
      case "snappy" -> MongoCompressor.createSnappyCompressor();
      default -> MongoCompressor.createZstdCompressor();
    };
  }

  private long compressedByServer(String compressor) {
    Document status =
        run(pipelined.client().getDatabase("admin").runCommand(new Document("serverStatus", 1)));
    return ((Number)
            status
                .get("network", Document.class)
                .get("compression", Document.class)
                .get(compressor, Document.class)
                .get("decompressor", Document.class)
                .get("bytesIn"))
        .longValue();
  }

  private long openCursors() {
    Document status =
        run(pipelined.client().getDatabase("admin").runCommand(new Document("serverStatus", 1)));
    return ((Number)
            status
                .get("metrics", Document.class)
                .get("cursor", Document.class)
                .get("open", Document.class)
                .get("total"))
        .longValue();
  }

  private static <T> T run(Publisher<T> publisher) {
    T last = Flux.from(publisher).blockLast(TIMEOUT);
    if (last == null) {
      throw new AssertionError("nothing came");
    }
    return last;
  }

  private static void runEmpty(Publisher<Void> publisher) {
    Mono.from(publisher).block(TIMEOUT);
  }
}
