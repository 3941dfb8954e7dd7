package dev.onehop.jmh.workload;

import dev.onehop.jmh.check.Bar;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import dev.onehop.ycsb.KeyPopulation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/**
 * YCSB's workload A on a cluster: operations per second of {@link #threads} threads, and the mean
 * latency of an operation.
 *
 * <p>This class starts the threads of the workload. JMH's single thread takes the ended operations
 * of these threads one by one. JMH's score is therefore the score of all threads. The command of a
 * very short run, as in CI:
 *
 * <pre>{@code
 * java -jar jmh/target/benchmarks.jar WorkloadBenchmark -p topology=single-host -p mode=async
 * -p threads=4 -f 1 -wi 1 -w 1s -i 1 -r 3s
 * }</pre>
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Threads(1)
@Fork(
    value = 1,
    jvmArgsAppend = "--enable-native-access=ALL-UNNAMED") // for Netty's native transport
@Warmup(iterations = 2, time = 5)
@Measurement(iterations = 3, time = 10)
public class WorkloadBenchmark {
  private static final String URL = "onehop.jmh.url";
  private static final int RANGES_PER_SHARD = 4;

  /**
   * The topology of the testbed, a name or a file. The testbed starts for each fork and stops after
   * it. The topology is ignored if {@code -Donehop.jmh.url=...} names a running cluster.
   */
  @Param("us-2014")
  public String topology = "";

  /** The binding to measure. */
  @Param({"legacy", "async", "targeted-async", "direct-async"})
  public String mode = "";

  /** The number of threads, each with one operation at a time. */
  @Param({"1", "64"})
  public int threads;

  /** Connections per server, the same in each mode. */
  @Param("5")
  public int connections;

  /**
   * Whether each connection has many requests in flight. The mode {@code legacy} does not support
   * this.
   */
  @Param("false")
  public boolean pipelining;

  /** The number of records of the collection, which are loaded first if they are missing. */
  @Param("10000")
  public int records;

  private final List<DB> bindings = new ArrayList<>();
  private @Nullable Testbed testbed;
  private @Nullable ClosedLoop loop;

  /** The latency of operations, in addition to JMH's count of them. */
  @State(Scope.Thread)
  @AuxCounters
  public static class Latency {
    private @Nullable ClosedLoop loop;

    /**
     * Returns the mean latency of an operation in microseconds, times the seconds of the interval.
     *
     * <p>JMH treats this counter as a rate. It divides the counter by the seconds of each iteration
     * and averages the quotients, which gives the mean latency. A counter that is not a rate does
     * not fit, because JMH adds its values. JMH prints the unit {@code ops/s}, but the values are
     * microseconds.
     */
    public double meanLatencyMicros() {
      return loop == null ? 0 : loop.meanLatencyMicros() * loop.elapsedSeconds();
    }
  }

  /** Loads the collection, opens the bindings and starts the threads. */
  @Setup(Level.Trial)
  public void open() throws DBException, WorkloadException {
    String url = Objects.requireNonNullElseGet(System.getProperty(URL), this::startCluster);
    Properties properties = properties(url);
    Measurements.setProperties(properties);
    new Loader(url, properties).loadUnlessThere(records);
    CoreWorkload workload = new CoreWorkload();
    workload.init(properties);
    for (int i = 0; i < threads; i++) {
      DB binding = Bindings.of(mode);
      binding.setProperties(properties);
      binding.init();
      bindings.add(binding);
    }
    loop = new ClosedLoop(workload, bindings);
  }

  /**
   * Starts to count operations. The threads continue between iterations, so no iteration starts or
   * ends with idle threads.
   */
  @Setup(Level.Iteration)
  public void reset() {
    loop().reset();
  }

  /** Stops the threads and closes the bindings. */
  @TearDown(Level.Trial)
  public void close() throws InterruptedException, DBException {
    if (loop != null) {
      loop.stop();
    }
    for (DB binding : bindings) {
      binding.cleanup();
    }
    if (testbed != null) {
      testbed.close();
    }
  }

  /** Waits for one operation to end. */
  @Bar(
      name = "workload",
      parameters = {
        "topology=us-2014",
        "threads=64",
        "connections=5",
        "records=1000",
        "mode=targeted-async",
        "pipelining=true"
      },
      baselineParameters = {"mode=async", "pipelining=false"},
      atLeast = 3,
      rounds = 1,
      warmup = @Warmup(iterations = 1, time = 3),
      measurement = @Measurement(iterations = 2, time = 2))
  @Benchmark
  public void operation(Latency latency) throws InterruptedException {
    latency.loop = loop();
    loop().awaitOperation();
  }

  private String startCluster() {
    testbed = Testbed.builder(Topology.resolve(topology)).start();
    int ranges = testbed.shardHosts().size() * RANGES_PER_SHARD;
    List<BsonDocument> splitPoints =
        KeyPopulation.of(Map.of("recordcount", String.valueOf(records)))
            .splitPoints(ranges)
            .stream()
            .map(key -> new BsonDocument("_id", new BsonString(key)))
            .toList();
    testbed.shardCollection(
        "ycsb.usertable", new BsonDocument("_id", new BsonInt32(1)), splitPoints);
    return testbed.url() + "/ycsb?w=1";
  }

  private ClosedLoop loop() {
    return Objects.requireNonNull(loop);
  }

  private Properties properties(String url) {
    Properties properties = new Properties();
    properties.setProperty("mongodb.url", url);
    properties.setProperty("onehop.connections", String.valueOf(connections));
    if (pipelining) {
      properties.setProperty(
          "onehop.pipelining", "true"); // the binding of the synchronous driver has no pipelining
    }
    properties.setProperty("recordcount", String.valueOf(records));
    // This number does not limit the operations. The workload uses it only for the range of
    // inserted keys, and it inserts no keys.
    properties.setProperty("operationcount", "1");
    properties.setProperty("readproportion", "0.5");
    properties.setProperty("updateproportion", "0.5");
    properties.setProperty("requestdistribution", "zipfian");
    return properties;
  }
}
