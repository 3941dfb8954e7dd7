package dev.onehop.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs the source on a small Flink cluster with three real shards. Ranges move while task managers
 * are killed. Each version of each document must count exactly once in the job's state, in order.
 *
 * <p>With {@code -Donehop.it.flink.seconds=300}, the test writes for five minutes.
 */
class ChangeStreamSourceIT {
  static final String TOPOLOGY =
      """
      name: flink
      regions: [here]
      hosts:
        c: {region: here, address: 127.61.0.1}
        s1: {region: here, address: 127.61.0.2}
        s2: {region: here, address: 127.61.0.3}
        s3: {region: here, address: 127.61.0.4}
      roundTrips:
        here <-> here: 0.4
      client: c
      configServers: [c]
      shards:
        one: [s1]
        two: [s2]
        three: [s3]
      mongos: [c]
      """;
  private static final Duration LOAD =
      Duration.ofSeconds(Integer.getInteger("onehop.it.flink.seconds", 8));
  private static final Duration TIMEOUT = Duration.ofSeconds(90);
  private static final int KEYS = 120;

  /**
   * The {@code _id} of the document that is written until the job has begun. The job may miss the
   * first versions of this document.
   */
  private static final int PROBE = -1;

  private static final int KILLS = 2;
  static final int TASK_MANAGERS = 3;
  private static final BsonDocument KEY = new BsonDocument("_id", new BsonInt32(1));
  private static final TypeInformation<Tuple3<Integer, Long, String>> TYPE =
      Types.TUPLE(Types.INT, Types.LONG, Types.STRING);

  /**
   * The last version that the job has counted, by document. The job runs in this process, so the
   * test can read this map.
   */
  private static final Map<Integer, Long> COUNTED = new ConcurrentHashMap<>();

  /** The number of times that a task of the counting step was started. */
  private static final AtomicInteger STARTS = new AtomicInteger();

  private static final Queue<String> WRONG = new ConcurrentLinkedQueue<>();

  private static Testbed testbed;
  private static MongoClient client;

  private MiniCluster cluster;
  private final Map<Integer, Long> written = new ConcurrentHashMap<>();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(Topology.parse("flink.yaml", TOPOLOGY)).start();
    client = MongoClients.create(testbed.url());
  }

  @AfterAll
  static void stop() {
    if (client != null) {
      client.close();
    }
    if (testbed != null) {
      testbed.close();
    }
  }

  @BeforeEach
  void startFlink() throws Exception {
    COUNTED.clear();
    STARTS.set(0);
    WRONG.clear();
    cluster = startCluster();
  }

  @AfterEach
  void stopFlink() throws Exception {
    cluster.closeAsync().get();
  }

  /** Converts an event to the document's {@code _id}, its version and the event's token. */
  private static final class Versions implements ChangeDeserializer<Tuple3<Integer, Long, String>> {
    private static final long serialVersionUID = 1L;

    @Override
    public void deserialize(StreamEvent event, Collector<Tuple3<Integer, Long, String>> out) {
      StreamEvent.Change change = (StreamEvent.Change) event;
      RawBsonDocument document = change.document();
      int key = document.getDocument("documentKey").getInt32("_id").getValue();
      BsonDocument fields =
          document.containsKey("fullDocument")
              ? document.getDocument("fullDocument")
              : document.getDocument("updateDescription").getDocument("updatedFields");
      out.collect(Tuple3.of(key, fields.getInt64("v").getValue(), change.token()));
    }

    @Override
    public TypeInformation<Tuple3<Integer, Long, String>> producedType() {
      return TYPE;
    }
  }

  /** Checks that each version is the next one after the version in the job's state. */
  private static final class VersionCheck
      extends KeyedProcessFunction<Integer, Tuple3<Integer, Long, String>, Long> {
    private static final long serialVersionUID = 1L;
    private transient ValueState<Long> last;

    @Override
    public void open(OpenContext context) {
      last = getRuntimeContext().getState(new ValueStateDescriptor<>("last", Types.LONG));
      STARTS.incrementAndGet();
    }

    @Override
    public void processElement(
        Tuple3<Integer, Long, String> value, Context context, Collector<Long> out)
        throws Exception {
      Long before = last.value();
      long expected = before == null ? 1 : before + 1;
      if (value.f1 != expected && !(value.f0 == PROBE && before == null)) {
        WRONG.add(value + " where " + expected + " was expected");
      }
      last.update(value.f1);
      COUNTED.put(value.f0, value.f1);
      out.collect(value.f1);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void eachVersionCountsOnceDespiteKillsAndMoves(int splitsPerShard) throws Exception {
    String name = "versions" + splitsPerShard;
    MongoCollection<Document> collection = sharded(name);
    StreamExecutionEnvironment environment = environment();
    String url = testbed.url();
    environment
        .fromSource(
            ChangeStreamSource.of(
                    () -> ShardedChangeStream.builder(url).collection("shop", name).build(),
                    new Versions())
                .splitsPerShard(splitsPerShard),
            WatermarkStrategy.noWatermarks(),
            "changes")
        .keyBy(value -> value.f0)
        .process(new TokenOrder<>(value -> value.f2, TYPE))
        .keyBy(value -> value.f0)
        .process(new VersionCheck())
        .sinkTo(new DiscardingSink<>());
    JobID job = submit(environment);
    awaitSeen(collection);
    Thread load = new Thread(() -> load(collection, name), "load");
    load.start();
    for (int kill = 0; kill < KILLS; kill++) {
      // A third of the load's time passes before each kill.
      load.join(LOAD.toMillis() / 3);
      cluster.terminateTaskManager(kill).get();
      cluster.startTaskManager();
    }
    load.join();
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> {
              assertThat(WRONG).isEmpty();
              // The job receives the last events only after the cluster time has risen. This write
              // raises it.
              write(collection, 0);
              assertThat(behind()).isEmpty();
            });
    cluster.cancelJob(job).get();
    assertThat(STARTS.get()).isGreaterThanOrEqualTo((1 + KILLS) * TASK_MANAGERS);
    assertThat(WRONG).isEmpty();
    assertThat(failures).isEmpty();
  }

  @Test
  void jobFinishesWhenCollectionIsDropped() throws Exception {
    MongoCollection<Document> collection = sharded("orders");
    StreamExecutionEnvironment environment = environment();
    String url = testbed.url();
    environment
        .fromSource(
            ChangeStreamSource.of(
                () -> ShardedChangeStream.builder(url).collection("shop", "orders").build(),
                ChangeDeserializer.json()),
            WatermarkStrategy.noWatermarks(),
            "orders")
        .map(
            json -> {
              Document event = Document.parse(json);
              if (event.getString("operationType").equals("insert")) {
                COUNTED.put(event.get("documentKey", Document.class).getInteger("_id"), 1L);
              }
              return json;
            })
        .returns(Types.STRING)
        .sinkTo(new DiscardingSink<>());
    JobID job = submit(environment);
    AtomicInteger inserts = new AtomicInteger();
    await()
        .atMost(TIMEOUT)
        .pollInterval(Duration.ofMillis(200))
        .until(
            () -> {
              boolean seen = COUNTED.containsKey(inserts.get() - 1);
              if (!seen) {
                collection.insertOne(new Document("_id", inserts.getAndIncrement()));
              }
              return seen;
            });
    testbed.dropCollection("shop.orders");
    await().atMost(TIMEOUT).until(() -> cluster.getJobStatus(job).get() == JobStatus.FINISHED);
  }

  private static MongoCollection<Document> sharded(String name) {
    testbed.shardCollection(
        "shop." + name,
        KEY,
        IntStream.of(20, 40, 60, 80, 100)
            .mapToObj(id -> new BsonDocument("_id", new BsonInt32(id)))
            .toList());
    return client.getDatabase("shop").getCollection(name).withWriteConcern(WriteConcern.MAJORITY);
  }

  /** Starts a cluster with one slot per task manager. */
  static MiniCluster startCluster() throws Exception {
    MiniCluster cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration())
                .setNumTaskManagers(TASK_MANAGERS)
                .setNumSlotsPerTaskManager(1)
                .build());
    cluster.start();
    return cluster;
  }

  private static Configuration configuration() {
    Configuration configuration = new Configuration();
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 100);
    configuration.set(
        RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(200));
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(32));
    return configuration;
  }

  static StreamExecutionEnvironment environment() {
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment(configuration());
    environment.setParallelism(TASK_MANAGERS);
    environment.enableCheckpointing(300);
    return environment;
  }

  private JobID submit(StreamExecutionEnvironment environment) throws Exception {
    return cluster.submitJob(environment.getStreamGraph().getJobGraph()).get().getJobID();
  }

  /**
   * Writes until the job has seen a write, because the test does not know the time at which the job
   * begins.
   */
  private void awaitSeen(MongoCollection<Document> collection) {
    await()
        .atMost(TIMEOUT)
        .pollInterval(Duration.ofMillis(300))
        .until(
            () -> {
              collection.updateOne(
                  Filters.eq(PROBE), Updates.inc("v", 1L), new UpdateOptions().upsert(true));
              return COUNTED.containsKey(PROBE);
            });
  }

  private void load(MongoCollection<Document> collection, String name) {
    try {
      Random random = new Random(1);
      List<String> shards = List.of("one", "two", "three");
      long end = System.nanoTime() + LOAD.toNanos();
      while (System.nanoTime() - end < 0) {
        for (int i = 0; i < 40; i++) {
          write(collection, random.nextInt(KEYS));
        }
        testbed.moveRange(
            "shop." + name,
            new BsonDocument("_id", new BsonInt32(20 * (1 + random.nextInt(5)))),
            shards.get(random.nextInt(shards.size())));
      }
    } catch (RuntimeException | AssertionError failure) {
      failures.add(failure);
    }
  }

  private void write(MongoCollection<Document> collection, int key) {
    collection.updateOne(Filters.eq(key), Updates.inc("v", 1L), new UpdateOptions().upsert(true));
    written.merge(key, 1L, Long::sum);
  }

  private List<Integer> behind() {
    List<Integer> behind = new ArrayList<>();
    written.forEach(
        (key, version) -> {
          // The last writes of the test have the key 0. The job receives their events only after
          // later writes, so it may be 5 versions behind.
          if (COUNTED.getOrDefault(key, 0L) < version - (key == 0 ? 5 : 0)) {
            behind.add(key);
          }
        });
    return behind;
  }
}
