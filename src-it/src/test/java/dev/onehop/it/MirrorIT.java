package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.notNullValue;

import com.mongodb.client.MongoClients;
import com.mongodb.client.model.WriteModel;
import com.mongodb.client.model.changestream.FullDocument;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.channel.ChangeChannels;
import dev.onehop.streams.channel.ChannelGroup;
import dev.onehop.streams.channel.FencedSink;
import dev.onehop.streams.channel.SnapshotThenStream;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.mirror.MirrorWrites;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The writes of mirrors on a real server: after them, the mirror equals the source, even if writes
 * run again.
 */
@Tag("full")
@SharedReplicaSet
@SuppressWarnings("try") // javac: close() may throw InterruptedException
class MirrorIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int WRITES = 3_000;
  private static final int CHANNELS = 8;
  private static final String LAST = "last";

  private static String url;
  private static com.mongodb.client.MongoClient syncClient;
  private static MongoClient client;

  @BeforeAll
  static void start(RealMongod shared) {
    url = shared.url();
    syncClient = MongoClients.create(url);
    client = com.mongodb.reactivestreams.client.MongoClients.create(url);
  }

  @AfterAll
  static void stop() {
    syncClient.close();
    client.close();
  }

  @BeforeEach
  void drop() {
    syncClient.getDatabase("mirror").drop();
    for (String each : List.of("source", "copy")) {
      syncClient.getDatabase("mirror").createCollection(each);
    }
  }

  private static ShardedChangeStream.Builder stream() {
    return ShardedChangeStream.builder(url).collection("mirror", "source");
  }

  private static MongoCollection<Document> copy() {
    return client.getDatabase("mirror").getCollection("copy");
  }

  /**
   * Documents have all kinds of {@code _id}s and field names. Some updates cannot be made from
   * their event, so the mirror writes the whole document. The mirror starts while documents are
   * written.
   */
  @Test
  void fencedMirrorEqualsSource() throws InterruptedException {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Disposable running;
    try (RandomWrites random = new RandomWrites(syncClient, "mirror", List.of("source"), 60, 2)) {
      await().atMost(TIMEOUT).until(() -> random.done() >= WRITES / 3);
      running = mirror(failure);
      await().atMost(TIMEOUT).until(() -> random.done() >= WRITES && isFilled());
      long before = random.done();
      await().atMost(TIMEOUT).until(() -> random.done() >= before + WRITES / 3);
    }
    awaitEqual(failure);
    leave(running);
  }

  @Test
  void mirrorsEmptyCollection() {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Disposable running = mirror(failure);
    await().atMost(TIMEOUT).until(MirrorIT::isFilled);
    assertThat(collection("copy").countDocuments()).isZero();
    collection("source").insertOne(BsonDocument.parse("{_id: 1, a: 1}"));
    awaitEqual(failure);
    leave(running);
  }

  /**
   * Reactor does not emit errors of this kind to the subscriber. If the member did not end, it
   * would keep its channels, and no other member could take them.
   */
  @Test
  void errorInSnapshotWritesEndsMember() {
    collection("source").insertOne(BsonDocument.parse("{_id: 1, a: 1}"));
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Disposable running =
        mirror(
            failure,
            event -> {
              throw new StackOverflowError("in the writes");
            });
    await().atMost(TIMEOUT).untilAtomic(failure, notNullValue());
    assertThat(failure.get()).hasMessageContaining("in the writes");
    leave(running);
  }

  private static Disposable mirror(AtomicReference<Throwable> failure) {
    return mirror(failure, MirrorWrites.byId());
  }

  private static Disposable mirror(
      AtomicReference<Throwable> failure,
      Function<StreamEvent.Change, List<? extends WriteModel<BsonDocument>>> mirrored) {
    MongoDatabase database = client.getDatabase("mirror");
    ChannelGroup group =
        ChannelGroup.builder(
                stream().fullDocument(FullDocument.UPDATE_LOOKUP).build(),
                CHANNELS,
                "mirror",
                database.getCollection("leases"))
            .build();
    FencedSink sink = new FencedSink(client, copy(), database.getCollection("states"), mirrored);
    return Mono.from(
            SnapshotThenStream.of(group, client, database.getCollection("source")).process(sink))
        .subscribe(nothing -> {}, failure::set);
  }

  /**
   * Ends a member and waits until it has released its leases. The release needs the client, which
   * the test closes afterwards.
   */
  private static void leave(Disposable running) {
    running.dispose();
    await()
        .atMost(TIMEOUT)
        .until(
            () ->
                collection("leases").countDocuments(BsonDocument.parse("{member: {$exists: true}}"))
                    == 0);
  }

  private static boolean isFilled() {
    return collection("states").countDocuments(BsonDocument.parse("{place: {$exists: true}}"))
        == CHANNELS;
  }

  private static void awaitEqual(AtomicReference<Throwable> failure) {
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> {
              assertThat(failure.get()).isNull();
              assertThat(content("copy")).isEqualTo(content("source"));
            });
  }

  private static com.mongodb.client.MongoCollection<BsonDocument> collection(String collection) {
    return syncClient.getDatabase("mirror").getCollection(collection, BsonDocument.class);
  }

  /**
   * No field name contains a dot, because then an event alone is not enough to repeat the update.
   */
  @Test
  void repeatedEventsHaveSameResult() throws InterruptedException {
    ShardedChangeStream stream = stream().build();
    Checkpoint start = Mono.from(stream.start()).block(TIMEOUT);
    List<String> updates =
        RandomWrites.UPDATES.stream()
            .filter(update -> !update.contains("Field") && !update.contains("x.y"))
            .toList();
    assertThat(updates).hasSizeGreaterThan(20);
    Random random = new Random(7);
    for (int i = 0; i < WRITES; i++) {
      write(random, updates);
    }
    collection("source").insertOne(new BsonDocument("_id", new BsonString(LAST)));
    List<StreamEvent> events =
        Flux.from(stream.events(start))
            .filter(event -> event instanceof StreamEvent.Change)
            .takeUntil(event -> id((StreamEvent.Change) event).equals(new BsonString(LAST)))
            .collectList()
            .block(TIMEOUT);
    assertThat(events.size()).isGreaterThan(WRITES / 4);
    List<Integer> ends = new ArrayList<>();
    for (int from = 0; from < events.size(); ) {
      int to = Math.min(events.size(), from + 1 + random.nextInt(400));
      apply(events.subList(from, to));
      ends.add(to);
      // Applies some events again, as after a restart from an earlier position.
      from = to == events.size() ? to : Math.max(0, to - random.nextInt(200));
    }
    assertThat(ends).hasSizeGreaterThan(10);
    assertThat(content("copy")).isEqualTo(content("source"));
  }

  /**
   * The first update sets a field inside {@code a}. The second update replaces {@code a} by another
   * value, mostly an array. Then both events are applied again, although {@code a} already has its
   * last value.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {b: 1}          | a.b     | [1, 2]
          {b: 1}          | a.b     | [{b: 1}]
          {b: {c: 1}}     | a.b.c   | [{b: {c: 1}}]
          [{b: 1}]        | a.0.b   | [[1]]
          [{b: 1}]        | a.0.b   | [5, {'0': {b: 1}}]
          [{b: 1}]        | a.0.b   | {'0': [1, 2]}
          [[{b: 1}]]      | a.0.0.b | [[[1]]]
          """)
  void repeatedEventKeepsArray(String before, String path, String after) {
    ShardedChangeStream stream = stream().build();
    Checkpoint start = Mono.from(stream.start()).block(TIMEOUT);
    collection("source").insertOne(BsonDocument.parse("{_id: 1, a: %s}".formatted(before)));
    for (String update : List.of("{'%s': 2}".formatted(path), "{a: %s}".formatted(after))) {
      collection("source")
          .updateOne(new BsonDocument(), new BsonDocument("$set", BsonDocument.parse(update)));
    }
    List<StreamEvent> events =
        Flux.from(stream.events(start))
            .filter(event -> event instanceof StreamEvent.Change)
            .take(3)
            .collectList()
            .block(TIMEOUT);
    for (int from = 0; from < events.size(); from++) {
      apply(events.subList(from, events.size()));
      assertThat(content("copy")).isEqualTo(content("source"));
    }
  }

  private static void apply(List<StreamEvent> events) {
    Mono.from(
            ChangeChannels.builder(Flux.fromIterable(events), 4)
                .maxBatch(50)
                .build()
                .process(MirrorWrites.byId().into(copy())))
        .block(TIMEOUT);
  }

  private static BsonValue id(StreamEvent.Change change) {
    return change.document().getDocument("documentKey").get("_id");
  }

  private static void write(Random random, List<String> updates) {
    BsonDocument key = new BsonDocument("_id", RandomWrites.id(random.nextInt(40)));
    BsonValue update =
        BsonDocument.parse(
                "{u: %s}"
                    .formatted(
                        updates
                            .get(random.nextInt(updates.size()))
                            .formatted(random.nextInt(1_000), random.nextInt(4))))
            .get("u");
    int kind = random.nextInt(12);
    if (kind == 0) {
      update =
          key.clone()
              .append(
                  "list",
                  BsonDocument.parse("{l: ['%s', 2, 3, 4]}".formatted("y".repeat(50))).get("l"))
              .append("s", BsonDocument.parse("{p: 1, o: {l: [1, {m: 1}], q: 2}}"));
    }
    BsonDocument command =
        kind == 1
            ? new BsonDocument("delete", new BsonString("source"))
                .append(
                    "deletes",
                    new BsonArray(
                        List.of(new BsonDocument("q", key).append("limit", new BsonInt32(1)))))
            : new BsonDocument("update", new BsonString("source"))
                .append(
                    "updates",
                    new BsonArray(
                        List.of(
                            new BsonDocument("q", key)
                                .append("u", update)
                                .append("upsert", BsonBoolean.valueOf(kind == 0)))));
    // The reply is ignored: an update that the server refuses changes nothing.
    var unused = syncClient.getDatabase("mirror").runCommand(command);
  }

  /**
   * The documents by {@code _id}. The fields are sorted, because a field that is removed and set
   * again becomes the last one.
   */
  private static Map<String, BsonValue> content(String collection) {
    Map<String, BsonValue> content = new TreeMap<>();
    for (BsonDocument each : collection(collection).find()) {
      content.put(each.get("_id").toString(), sorted(each));
    }
    return content;
  }

  private static BsonValue sorted(BsonValue value) {
    if (value.isArray()) {
      return new BsonArray(value.asArray().stream().map(MirrorIT::sorted).toList());
    }
    if (!value.isDocument()) {
      return value;
    }
    BsonDocument sorted = new BsonDocument();
    new TreeMap<>(value.asDocument()).forEach((name, each) -> sorted.append(name, sorted(each)));
    return sorted;
  }
}
