package dev.onehop.measure.delivery;

import com.mongodb.ClientSessionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.InsertManyOptions;
import dev.onehop.resync.Failure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Someone who subscribes to a query: reads it as of one cluster time, and opens a stream at the
 * next. So each change is in what was read or in the stream, and not in both. Events that come
 * while documents are still being read are handed over after them.
 */
final class Subscription implements AutoCloseable {

  private static final int BATCH = 1_000;
  private static final long POLL_MILLIS = 1;

  private final StreamPath path;
  private final StreamRequest request;
  private final MongoClient client;
  private final int run;
  private final @Nullable Integer group;
  private final List<HashRanges> shards;
  private final int firstSignal;
  private final Duration patience;
  private final ChangeChecker checker = new ChangeChecker();
  private final Samples sinceDue = new Samples();
  private final Samples sinceBegan = new Samples();
  private final Set<Long> signals = new HashSet<>(); // guarded by this
  private @Nullable List<Item> waiting = new ArrayList<>(); // guarded by this; null when read
  private @Nullable CompletableFuture<EventReader> opening;
  private @Nullable EventReader reader;
  private long began;
  private long read;
  private long live;
  private int nextSignal;

  /**
   * @param request its start is left out of account
   * @param client reads the documents
   * @param group the query; null for the whole collection
   * @param shards the hashes of each shard
   * @param firstSignal signals of this subscription begin with it; other subscriptions have others
   * @param patience if a signal has not come after so long, it will not come
   */
  Subscription(
      StreamPath path,
      StreamRequest request,
      MongoClient client,
      int run,
      @Nullable Integer group,
      List<HashRanges> shards,
      int firstSignal,
      Duration patience) {
    this.path = path;
    this.request = request;
    this.client = client;
    this.run = run;
    this.group = group;
    this.shards = shards;
    this.firstSignal = firstSignal;
    this.patience = patience;
  }

  /**
   * Subscribes: returns when all documents were handed over, and all that was written by then has
   * come, too.
   *
   * @param signalGroup of the signals that are written to know that
   */
  void subscribe(int signalGroup) throws InterruptedException {
    began = SteadyClock.micros();
    readDocuments();
    awaitWritten(signalGroup);
    live = SteadyClock.micros();
  }

  private void readDocuments() {
    ClientSessionOptions snapshot = ClientSessionOptions.builder().snapshot(true).build();
    CompletableFuture<EventReader> stream;
    try (ClientSession session = client.startSession(snapshot);
        MongoCursor<RawBsonDocument> documents =
            collection()
                .withDocumentClass(RawBsonDocument.class)
                .find(session, query("_id"))
                .batchSize(BATCH)
                .cursor()) {
      BsonTimestamp time = session.getSnapshotTimestamp();
      if (time == null) {
        throw Failure.run("the servers told no time of a read with read concern snapshot", null);
      }
      // Meanwhile: each path opens its stream in another way.
      StreamRequest after = from(next(time));
      // On a thread of its own: the common ones are few, and opening waits for servers.
      stream =
          CompletableFuture.supplyAsync(
              () -> EventReader.open(path, after, this::take),
              open -> new Thread(open, "stream-opener").start());
      opening = stream;
      while (documents.hasNext()) {
        Item item = Item.of(documents.next());
        if (item != null && !item.isSignal()) {
          checker.snapshot(item.number(), item.version());
        }
      }
    }
    read = SteadyClock.micros();
    reader = opened(stream);
    synchronized (this) {
      List<Item> before = waiting == null ? List.of() : waiting;
      before.forEach(item -> handOver(item, SteadyClock.micros()));
      waiting = null;
    }
  }

  private static EventReader opened(CompletableFuture<EventReader> opening) {
    try {
      return opening.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException why ? why : e;
    }
  }

  private static BsonTimestamp next(BsonTimestamp time) {
    return new BsonTimestamp(time.getTime(), time.getInc() + 1);
  }

  private StreamRequest from(BsonTimestamp start) {
    return new StreamRequest(
        request.settings(),
        request.database(),
        request.collection(),
        start,
        List.of(new BsonDocument("$match", query("documentKey._id"))),
        request.await(),
        request.total());
  }

  private BsonDocument query(String key) {
    BsonDocument query = new BsonDocument(key + ".run", new BsonInt32(run));
    return group == null ? query : query.append(key + ".g", new BsonInt32(group));
  }

  private MongoCollection<BsonDocument> collection() {
    return client
        .getDatabase(request.database())
        .getCollection(request.collection(), BsonDocument.class);
  }

  private void take(RawBsonDocument event) {
    long seen = SteadyClock.micros();
    Item item = Item.ofEvent(event);
    if (item == null || item.run() != run || (group != null && item.group() != group)) {
      return;
    }
    synchronized (this) {
      if (waiting != null) {
        waiting.add(item);
      } else {
        handOver(item, seen);
      }
    }
  }

  private synchronized void handOver(Item item, long micros) {
    if (item.isSignal()) {
      boolean unused = signals.add(item.number());
      return;
    }
    checker.event(item.number(), item.version());
    sinceDue.add(micros - item.dueMicros());
    sinceBegan.add(micros - item.beganMicros());
  }

  /**
   * Writes a signal on each shard, and waits until they have come; so what was acknowledged before
   * has come, too, in a stream that keeps each shard's order. What was lost did not.
   *
   * @throws Failure if the stream has failed, or is silent for long
   */
  void awaitWritten(int signalGroup) throws InterruptedException {
    List<RawBsonDocument> documents = new ArrayList<>();
    List<Long> expected = new ArrayList<>();
    long now = SteadyClock.micros();
    for (int shard = 0; shard < shards.size(); shard++) {
      long number = Item.signal(firstSignal + nextSignal++);
      expected.add(number);
      documents.add(
          new Item(run, signalGroup, number, 1, now, now)
              .document(shards.get(shard).hash(number), Item.LEAST_BYTES));
    }
    var unused =
        collection()
            .withDocumentClass(RawBsonDocument.class)
            .withWriteConcern(WriteConcern.MAJORITY)
            .insertMany(documents, new InsertManyOptions().ordered(false));
    while (!haveCome(expected)) {
      Thread.sleep(POLL_MILLIS);
      check();
      if (SteadyClock.micros() - now > patience.toMillis() * 1_000) {
        throw Failure.run(
            "the change stream by path "
                + path.label()
                + " gave no event of a write for "
                + patience.toSeconds()
                + " s",
            null);
      }
    }
  }

  private synchronized boolean haveCome(List<Long> expected) {
    return signals.containsAll(expected);
  }

  private void check() {
    Throwable why = reader == null ? null : reader.failure();
    if (why != null) {
      throw Failure.run(
          "the change stream by path " + path.label() + ": " + Failure.firstLine(why), why);
    }
  }

  ChangeChecker checker() {
    return checker;
  }

  /** Times of changes from when they were meant to begin to when they were handed over. */
  Samples sinceDue() {
    return sinceDue;
  }

  /** The same from when they began. */
  Samples sinceBegan() {
    return sinceBegan;
  }

  /** How long reading the documents took. */
  long readMicros() {
    return read - began;
  }

  /** How long it took to be live. */
  long liveMicros() {
    return live - began;
  }

  @Override
  public void close() {
    if (opening != null) {
      var unused = opening.thenAccept(EventReader::close); // Reading may have failed before.
    }
  }
}
