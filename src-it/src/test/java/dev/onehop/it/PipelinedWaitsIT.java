package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClients;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoCollection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A write that waits in the server for other members, or is slow, does not delay any read. */
@Tag("nightly")
class PipelinedWaitsIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int READS = 1_000;

  private static RealMongod mongod;
  private static com.mongodb.client.MongoClient plain;
  private static LeakWatch leakWatch;

  private PipelinedClient pipelined;
  private MongoCollection<Document> collection;

  /** The replica set has three members. Only the voting one runs. */
  @BeforeAll
  static void start() {
    leakWatch = LeakWatch.start();
    mongod = RealMongod.startWithMembersDown(2);
    plain = MongoClients.create(mongod.url());
  }

  @AfterAll
  static void stop() {
    plain.close();
    mongod.close();
    List<String> leaks = leakWatch.leaks();
    leakWatch.close();
    assertThat(leaks).isEmpty();
  }

  @BeforeEach
  void connect() {
    pipelined = new PipelinedClient(mongod.url());
    collection = pipelined.client().getDatabase("it").getCollection("c" + System.nanoTime());
    Flux.range(0, 100)
        .flatMap(
            n ->
                collection
                    .withWriteConcern(WriteConcern.MAJORITY)
                    .insertOne(new Document("_id", n)),
            50)
        .blockLast(TIMEOUT);
  }

  @AfterEach
  void close() {
    pipelined.close();
    defaultWriteConcern(new Document("w", "majority"));
  }

  @Test
  void writesWaitingForDownMemberDoNotDelayReads() {
    CompletableFuture<?> inserts = insertSix(collection.withWriteConcern(WriteConcern.W3));

    readAll();

    assertThat(inserts).isNotDone();
    assertThat(running("insert")).isEqualTo(6);
  }

  /**
   * These inserts have no write concern, so they wait by the cluster's default. The client cannot
   * see this in their commands.
   */
  @Test
  void writesWaitingByDefaultConcernDoNotDelayReads() {
    defaultWriteConcern(new Document("w", 3));
    CompletableFuture<?> inserts = insertSix(collection);

    readAll();

    assertThat(inserts).isNotDone();
    assertThat(running("insert")).isPositive();
  }

  @Test
  void waitingWritesDoNotDelayOtherWrites() {
    CompletableFuture<?> inserts = insertSix(collection.withWriteConcern(WriteConcern.W3));
    await().atMost(TIMEOUT).until(() -> running("insert") == 6);

    Flux.range(0, READS)
        .flatMap(n -> collection.updateOne(Filters.eq("_id", n % 100), Updates.inc("n", 1)), 50)
        .blockLast(TIMEOUT);

    assertThat(inserts).isNotDone();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void slowUnacknowledgedWritesDoNotDelayReads(boolean many) {
    MongoCollection<Document> unacknowledged =
        collection.withWriteConcern(WriteConcern.UNACKNOWLEDGED);
    for (int n = 0; n < 6; n++) {
      var slow = Filters.and(Filters.eq("_id", n), Filters.where("sleep(4000) || true"));
      Mono.from(
              many
                  ? unacknowledged.updateMany(slow, Updates.set("slow", true))
                  : unacknowledged.updateOne(slow, Updates.set("slow", true)))
          .block(TIMEOUT);
    }
    await().atMost(TIMEOUT).until(() -> running("update") > 0);

    readOnOtherConnections();

    assertThat(running("update")).isPositive();
    await().atMost(Duration.ofMinutes(2)).until(() -> matching(new Document("slow", true)) == 6);
  }

  /** A server executes the requests of a connection one after another. */
  @Test
  void unacknowledgedWritesOfConnectionKeepOrder() {
    try (PipelinedClient one =
        new PipelinedClient(
            mongod.url(),
            settings -> settings.applyToConnectionPoolSettings(pool -> pool.maxSize(1)))) {
      MongoCollection<Document> acknowledged =
          one.client()
              .getDatabase("it")
              .getCollection(collection.getNamespace().getCollectionName());
      MongoCollection<Document> unacknowledged =
          acknowledged.withWriteConcern(WriteConcern.UNACKNOWLEDGED);
      for (int n = 0; n < 10; n++) {
        Document id = new Document("_id", 1_000 + n);
        Mono.from(unacknowledged.insertOne(id)).block(TIMEOUT);
        Mono.from(
                unacknowledged.updateMany(
                    Filters.and(id, Filters.where("sleep(200) || true")), Updates.set("a", n)))
            .block(TIMEOUT);
        Mono.from(unacknowledged.updateOne(new Document("a", n), Updates.set("b", n)))
            .block(TIMEOUT);

        assertThat(Mono.from(acknowledged.find(id).first()).block(TIMEOUT)).containsEntry("b", n);
      }
    }
  }

  private static CompletableFuture<?> insertSix(MongoCollection<Document> into) {
    List<Mono<?>> inserts = new ArrayList<>();
    for (int n = 0; n < 6; n++) {
      inserts.add(Mono.from(into.insertOne(new Document("_id", 10_000 + n))));
    }
    return Flux.merge(inserts).then().onErrorComplete().toFuture();
  }

  private void readAll() {
    assertThat(reads(READS).collectList().block(TIMEOUT)).hasSize(READS);
  }

  /**
   * Waits only for half of the reads. The other reads may be on the connection of an unacknowledged
   * write, and such a read waits for the write.
   */
  private void readOnOtherConnections() {
    assertThat(reads(2 * READS).take(READS).collectList().block(TIMEOUT)).hasSize(READS);
  }

  private Flux<Document> reads(int number) {
    return Flux.range(0, number)
        .flatMap(n -> collection.find(Filters.eq("_id", n % 100)).first(), 20);
  }

  private long matching(Document filter) {
    return plain
        .getDatabase("it")
        .getCollection(collection.getNamespace().getCollectionName())
        .countDocuments(filter);
  }

  private static void defaultWriteConcern(Document concern) {
    plain
        .getDatabase("admin")
        .runCommand(
            new Document("setDefaultRWConcern", 1)
                .append("defaultWriteConcern", concern)
                .append("writeConcern", new Document("w", 1)));
  }

  /**
   * The number of commands with this name, or of their statements, that the server is executing.
   */
  private long running(String command) {
    String name = collection.getNamespace().getCollectionName();
    Document running =
        plain
            .getDatabase("admin")
            .runCommand(
                new Document("currentOp", 1)
                    .append(
                        "$or",
                        List.of(
                            new Document("op", command).append("ns", "it." + name),
                            new Document("command." + command, name))));
    return running.getList("inprog", Document.class).size();
  }
}
