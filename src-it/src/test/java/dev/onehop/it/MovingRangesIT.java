package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.model.Accumulators;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.FindOneAndReplaceOptions;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.it.clients.RoutedModes;
import dev.onehop.routing.OneHop;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMinKey;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A hundred threads use every kind of operation while ranges move between the shards. There is no
 * error and no wrong read. At the end, each acknowledged write is stored exactly once.
 *
 * <p>Each thread writes its own documents, in the whole key range, and knows their contents: every
 * write pushes its number to the document's log. Calls such as {@code updateMany} match only a
 * single document. If they went to several shards, MongoDB would not guarantee that a moving
 * document is updated exactly once.
 *
 * <p>Before a release, run it with {@code -Donehop.it.stress.seconds=60}.
 */
class MovingRangesIT {
  private static final String NAMESPACE = "it.moving";
  private static final Duration STRESS =
      Duration.ofSeconds(Integer.getInteger("onehop.it.stress.seconds", RoutedModes.FULL ? 15 : 8));
  private static final int THREADS = 100;
  private static final int KEYS = 10_000;
  private static final int CHUNK = 500;
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private final AtomicLong operations = new AtomicLong();
  private final AtomicInteger moves = new AtomicInteger();
  private volatile boolean stopped;

  @Test
  void storesEachAcknowledgedWriteOnce() throws InterruptedException {
    try (Testbed testbed = Testbed.builder(Topology.named("us-2014")).start()) {
      testbed.shardCollection(
          NAMESPACE,
          new BsonDocument("_id", new BsonInt32(1)),
          IntStream.range(1, KEYS / CHUNK)
              .mapToObj(i -> new BsonDocument("_id", new BsonInt32(i * CHUNK)))
              .toList());
      Map<Integer, Document> expected = new HashMap<>();
      try (MongoClient client = OneHop.builder(testbed.url()).client(MongoClient.class)) {
        MongoCollection<Document> collection = client.getDatabase("it").getCollection("moving");
        List<Owner> owners =
            IntStream.range(0, THREADS).mapToObj(i -> new Owner(i, collection)).toList();
        List<Thread> threads = new ArrayList<>();
        owners.forEach(owner -> threads.add(new Thread(owner, "owner-" + owner.number)));
        Thread mover = new Thread(() -> move(testbed), "mover");
        threads.forEach(Thread::start);
        mover.start();
        RealTime.pass(STRESS);
        stopped = true;
        for (Thread thread : threads) {
          thread.join(TIMEOUT.toMillis());
          assertThat(thread.isAlive()).as("%s hangs", thread.getName()).isFalse();
        }
        mover.join(TIMEOUT.toMillis());
        owners.forEach(owner -> expected.putAll(owner.documents));
      }
      System.err.printf(
          "%d operations, %d moves, %d documents, %d failures%n",
          operations.get(), moves.get(), expected.size(), failures.size());
      assertThat(failures).isEmpty();
      assertThat(moves.get()).isPositive();
      // Compares the documents that an unrouted client reads, and each shard's count of the
      // documents that it owns.
      try (MongoClient plain = MongoClients.create(testbed.url())) {
        Map<Integer, Document> found = new HashMap<>();
        for (Document document :
            Flux.from(plain.getDatabase("it").getCollection("moving").find())
                .collectList()
                .block(TIMEOUT)) {
          assertThat(found.put(document.getInteger("_id"), document))
              .as("twice: %s", document)
              .isNull();
        }
        assertThat(found).isEqualTo(expected);
      }
      assertThat(
              testbed.evidence(NAMESPACE).placement().owned().values().stream()
                  .mapToLong(Long::longValue)
                  .sum())
          .isEqualTo(expected.size());
    }
  }

  private void move(Testbed testbed) {
    Random random = new Random(1);
    List<String> shards = testbed.topology().shards().stream().map(s -> s.name()).toList();
    while (!stopped) {
      int chunk = random.nextInt(KEYS / CHUNK);
      try {
        testbed.moveRange(
            NAMESPACE,
            new BsonDocument("_id", chunk == 0 ? new BsonMinKey() : new BsonInt32(chunk * CHUNK)),
            shards.get(random.nextInt(shards.size())));
        moves.incrementAndGet();
      } catch (RuntimeException e) {
        failures.add(e);
        return;
      }
    }
  }

  private interface Step {
    void run();
  }

  /** A thread with the expected contents of its documents. */
  private final class Owner implements Runnable {
    private final int number;
    private final MongoCollection<Document> collection;
    private final Random random;
    private final SortedMap<Integer, Document> documents = new TreeMap<>();
    private final List<Step> steps =
        List.of(
            this::insertOne,
            this::insertMany,
            this::find,
            this::findSeveral,
            this::count,
            this::aggregate,
            this::distinct,
            this::updateOne,
            this::updateMany,
            this::upsert,
            this::replaceOne,
            this::findOneAndUpdate,
            this::findOneAndReplace,
            this::findOneAndDelete,
            this::deleteOne,
            this::deleteMany,
            () -> bulkWrite(true),
            () -> bulkWrite(false));
    private int writes;

    Owner(int number, MongoCollection<Document> collection) {
      this.number = number;
      this.collection = collection;
      this.random = new Random(number);
    }

    @Override
    public void run() {
      try {
        while (!stopped) {
          steps.get(random.nextInt(steps.size())).run();
          operations.incrementAndGet();
        }
      } catch (RuntimeException | AssertionError e) {
        failures.add(e);
      }
    }

    private void insertOne() {
      Document document = newDocument();
      block(collection.insertOne(document));
      expect(document);
    }

    private void insertMany() {
      List<Document> several = distinct(List.of(newDocument(), newDocument(), newDocument()));
      assertThat(block(collection.insertMany(several)).getInsertedIds()).hasSize(several.size());
      several.forEach(this::expect);
    }

    private void find() {
      int id = anyId();
      assertThat(block(collection.find(Filters.eq(id)).first())).isEqualTo(documents.get(id));
    }

    private void findSeveral() {
      int from = anyId();
      List<Document> found =
          Flux.from(
                  collection
                      .find(
                          Filters.and(
                              Filters.gte("_id", from),
                              Filters.lt("_id", from + 2_000),
                              Filters.eq("owner", number)))
                      .sort(new Document("_id", 1)))
              .collectList()
              .block(TIMEOUT);
      assertThat(found).isEqualTo(List.copyOf(documents.subMap(from, from + 2_000).values()));
    }

    private void count() {
      int id = anyId();
      assertThat(block(collection.countDocuments(Filters.eq(id))))
          .isEqualTo(documents.containsKey(id) ? 1 : 0);
    }

    private void aggregate() {
      int id = anyId();
      Document found =
          block(
              collection
                  .aggregate(
                      List.of(
                          Aggregates.match(Filters.eq(id)),
                          Aggregates.group("$owner", Accumulators.sum("n", 1))))
                  .first());
      assertThat(found)
          .isEqualTo(documents.containsKey(id) ? new Document("_id", number).append("n", 1) : null);
    }

    private void distinct() {
      int id = anyId();
      List<Integer> found =
          Flux.from(collection.distinct("owner", Filters.eq(id), Integer.class))
              .collectList()
              .block(TIMEOUT);
      assertThat(found).isEqualTo(documents.containsKey(id) ? List.of(number) : List.of());
    }

    private void updateOne() {
      int id = anyId();
      int write = ++writes;
      assertThat(block(collection.updateOne(Filters.eq(id), push(write))).getModifiedCount())
          .isEqualTo(documents.containsKey(id) ? 1 : 0);
      recordPush(id, write);
    }

    private void updateMany() {
      int id = anyId();
      int write = ++writes;
      assertThat(
              block(
                      collection.updateMany(
                          Filters.and(Filters.eq(id), Filters.eq("owner", number)), push(write)))
                  .getModifiedCount())
          .isEqualTo(documents.containsKey(id) ? 1 : 0);
      recordPush(id, write);
    }

    private void upsert() {
      int id = anyId();
      int write = ++writes;
      Bson update = Updates.combine(Updates.setOnInsert("owner", number), push(write));
      block(collection.updateOne(Filters.eq(id), update, new UpdateOptions().upsert(true)));
      documents.computeIfAbsent(id, this::empty);
      recordPush(id, write);
    }

    private void replaceOne() {
      Document replacement = fresh(anyId());
      block(
          collection.replaceOne(
              Filters.eq(replacement.getInteger("_id")),
              replacement,
              new ReplaceOptions().upsert(true)));
      expect(replacement);
    }

    private void findOneAndUpdate() {
      int id = anyId();
      int write = ++writes;
      Document after =
          block(
              collection.findOneAndUpdate(
                  Filters.eq(id),
                  push(write),
                  new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER)));
      recordPush(id, write);
      assertThat(after).isEqualTo(documents.get(id));
    }

    private void findOneAndReplace() {
      Document replacement = fresh(anyId());
      int id = replacement.getInteger("_id");
      Document before =
          block(
              collection.findOneAndReplace(
                  Filters.eq(id), replacement, new FindOneAndReplaceOptions()));
      assertThat(before).isEqualTo(documents.get(id));
      if (before != null) {
        expect(replacement);
      }
    }

    private void findOneAndDelete() {
      int id = anyId();
      assertThat(block(collection.findOneAndDelete(Filters.eq(id))))
          .isEqualTo(documents.remove(id));
    }

    private void deleteOne() {
      int id = anyId();
      assertThat(block(collection.deleteOne(Filters.eq(id))).getDeletedCount())
          .isEqualTo(documents.remove(id) == null ? 0 : 1);
    }

    private void deleteMany() {
      int id = anyId();
      assertThat(
              block(collection.deleteMany(Filters.and(Filters.eq(id), Filters.eq("owner", number))))
                  .getDeletedCount())
          .isEqualTo(documents.remove(id) == null ? 0 : 1);
    }

    private void bulkWrite(boolean ordered) {
      Document inserted = newDocument();
      int updated = anyId();
      int deleted = anyId();
      int own = inserted.getInteger("_id");
      if (updated == own || deleted == own || updated == deleted) {
        return;
      }
      int write = ++writes;
      var result =
          block(
              collection.bulkWrite(
                  List.of(
                      new InsertOneModel<>(inserted),
                      new UpdateOneModel<>(Filters.eq(updated), push(write)),
                      new DeleteOneModel<>(Filters.eq(deleted))),
                  new BulkWriteOptions().ordered(ordered)));
      expect(inserted);
      assertThat(result.getInsertedCount()).isEqualTo(1);
      assertThat(result.getModifiedCount()).isEqualTo(documents.containsKey(updated) ? 1 : 0);
      recordPush(updated, write);
      assertThat(result.getDeletedCount()).isEqualTo(documents.remove(deleted) == null ? 0 : 1);
    }

    private int anyId() {
      return random.nextInt(KEYS / THREADS) * THREADS + number;
    }

    /** A new document with an unused {@code _id}. */
    private Document newDocument() {
      int id = anyId();
      while (documents.containsKey(id)) {
        if (documents.size() > KEYS / THREADS / 2) {
          int victim = documents.firstKey();
          block(collection.deleteOne(Filters.eq(victim)));
          documents.remove(victim);
        }
        id = anyId();
      }
      return fresh(id);
    }

    private List<Document> distinct(List<Document> some) {
      Map<Integer, Document> byId = new TreeMap<>();
      some.forEach(document -> byId.put(document.getInteger("_id"), document));
      return List.copyOf(byId.values());
    }

    private Document fresh(int id) {
      Document document = empty(id);
      document.getList("log", Integer.class).add(++writes);
      return document;
    }

    private Document empty(int id) {
      return new Document("_id", id).append("owner", number).append("log", new ArrayList<>());
    }

    private Bson push(int write) {
      return Updates.push("log", write);
    }

    private void recordPush(int id, int write) {
      Document document = documents.get(id);
      if (document != null) {
        document.getList("log", Integer.class).add(write);
      }
    }

    private void expect(Document document) {
      documents.put(document.getInteger("_id"), document);
    }
  }

  private static <T> T block(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
