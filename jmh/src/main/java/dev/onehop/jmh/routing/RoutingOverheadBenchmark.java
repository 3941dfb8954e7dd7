package dev.onehop.jmh.routing;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoCollection;
import java.util.concurrent.TimeUnit;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/**
 * What routing adds to an operation, over a client that answers at once: the difference between the
 * same operation on {@code plain} and on {@code routed} (without meters) or {@code metered} (with
 * Micrometer's SimpleMeterRegistry). The bar is 1.5 µs and 512 bytes:
 *
 * <pre>java -jar jmh/target/benchmarks.jar RoutingOverhead -prof gc</pre>
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class RoutingOverheadBenchmark {
  @Param({"plain", "routed", "metered"})
  String client = "";

  private @Nullable StubbedCollection open;

  @Setup
  public void open() {
    open =
        new StubbedCollection(
            client,
            MongoClientSettings.builder()
                .applyConnectionString(new ConnectionString(StubCluster.URI))
                .build(),
            StubCluster::client);
  }

  @TearDown
  public void close() {
    if (open != null) {
      open.close();
    }
  }

  @Benchmark
  public void find(Blackhole sink) {
    consume(collection().find(Filters.eq("_id", key())).first(), sink);
  }

  @Benchmark
  public void updateOne(Blackhole sink) {
    Bson update = Updates.set("field0", "value");
    consume(collection().updateOne(Filters.eq("_id", key()), update), sink);
  }

  @Benchmark
  public void insertOne(Blackhole sink) {
    consume(collection().insertOne(new Document("_id", key()).append("field0", "value")), sink);
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
      throw new IllegalStateException("not open");
    }
    return here;
  }

  private static <T> void consume(Publisher<T> publisher, Blackhole sink) {
    publisher.subscribe(
        new CoreSubscriber<>() {
          @Override
          public void onSubscribe(Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
          }

          @Override
          public void onNext(T result) {
            sink.consume(result);
          }

          @Override
          public void onError(Throwable failure) {
            throw new IllegalStateException(failure);
          }

          @Override
          public void onComplete() {}
        });
  }
}
