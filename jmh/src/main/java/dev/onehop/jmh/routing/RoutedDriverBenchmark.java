package dev.onehop.jmh.routing;

import com.mongodb.MongoClientSettings;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.internal.client.RoutedMongoClient;
import dev.onehop.routing.internal.client.RoutingSettings;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.local.LocalIoHandler;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The same as {@link RoutingOverheadBenchmark} with the official driver whole, whose transport
 * answers at once and on the same thread: what routing adds here is also what the driver spends on
 * a client with a server selector of its own.
 *
 * <pre>java -jar jmh/target/benchmarks.jar RoutedDriver -prof gc</pre>
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class RoutedDriverBenchmark {
  private static final Duration RARELY = Duration.ofHours(1);

  /** Operations are subscribed to on the driver's thread, so that none waits for another thread. */
  private static final int BATCH = 1_000;

  @Param({"plain", "routed", "metered"})
  String client = "";

  private @Nullable MongoClient open;
  private @Nullable MongoCollection<Document> documents;
  private final String[] keys = new String[StubServers.CHUNKS];
  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, LocalIoHandler.newFactory());
  private final Scheduler driverThread = Schedulers.fromExecutorService(group);
  private int next;

  @Setup
  public void open() {
    MongoClientSettings settings = StubServers.settings(group);
    MongoClient made = client.equals("plain") ? MongoClients.create(settings) : routed(settings);
    open = made;
    documents = made.getDatabase("ycsb").getCollection("usertable");
    for (int i = 0; i < keys.length; i++) {
      keys[i] = StubServers.key(i) + "x";
    }
    // The first operation waits for the mongoses and the routing table.
    Document found = Mono.from(collection().find(Filters.eq("_id", key())).first()).block();
    if (found == null
        || (made instanceof RoutedMongoClient here
            && here.affinity().shardsWithRouter().size() < StubServers.SHARDS)) {
      throw new IllegalStateException("nothing is routed");
    }
  }

  private MongoClient routed(MongoClientSettings settings) {
    MeterRegistry meters =
        client.equals("metered") ? new SimpleMeterRegistry() : new CompositeMeterRegistry();
    return RoutedMongoClient.create(
        settings,
        new RoutingSettings(
            RARELY,
            Duration.ZERO,
            true,
            Map.of(),
            UnaryOperator.identity(),
            meters,
            ObservationRegistry.NOOP),
        MongoClients::create,
        () -> {});
  }

  @TearDown
  public void close() {
    if (open != null) {
      open.close();
    }
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void find() {
    run(() -> collection().find(Filters.eq("_id", key())).first());
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void updateOne() {
    run(() -> collection().updateOne(Filters.eq("_id", key()), Updates.set("field0", "value")));
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void insertOne() {
    run(() -> collection().insertOne(new Document("_id", key()).append("field0", "value")));
  }

  /** One after the other. */
  private void run(Supplier<Publisher<?>> operation) {
    Long done =
        Flux.range(0, BATCH)
            .concatMap(i -> operation.get(), 1)
            .count()
            .subscribeOn(driverThread)
            .block();
    if (done == null || done != BATCH) {
      throw new IllegalStateException(done + " results of " + BATCH + " operations");
    }
  }

  private MongoCollection<Document> collection() {
    MongoCollection<Document> here = documents;
    if (here == null) {
      throw new IllegalStateException("not open");
    }
    return here;
  }

  private String key() {
    next = next + 1 == keys.length ? 0 : next + 1;
    return keys[next];
  }
}
