package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.ServerAddress;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.connection.ClusterId;
import com.mongodb.connection.ServerDescription;
import com.mongodb.event.ClusterClosedEvent;
import com.mongodb.event.ClusterDescriptionChangedEvent;
import com.mongodb.event.ClusterListener;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.testbed.Testbed;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Mongoses are added to the metadata and removed while operations run. For a thorough run, set
 * {@code -Donehop.it.replaced.seconds=400}.
 */
@Tag("nightly")
class ReplacedClientsIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final Duration PAUSE =
      Duration.ofSeconds(Integer.getInteger("onehop.it.replaced.seconds", 5));

  /** Nothing listens there. */
  private static final String UNUSED_ADDRESS = "127.0.0.9:27999";

  private static final String BESIDE_SHARD_1 = "127.36.1.1:27999";

  private static Testbed testbed;
  private static MongoClient configServer;
  private static int collections;

  private final Map<ClusterId, Set<ServerAddress>> clusters = new ConcurrentHashMap<>();
  private MongoClient client;
  private MongoCollection<Document> collection;

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(NearShards.WITH_MONGOSES).start();
    configServer =
        MongoClients.create(
            "mongodb://"
                + testbed.configServers().replaceFirst(".*/", "")
                + "/?directConnection=true");
  }

  @AfterAll
  static void stop() {
    if (configServer != null) {
      configServer.close();
    }
    if (testbed != null) {
      testbed.close();
    }
  }

  @BeforeEach
  void connect() {
    client =
        OneHop.builder(testbed.url())
            .refreshInterval(Duration.ofSeconds(1))
            .measureRoundTrips(false)
            .applyToClientSettings(
                settings ->
                    settings.applyToClusterSettings(
                        cluster -> cluster.addClusterListener(new Clusters(clusters))))
            .client(MongoClient.class);
    String name = "replaced" + ++collections;
    testbed.shardCollection("it." + name, Numbered.KEY, Numbered.splitAt(100, 200));
    collection = client.getDatabase("it").getCollection(name);
    run(collection.insertMany(Numbered.documents(300)));
  }

  @AfterEach
  void close() {
    client.close();
    for (String address : List.of(UNUSED_ADDRESS, BESIDE_SHARD_1)) {
      run(mongoses().deleteOne(Filters.eq(address)));
    }
  }

  @Test
  @SuppressWarnings("try") // The variable of the announcement is not used, only closed.
  void mongosWithoutLocalShardReplacesNoClient() throws InterruptedException {
    Set<ClusterId> before = Set.copyOf(clusters.keySet());
    assertThat(before).hasSizeGreaterThanOrEqualTo(3);

    try (Announcement unused = new Announcement(UNUSED_ADDRESS)) {
      RealTime.pass(Duration.ofSeconds(5));

      assertThat(run(collection.find(Filters.eq(10)).first())).isNotNull();
      assertThat(clusters.keySet()).isEqualTo(before);
    }
  }

  @Test
  void runningOperationsKeepTheirServers() throws InterruptedException {
    ServerAddress added = new ServerAddress(BESIDE_SHARD_1);
    SlowReader shardReader = new SlowReader(collection.find(Filters.lt("_id", 100)).batchSize(2));
    SlowReader clusterReader = new SlowReader(collection.find().batchSize(2));
    try (ClientSession session = run(client.startSession())) {
      session.startTransaction();
      run(collection.updateOne(session, Filters.eq(10), Updates.inc("n", 1)));

      try (Announcement announced = new Announcement(BESIDE_SHARD_1)) {
        await().atMost(TIMEOUT).untilAsserted(() -> assertThat(watched()).contains(added));
        run(collection.updateOne(session, Filters.eq(11), Updates.inc("n", 1)));
        run(session.commitTransaction());
        RealTime.pass(PAUSE);
        announced.withdraw(BESIDE_SHARD_1);
        await().atMost(TIMEOUT).untilAsserted(() -> assertThat(watched()).doesNotContain(added));
        run(collection.updateOne(session, Filters.eq(12), Updates.inc("n", 1)));
        for (int id = 10; id < 13; id++) {
          assertThat(run(collection.find(session, Filters.eq(id)).first()))
              .containsEntry("n", id + 1);
        }

        assertThat(shardReader.rest()).containsExactlyElementsOf(ids(100));
        assertThat(clusterReader.rest()).containsExactlyInAnyOrderElementsOf(ids(300));
      }
    }
  }

  private List<ServerAddress> watched() {
    return clusters.values().stream().flatMap(Set::stream).toList();
  }

  /** Requests two documents at first, and the rest in {@link #rest}. */
  private static final class SlowReader extends BaseSubscriber<Document> {
    private final List<Integer> ids = new CopyOnWriteArrayList<>();
    private volatile @Nullable Throwable failure;
    private volatile boolean complete;

    SlowReader(Publisher<Document> read) {
      read.subscribe(this);
      await().atMost(TIMEOUT).until(() -> ids.size() == 2);
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      request(2);
    }

    @Override
    protected void hookOnNext(Document document) {
      ids.add(document.getInteger("_id"));
    }

    @Override
    protected void hookOnError(Throwable thrown) {
      failure = thrown;
    }

    @Override
    protected void hookOnComplete() {
      complete = true;
    }

    List<Integer> rest() {
      requestUnbounded();
      await().atMost(TIMEOUT).until(() -> complete || failure != null);
      assertThat(failure).isNull();
      return ids;
    }
  }

  /**
   * An entry in {@code config.mongos} for a mongos that does not run. The entry's {@code ping} is
   * updated, so the mongos seems to run.
   */
  private static final class Announcement implements AutoCloseable {
    private final Disposable pinging;

    Announcement(String address) {
      pinging =
          Flux.interval(Duration.ZERO, Duration.ofSeconds(5))
              .concatMap(
                  tick ->
                      mongoses()
                          .updateOne(
                              Filters.eq(address),
                              Updates.combine(
                                  Updates.set("ping", Instant.now()),
                                  Updates.set("mongoVersion", "6.0.5"),
                                  Updates.set("up", 10L)),
                              new UpdateOptions().upsert(true)))
              .subscribe();
    }

    /** Ends the announcement and removes the mongos from the metadata. */
    void withdraw(String address) {
      close();
      run(mongoses().deleteOne(Filters.eq(address)));
    }

    @Override
    public void close() {
      pinging.dispose();
    }
  }

  /** The servers that each client of the driver monitors. */
  private record Clusters(Map<ClusterId, Set<ServerAddress>> seen) implements ClusterListener {
    @Override
    public void clusterDescriptionChanged(ClusterDescriptionChangedEvent event) {
      seen.put(
          event.getClusterId(),
          event.getNewDescription().getServerDescriptions().stream()
              .map(ServerDescription::getAddress)
              .collect(Collectors.toSet()));
    }

    @Override
    public void clusterClosed(ClusterClosedEvent event) {
      seen.remove(event.getClusterId());
    }
  }

  private static MongoCollection<Document> mongoses() {
    return configServer.getDatabase("config").getCollection("mongos");
  }

  private static List<Integer> ids(int number) {
    return IntStream.range(0, number).boxed().toList();
  }

  private static <T> @Nullable T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
