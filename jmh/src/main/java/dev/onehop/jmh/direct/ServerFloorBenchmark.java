package dev.onehop.jmh.direct;

import com.mongodb.ServerAddress;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;
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
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Direct mode compared with its upper bound: the throughput of one {@code mongod} with sockets that
 * send pre-encoded messages. If client and server share processors, no client reaches this bound.
 * The difference to the bound is the cost of the client.
 *
 * <p>The upper bound uses one socket per thread. Direct mode uses four shared sockets. To measure
 * with several numbers of threads:
 *
 * <pre>{@code
 * java -jar jmh/target/benchmarks.jar ServerFloor -t 1
 * java -jar jmh/target/benchmarks.jar ServerFloor -t 64
 * }</pre>
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Threads(16)
@Fork(
    value = 1,
    jvmArgsAppend = "--enable-native-access=ALL-UNNAMED") // for Netty's native transport
@Warmup(iterations = 3, time = 5)
@Measurement(iterations = 3, time = 5)
public class ServerFloorBenchmark {
  private static final int RECORDS = 1_000;

  /**
   * The operation: {@code find} reads one document by its {@code _id}; {@code update} updates one
   * document with write concern 1.
   */
  @Param({"find", "update"})
  public String operation = "";

  private @Nullable Testbed testbed;
  private @Nullable MongoClient client;
  private @Nullable MongoCollection<BsonDocument> collection;
  private @Nullable ServerAddress server;

  /** Starts a cluster and loads a collection on one shard. */
  @Setup(Level.Trial)
  public void start() {
    Testbed started = Testbed.builder(Topology.resolve("single-host")).start();
    testbed = started;
    MongoClient direct =
        OneHop.builder(started.url() + "/?w=1")
            .routing(RoutingMode.DIRECT)
            .pipelining(sockets -> {})
            .client(MongoClient.class);
    client = direct;
    MongoCollection<BsonDocument> records =
        direct.getDatabase(Records.DATABASE).getCollection(Records.COLLECTION, BsonDocument.class);
    List<BsonDocument> documents = new ArrayList<>();
    for (int i = 0; i < RECORDS; i++) {
      documents.add(Records.document(i));
    }
    Mono.from(records.insertMany(documents)).block();
    collection = records;
    server = primaryShard(direct);
  }

  /** Returns the only member of the database's primary shard. */
  private static ServerAddress primaryShard(MongoClient client) {
    String shard = byId(client, "databases", Records.DATABASE).getString("primary").getValue();
    String host = byId(client, "shards", shard).getString("host").getValue();
    return new ServerAddress(host.substring(host.indexOf('/') + 1));
  }

  private static BsonDocument byId(MongoClient client, String collection, String id) {
    return Objects.requireNonNull(
        Flux.from(
                client
                    .getDatabase("config")
                    .getCollection(collection, BsonDocument.class)
                    .find(new BsonDocument("_id", new BsonString(id))))
            .blockLast());
  }

  /** Stops the cluster. */
  @TearDown(Level.Trial)
  public void stop() {
    if (client != null) {
      client.close();
    }
    if (testbed != null) {
      testbed.close();
    }
  }

  /** The socket of one thread. */
  @State(Scope.Thread)
  public static class Connection {
    private @Nullable RawSocket socket;

    /** Connects. */
    @Setup(Level.Trial)
    public void open(ServerFloorBenchmark benchmark) throws IOException {
      ServerAddress server = Objects.requireNonNull(benchmark.server);
      socket = new RawSocket(server.getHost(), server.getPort(), benchmark.operation, RECORDS);
    }

    /** Disconnects. */
    @TearDown(Level.Trial)
    public void close() throws IOException {
      if (socket != null) {
        socket.close();
      }
    }
  }

  /** The upper bound: sends a pre-encoded message on a socket. */
  @Benchmark
  public int server(Connection connection) {
    return Objects.requireNonNull(connection.socket).exchange();
  }

  /** Executes an operation of an application in direct mode. */
  @Benchmark
  public @Nullable Object direct() {
    MongoCollection<BsonDocument> records = Objects.requireNonNull(collection);
    int record = ThreadLocalRandom.current().nextInt(RECORDS);
    BsonDocument byId = new BsonDocument("_id", new BsonString(Records.key(record)));
    return operation.equals("find")
        ? Mono.from(records.find(byId).first()).block()
        : Mono.from(records.updateOne(byId, Records.change(record))).block();
  }
}
