package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.WriteModel;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.streams.channel.ChannelBatch;
import dev.onehop.streams.channel.ChannelSink;
import dev.onehop.streams.channel.FencedException;
import dev.onehop.streams.channel.FencedSink;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** On a real server: whichever command of a sink is delayed, the fence prevents its late effect. */
@SharedReplicaSet
class FencedSinkIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int CHANNEL = 3;

  private static RealMongod store;
  private static MongoClient client;

  @BeforeAll
  static void start(RealMongod shared) {
    store = shared;
    client = MongoClients.create(store.url());
  }

  @AfterAll
  static void stop() {
    if (client != null) {
      client.close();
    }
  }

  @BeforeEach
  void drop() {
    run(database().drop());
    run(database().createCollection("applied"));
  }

  private static MongoDatabase database() {
    return client.getDatabase("fenced");
  }

  private static <T> T run(Publisher<T> publisher) {
    return Mono.from(publisher).block(TIMEOUT);
  }

  private static ChannelSink sink(MongoClient over) {
    MongoDatabase database = over.getDatabase("fenced");
    return new FencedSink(
        over,
        database.getCollection("applied"),
        database.getCollection("states"),
        FencedSinkIT::writes);
  }

  private static List<WriteModel<BsonDocument>> writes(StreamEvent.Change change) {
    return List.of(
        new UpdateOneModel<>(
            Filters.eq("all"),
            Updates.push("values", change.document().get("n")),
            new UpdateOptions().upsert(true)));
  }

  /** A batch with the values {@code from} to {@code to}. */
  private static ChannelBatch batch(long term, int from, int to) {
    return new ChannelBatch(
        CHANNEL,
        term,
        IntStream.rangeClosed(from, to)
            .mapToObj(
                n ->
                    new StreamEvent.Change(
                        "one",
                        place(n).low(),
                        new RawBsonDocument(
                            new BsonDocument("n", new BsonInt32(n)), new BsonDocumentCodec()),
                        0,
                        place(n)))
            .toList(),
        place(to));
  }

  private static Checkpoint place(int n) {
    return Checkpoint.before(new BsonTimestamp(n, 0));
  }

  private static void assertApplied(int last) {
    Document all = run(database().getCollection("applied").find().first());
    assertThat(all.getList("values", Integer.class))
        .isEqualTo(IntStream.rangeClosed(1, last).boxed().toList());
  }

  @Test
  void newTermResumesAndFencesPreviousTerm() {
    ChannelSink first = sink(client);
    ChannelSink second = sink(client);
    assertThat(run(first.begin(CHANNEL, 1))).isNull();
    run(first.write(batch(1, 1, 10)));
    run(first.write(batch(1, 11, 20)));
    assertThat(run(second.begin(CHANNEL, 2))).isEqualTo(place(20));
    assertThatThrownBy(() -> run(first.write(batch(1, 21, 30))))
        .isInstanceOf(FencedException.class);
    assertThatThrownBy(() -> run(first.begin(CHANNEL, 1))).isInstanceOf(FencedException.class);
    run(second.write(batch(2, 21, 30)));
    assertApplied(30);
    assertThatThrownBy(() -> run(second.write(batch(1, 31, 31))))
        .isInstanceOf(FencedException.class);
  }

  /** The owner's process is stopped just before it sends one of the commands of a transaction. */
  @ParameterizedTest
  @ValueSource(strings = {"states", "applied", "commitTransaction"})
  void newOwnerAbortsOpenTransaction(String at) throws Exception {
    CountDownLatch reached = new CountDownLatch(1);
    CountDownLatch resume = new CountDownLatch(1);
    Predicate<BsonDocument> stopsAt =
        command ->
            command.containsKey(at)
                || (new BsonString(at).equals(command.get("update"))
                    && command.containsKey("txnNumber"));
    try (MongoClient frozen = client(stopsAt, reached, resume)) {
      ChannelSink first = sink(frozen);
      run(first.begin(CHANNEL, 1));
      CompletableFuture<Void> late =
          CompletableFuture.runAsync(() -> run(first.write(batch(1, 1, 10))));
      assertThat(reached.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
      long began = System.nanoTime();
      ChannelSink second = sink(client);
      assertThat(run(second.begin(CHANNEL, 2))).isNull();
      run(second.write(batch(2, 1, 10)));
      // The new owner has ended the old transaction. Otherwise the server would end it only after
      // 60 s.
      assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(30));
      assertApplied(10);
      resume.countDown();
      assertThatThrownBy(() -> late.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(FencedException.class);
      run(second.write(batch(2, 11, 20)));
      assertApplied(20);
    }
  }

  private static MongoClient client(
      Predicate<BsonDocument> stopsAt, CountDownLatch reached, CountDownLatch resume) {
    return MongoClients.create(
        MongoClientSettings.builder()
            .applyConnectionString(new ConnectionString(store.url()))
            .addCommandListener(
                new CommandListener() {
                  @Override
                  public void commandStarted(CommandStartedEvent event) {
                    if (stopsAt.test(event.getCommand())) {
                      reached.countDown();
                      try {
                        resume.await();
                      } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                      }
                    }
                  }
                })
            .build());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        // The next two: the command is not executed, and the connection breaks.
        "{failCommands: ['update'], closeConnection: true}",
        "{failCommands: ['commitTransaction'], closeConnection: true}",
        // The command is executed, but the reply has a write concern error.
        "{failCommands: ['commitTransaction'], "
            + "writeConcernError: {code: 64, errmsg: 'it takes long'}}",
        // The transaction was ended by the server (251), by another client's write (112), or by a
        // new owner (11601).
        "{failCommands: ['commitTransaction'], errorCode: 251}",
        "{failCommands: ['update'], errorCode: 112, errorLabels: ['TransientTransactionError']}",
        "{failCommands: ['update'], errorCode: 11601}"
      })
  void writesBatchOnceDespiteServerErrors(String failure) {
    ChannelSink sink = sink(client);
    run(sink.begin(CHANNEL, 1));
    for (int n = 1; n <= 3; n++) {
      run(
          client
              .getDatabase("admin")
              .runCommand(
                  new Document("configureFailPoint", "failCommand")
                      .append("mode", new Document("times", n))
                      .append("data", Document.parse(failure))));
      run(sink.write(batch(1, 10 * n - 9, 10 * n)));
      assertApplied(10 * n);
    }
    run(
        client
            .getDatabase("admin")
            .runCommand(new Document("configureFailPoint", "failCommand").append("mode", "off")));
    assertThat(run(sink(client).begin(CHANNEL, 2))).isEqualTo(place(30));
  }

  @Test
  void invalidWriteFailsWholeBatch() {
    ChannelSink sink =
        new FencedSink(
            client,
            database().getCollection("applied"),
            database().getCollection("states"),
            change ->
                List.of(
                    new UpdateOneModel<BsonDocument>(
                        Filters.eq(change.document().get("n")),
                        change.document().getInt32("n").getValue() == 2
                            ? new BsonDocument("$wrong", new BsonDocument("a", new BsonInt32(1)))
                            : Updates.set("a", 1),
                        new UpdateOptions().upsert(true))));
    run(sink.begin(CHANNEL, 1));
    assertThatThrownBy(() -> run(sink.write(batch(1, 1, 3))))
        .isInstanceOf(MongoException.class)
        .isNotInstanceOf(FencedException.class);
    assertThat(run(database().getCollection("applied").countDocuments())).isZero();
    run(sink.write(batch(1, 5, 6)));
    assertThat(run(database().getCollection("applied").countDocuments())).isEqualTo(2);
  }
}
