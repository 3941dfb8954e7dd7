package dev.onehop.jmh.routing;

import dev.onehop.jmh.check.Bar;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.local.LocalIoHandler;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonString;
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

/**
 * The cost of routing an operation, without the driver, with servers that reply at once. Three
 * clients send the same bytes. The cost is the time of {@code routed} or {@code metered} minus the
 * time of {@code plain}:
 *
 * <ul>
 *   <li>{@code plain} sends the bytes to a mongos.
 *   <li>{@code routed} sends them to a router of targeted mode without meters.
 *   <li>{@code metered} sends them to a router of targeted mode with Micrometer's
 *       SimpleMeterRegistry.
 * </ul>
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
  private static final ByteBuf[] FINDS =
      StubbedCommands.commands(
          key ->
              BsonDocument.parse("{find: 'usertable', limit: 1, singleBatch: true}")
                  .append("filter", new BsonDocument("_id", key)));
  private static final ByteBuf[] UPDATES =
      StubbedCommands.commands(
          key -> {
            BsonDocument update =
                BsonDocument.parse(
                    "{update: 'usertable', ordered: true,"
                        + " updates: [{u: {$set: {field0: 'value'}}}]}");
            update
                .getArray("updates")
                .get(0)
                .asDocument()
                .append("q", new BsonDocument("_id", key));
            return update;
          });
  private static final ByteBuf[] INSERTS =
      StubbedCommands.commands(
          key -> {
            BsonDocument insert =
                BsonDocument.parse("{insert: 'usertable', ordered: true, documents: [{}]}");
            insert
                .getArray("documents")
                .get(0)
                .asDocument()
                .append("_id", key)
                .append("field0", new BsonString("value"));
            return insert;
          });

  @Param({"plain", "routed", "metered"})
  String client = "";

  private @Nullable StubbedCommands open;
  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, LocalIoHandler.newFactory());

  @Setup
  public void open() {
    open = new StubbedCommands(client, group, FINDS);
  }

  @TearDown
  public void close() {
    if (open != null) {
      open.close();
    }
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  // The stubbed servers do no work, so a plain operation is very fast. The bars on the ratio are
  // therefore low, and find only code that is many times slower. The limits on bytes are for
  // compiled code, which needs a long warm-up. Compiled code allocates some 2,500 bytes for a find,
  // 3,400 for an insert, 5,900 for an update.
  @Bar(
      name = "routing a find",
      parameters = "client=metered",
      baselineParameters = "client=plain",
      atLeast = 0.03,
      moreBytes = 3000,
      rounds = 1,
      warmup = @Warmup(iterations = 6, time = 2),
      measurement = @Measurement(iterations = 1, time = 1))
  @Benchmark
  @OperationsPerInvocation(StubMetadata.CHUNKS)
  public void find() {
    run(FINDS);
  }

  @Bar(
      name = "routing an updateOne",
      parameters = "client=metered",
      baselineParameters = "client=plain",
      atLeast = 0.03,
      moreBytes = 6500,
      rounds = 1,
      warmup = @Warmup(iterations = 6, time = 2),
      measurement = @Measurement(iterations = 1, time = 1))
  @Benchmark
  @OperationsPerInvocation(StubMetadata.CHUNKS)
  public void updateOne() {
    run(UPDATES);
  }

  @Bar(
      name = "routing an insertOne",
      parameters = "client=metered",
      baselineParameters = "client=plain",
      atLeast = 0.03,
      moreBytes = 4000,
      rounds = 1,
      warmup = @Warmup(iterations = 6, time = 2),
      measurement = @Measurement(iterations = 1, time = 1))
  @Benchmark
  @OperationsPerInvocation(StubMetadata.CHUNKS)
  public void insertOne() {
    run(INSERTS);
  }

  private void run(ByteBuf[] commands) {
    StubbedCommands here = open;
    if (here == null) {
      throw new IllegalStateException("the benchmark is not open");
    }
    here.run(commands);
  }
}
