package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Sorts;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.HistoryLostException;
import dev.onehop.streams.event.HistoryLostPolicy;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** A real server whose oplog no longer has the events after a stream's checkpoint. */
@Tag("full")
class LostHistoryIT {
  private static final Duration TIMEOUT = Duration.ofMinutes(2);
  private static final String FILLER = "x".repeat(10_000);

  private static RealMongod mongod;
  private static MongoClient client;

  @BeforeAll
  static void start() {
    mongod = RealMongod.startWithOplog(1);
    client = MongoClients.create(mongod.url());
  }

  @AfterAll
  static void stop() {
    if (client != null) {
      client.close();
    }
    if (mongod != null) {
      mongod.close();
    }
  }

  @Test
  void reportsLostHistoryAndReturnsRemainingEvents() {
    MongoCollection<Document> collection = client.getDatabase("lost").getCollection("c");
    collection.insertOne(new Document("_id", 0));
    Checkpoint checkpoint =
        Flux.from(
                stream()
                    .startAtOperationTime(oplog().find().first().get("ts", BsonTimestamp.class))
                    .build()
                    .events())
            .ofType(StreamEvent.Change.class)
            .blockFirst(TIMEOUT)
            .checkpoint();
    BsonTimestamp before = checkpoint.clusterTime();
    int[] next = {1};
    await()
        .atMost(TIMEOUT)
        .until(
            () -> {
              for (int n = 0; n < 100; n++) {
                collection.insertOne(new Document("_id", next[0]++).append("filler", FILLER));
              }
              return oldest().compareTo(before) > 0;
            });
    // Waits until the server truncates no more of the oplog. From here on, it writes only a few
    // no-ops.
    await().pollInterval(Duration.ofSeconds(3)).atMost(TIMEOUT).until(() -> settled());

    HistoryLostException failure = null;
    try {
      Flux.from(stream().startAfter(checkpoint).build().events()).blockFirst(TIMEOUT);
    } catch (HistoryLostException lost) {
      failure = lost;
    }
    assertThat(failure).isNotNull();
    assertThat(failure.shard()).isEmpty();
    assertThat(failure.from()).isEqualTo(before);
    assertThat(failure.to()).isEqualTo(new BsonTimestamp(oldest().getValue() + 1));

    List<Integer> remaining = new ArrayList<>();
    oplog()
        .find(
            Filters.and(
                Filters.gte("ts", failure.to()), Filters.eq("ns", "lost.c"), Filters.eq("op", "i")))
        .sort(Sorts.ascending("$natural"))
        .forEach(entry -> remaining.add(entry.get("o", Document.class).getInteger("_id")));
    assertThat(remaining).isNotEmpty().hasSizeLessThan(next[0] - 1);
    List<StreamEvent> events =
        Flux.from(
                stream()
                    .startAfter(checkpoint)
                    .historyLost(HistoryLostPolicy.CONTINUE)
                    .build()
                    .events())
            .filter(event -> !(event instanceof StreamEvent.Progress))
            .take(1 + remaining.size())
            .collectList()
            .block(TIMEOUT);
    StreamEvent.HistoryLost lost = (StreamEvent.HistoryLost) events.get(0);
    assertThat(lost.from()).isEqualTo(failure.from());
    assertThat(lost.to()).isEqualTo(failure.to());
    assertThat(events.subList(1, events.size()))
        .extracting(
            event ->
                ((StreamEvent.Change) event)
                    .document()
                    .getDocument("documentKey")
                    .getInt32("_id")
                    .getValue())
        .isEqualTo(remaining);
    System.err.printf(
        "lost from %s to %s, %d of %d events left%n",
        failure.from(), failure.to(), remaining.size(), next[0]);
  }

  private static ShardedChangeStream.Builder stream() {
    return ShardedChangeStream.builder(mongod.url()).collection("lost", "c");
  }

  private static MongoCollection<Document> oplog() {
    return client.getDatabase("local").getCollection("oplog.rs");
  }

  private static BsonTimestamp oldest() {
    return oplog().find().first().get("ts", BsonTimestamp.class);
  }

  private static boolean settled() throws InterruptedException {
    BsonTimestamp before = oldest();
    RealTime.pass(Duration.ofSeconds(3));
    return oldest().equals(before);
  }
}
