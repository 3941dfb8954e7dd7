package dev.onehop.jmh.routing;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoCollection;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.local.LocalIoHandler;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
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
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Like {@link RoutingOverheadBenchmark}, with the whole official driver. The path between driver
 * and router is therefore included. The driver's transport replies at once on the same thread.
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
  /**
   * The number of operations per call. The driver's thread subscribes to all of them, and no
   * operation waits for another thread.
   */
  private static final int BATCH = 1_000;

  @Param({"plain", "routed", "metered"})
  String client = "";

  private @Nullable StubbedCollection open;
  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, LocalIoHandler.newFactory());
  private final Scheduler driverThread = Schedulers.fromExecutorService(group);

  @Setup
  public void open() {
    open = new StubbedCollection(client, group);
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

  /** Runs the operations one after the other. */
  private void run(Supplier<Publisher<?>> operation) {
    Long done =
        Flux.range(0, BATCH)
            .concatMap(i -> operation.get(), 1)
            .count()
            .subscribeOn(driverThread)
            .block();
    if (done == null || done != BATCH) {
      throw new IllegalStateException(done + " results came for " + BATCH + " operations");
    }
  }

  private MongoCollection<Document> collection() {
    return stubbed().documents();
  }

  private String key() {
    return stubbed().key();
  }

  private StubbedCollection stubbed() {
    StubbedCollection here = open;
    if (here == null) {
      throw new IllegalStateException("the benchmark is not open");
    }
    return here;
  }
}
