package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.ReplaceOptions;
import dev.onehop.copy.internal.apply.Applier;
import dev.onehop.copy.internal.apply.ApplyStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** Events of real servers applied to real servers: in the end both have the same bytes. */
class CopyApplyIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final List<String> COLLECTIONS = List.of("one", "two");
  private static final int KEYS = 40;

  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

  /** From the middle of a copy, with the applier ended and begun anew meanwhile. */
  @Test
  void randomChangesOfReplicaSetsGiveTheSameBytes() throws Exception {
    try (RealMongod from = RealMongod.start();
        RealMongod to = RealMongod.start();
        MongoClient source = MongoClients.create(from.url());
        MongoClient destination = MongoClients.create(to.url())) {
      Duration time = Duration.ofSeconds(Integer.getInteger("onehop.it.apply.seconds", 6));
      try (RandomWrites writes = new RandomWrites(source, "d", COLLECTIONS, KEYS, 3)) {
        ServerProcess.pause(Duration.ofMillis(500));
        BsonTimestamp start = now(source);
        for (String collection : COLLECTIONS) {
          copy(source, destination, collection);
        }
        try (Running running = new Running(from.url(), to.url(), start)) {
          ServerProcess.pause(time.dividedBy(2));
        }
        try (Running running = new Running(from.url(), to.url(), start)) {
          ServerProcess.pause(time.dividedBy(2));
          writes.close();
          BsonTimestamp end = now(source);
          BsonTimestamp applied = running.finish();
          assertThat(applied).isGreaterThanOrEqualTo(end);
          System.err.printf(
              "%d writes, %d refused, %s%n",
              writes.done(), writes.failures().size(), running.status());
        }
        assertThat(failures).isEmpty();
        for (String collection : COLLECTIONS) {
          assertEqual(documents(source, collection), documents(destination, collection));
        }
      }
    }
  }

  /** An applier in this process. */
  private final class Running implements AutoCloseable {
    private final com.mongodb.reactivestreams.client.MongoClient source;
    private final com.mongodb.reactivestreams.client.MongoClient destination;
    private final Applier applier;
    private final Disposable run;

    Running(String from, String to, BsonTimestamp start) {
      source = com.mongodb.reactivestreams.client.MongoClients.create(from);
      destination = com.mongodb.reactivestreams.client.MongoClients.create(to);
      applier =
          Applier.builder(
                  MongoClientSettings.builder()
                      .applyConnectionString(new ConnectionString(from))
                      .build(),
                  start)
              .clients(source, destination)
              .state(destination.getDatabase("onehop_copy"), "it")
              .lanes(4)
              .maxBatch(50)
              .build();
      run = applier.run().subscribe(nothing -> {}, failures::add);
    }

    BsonTimestamp finish() {
      CompletableFuture<BsonTimestamp> finished = applier.finish().toFuture();
      await()
          .atMost(TIMEOUT)
          .failFast(() -> assertThat(failures).isEmpty())
          .until(finished::isDone);
      return finished.join();
    }

    ApplyStatus status() {
      return applier.status().block(TIMEOUT);
    }

    @Override
    public void close() throws InterruptedException {
      run.dispose();
      // Its channels are given up in the background.
      ServerProcess.pause(Duration.ofSeconds(2));
      source.close();
      destination.close();
    }
  }

  /** Not at one time. */
  private static void copy(MongoClient source, MongoClient destination, String collection) {
    MongoCollection<RawBsonDocument> into = collection(destination, collection);
    for (RawBsonDocument document : collection(source, collection).find().batchSize(2)) {
      // A scan may meet a document twice.
      into.replaceOne(
          new BsonDocument("_id", document.get("_id")),
          document,
          new ReplaceOptions().upsert(true));
    }
  }

  private static MongoCollection<RawBsonDocument> collection(MongoClient of, String name) {
    return of.getDatabase("d").getCollection(name, RawBsonDocument.class);
  }

  /** As text, which tells types and the order of fields. */
  private static Map<String, String> documents(MongoClient of, String name) {
    Map<String, String> documents = new TreeMap<>();
    for (RawBsonDocument document : collection(of, name).find()) {
      documents.put(document.get("_id").toString(), document.toJson());
    }
    return documents;
  }

  private static void assertEqual(Map<String, String> expected, Map<String, String> found) {
    Set<String> all = new TreeSet<>(expected.keySet());
    all.addAll(found.keySet());
    List<String> differences = new ArrayList<>();
    for (String id : all) {
      if (!Objects.equals(expected.get(id), found.get(id))) {
        differences.add("%n%s%n  not %s".formatted(expected.get(id), found.get(id)));
      }
    }
    assertThat(differences).isEmpty();
    assertThat(expected).isNotEmpty();
  }

  private static BsonTimestamp now(MongoClient of) {
    return of.getDatabase("admin")
        .runCommand(BsonDocument.parse("{ping: 1}"), BsonDocument.class)
        .getTimestamp("operationTime");
  }
}
