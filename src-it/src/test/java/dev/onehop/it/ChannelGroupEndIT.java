package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Filters;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.channel.ChannelGroup;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/** How groups of channels end, on real servers. */
@ShardedCluster
@Tag("full")
class ChannelGroupEndIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int CHANNELS = 4;

  private static SharedCluster cluster;
  private static Testbed testbed;
  private static MongoClient client;

  private final Set<Object> seen = ConcurrentHashMap.newKeySet();
  private final com.mongodb.reactivestreams.client.MongoClient reactive =
      com.mongodb.reactivestreams.client.MongoClients.create(testbed.url());
  private final Disposable.Composite running = Disposables.composite();
  private MongoCollection<Document> watched;

  /** The end of a member of a group. */
  private static final class Member {
    private final AtomicBoolean completed = new AtomicBoolean();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
  }

  @BeforeAll
  static void start(SharedCluster shared) {
    cluster = shared;
    testbed = cluster.testbed();
    client = MongoClients.create(testbed.url());
  }

  @AfterAll
  static void stop() {
    if (client != null) {
      client.close();
    }
  }

  @BeforeEach
  void shard() {
    testbed.shardCollection(cluster.namespace("watched"), Numbered.KEY, Numbered.splitAt(20, 40));
    watched = client.getDatabase(cluster.database()).getCollection("watched");
  }

  @AfterEach
  void drop() {
    running.dispose();
    reactive.close();
    testbed.dropCollection(cluster.namespace("watched"));
    client.getDatabase(cluster.database()).getCollection("leases").drop();
  }

  private Member join() {
    Member member = new Member();
    ShardedChangeStream stream =
        ShardedChangeStream.builder(testbed.url())
            .collection(cluster.database(), "watched")
            .pipeline(List.of(Aggregates.match(Filters.eq("operationType", "insert"))))
            .build();
    boolean unused =
        running.add(
            Mono.from(
                    ChannelGroup.builder(
                            stream,
                            CHANNELS,
                            "it",
                            reactive.getDatabase(cluster.database()).getCollection("leases"))
                        .lease(Duration.ofSeconds(4), Duration.ofMillis(500))
                        .build()
                        .process(
                            (channel, events) ->
                                Mono.fromRunnable(
                                    () -> events.forEach(event -> seen.add(id(event.document()))))))
                .subscribe(nothing -> {}, member.failure::set, () -> member.completed.set(true)));
    return member;
  }

  private static Object id(BsonDocument event) {
    return event.getDocument("documentKey").getNumber("_id").intValue();
  }

  /** Inserts documents, and waits for their events, which show that the group runs. */
  private void insertAndAwait(int from) {
    watched.insertOne(new Document("_id", from));
    watched.insertOne(new Document("_id", from + 30));
    await().atMost(TIMEOUT).until(() -> seen.containsAll(Set.of(from, from + 30)));
  }

  private void awaitOwners() {
    await()
        .atMost(TIMEOUT)
        .until(
            () ->
                client
                        .getDatabase(cluster.database())
                        .getCollection("leases")
                        .countDocuments(Filters.type("owner", "string"))
                    == CHANNELS);
  }

  @Test
  void groupCompletesIfPipelineFiltersOutDrop() {
    Member first = join();
    awaitOwners();
    Member second = join();
    insertAndAwait(1);
    testbed.dropCollection(cluster.namespace("watched"));
    await().atMost(TIMEOUT).until(() -> first.completed.get() && second.completed.get());
    assertThat(first.failure.get()).isNull();
  }

  @Test
  void groupFailsAfterItsLeasesAreDropped() {
    Member first = join();
    awaitOwners();
    insertAndAwait(1);
    client.getDatabase(cluster.database()).getCollection("leases").drop();
    awaitRemoved(first);
    watched.insertOne(new Document("_id", 2));
    awaitRemoved(join());
    assertThat(seen).doesNotContain(2);
  }

  private static void awaitRemoved(Member member) {
    await().atMost(TIMEOUT).until(() -> member.failure.get() != null);
    assertThat(member.failure.get())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("the leases of group it in ChannelGroupEndIT.leases were removed");
  }
}
