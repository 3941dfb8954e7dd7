package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ClientSessionOptions;
import com.mongodb.MongoException;
import com.mongodb.ReadConcern;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMinKey;
import org.bson.BsonValue;
import org.bson.Document;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * While amounts and ranges move, transactions and snapshot sessions read all accounts. Each of them
 * reads at a single cluster time, so the sum must be right.
 */
@ShardedCluster
@Tag("nightly")
class SnapshotSumsIT {
  private static final Duration TIME = Duration.ofSeconds(20);
  private static final int ACCOUNTS = 90;
  private static final int AMOUNT = 100;
  private static final TransactionOptions SNAPSHOT =
      TransactionOptions.builder()
          .readConcern(ReadConcern.SNAPSHOT)
          .writeConcern(WriteConcern.MAJORITY)
          .build();

  private final AtomicBoolean stop = new AtomicBoolean();
  private final AtomicInteger moves = new AtomicInteger();
  private final List<Integer> sums = new ArrayList<>();

  @Test
  void allSumsAreCorrect(SharedCluster cluster) throws InterruptedException {
    List<BsonValue> starts = List.of(new BsonMinKey(), new BsonInt32(30), new BsonInt32(60));
    cluster.shardCollection(
        "c",
        new BsonDocument("_id", new BsonInt32(1)),
        starts.subList(1, 3).stream().map(start -> new BsonDocument("_id", start)).toList());
    try (MongoClient client = MongoClients.create(cluster.url())) {
      MongoCollection<Document> accounts =
          client.getDatabase(cluster.database()).getCollection("c");
      accounts
          .withWriteConcern(WriteConcern.MAJORITY)
          .insertMany(
              IntStream.range(0, ACCOUNTS)
                  .mapToObj(id -> new Document("_id", id).append("n", AMOUNT))
                  .toList());
      Random random = new Random();
      List<Thread> threads =
          List.of(
              new Thread(() -> repeat(() -> transfer(client, accounts, random))),
              new Thread(() -> repeat(() -> sumInTransaction(client, accounts))),
              new Thread(() -> repeat(() -> sumInSnapshotSession(client, accounts))),
              new Thread(
                  () ->
                      repeat(
                          () -> {
                            cluster.moveRange(
                                "c",
                                new BsonDocument("_id", starts.get(random.nextInt(3))),
                                cluster.shards().get(random.nextInt(3)));
                            moves.incrementAndGet();
                          })));
      threads.forEach(Thread::start);
      RealTime.pass(TIME);
      stop.set(true);
      for (Thread thread : threads) {
        thread.join();
      }
    }
    assertThat(moves).hasPositiveValue();
    assertThat(sums).isNotEmpty().allMatch(sum -> sum == ACCOUNTS * AMOUNT);
  }

  private void repeat(Runnable step) {
    while (!stop.get()) {
      try {
        step.run();
      } catch (MongoException refused) {
        // A server refuses the read, because a range moves or has moved since the start.
      }
    }
  }

  private static void transfer(
      MongoClient client, MongoCollection<Document> accounts, Random random) {
    try (ClientSession session = client.startSession()) {
      session.withTransaction(
          () -> {
            accounts.updateOne(session, Filters.eq(random.nextInt(ACCOUNTS)), Updates.inc("n", -1));
            return accounts.updateOne(
                session, Filters.eq(random.nextInt(ACCOUNTS)), Updates.inc("n", 1));
          },
          TransactionOptions.builder().writeConcern(WriteConcern.MAJORITY).build());
    }
  }

  private void sumInTransaction(MongoClient client, MongoCollection<Document> accounts) {
    try (ClientSession session = client.startSession()) {
      session.startTransaction(SNAPSHOT);
      sum(session, accounts);
      session.abortTransaction();
    }
  }

  private void sumInSnapshotSession(MongoClient client, MongoCollection<Document> accounts) {
    try (ClientSession session =
        client.startSession(ClientSessionOptions.builder().snapshot(true).build())) {
      sum(session, accounts);
    }
  }

  private void sum(ClientSession session, MongoCollection<Document> accounts) {
    int sum = 0;
    for (Document account : accounts.find(session).batchSize(20)) {
      sum += account.getInteger("n");
    }
    synchronized (sums) {
      sums.add(sum);
    }
  }
}
