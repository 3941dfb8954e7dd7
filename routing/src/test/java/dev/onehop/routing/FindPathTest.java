package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.model.Filters;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandSucceededEvent;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.routing.internal.affinity.ClusterWatch;
import dev.onehop.routing.internal.direct.DirectMode;
import dev.onehop.routing.internal.metrics.AffinityMetrics;
import dev.onehop.routing.internal.metrics.CommandMeter;
import dev.onehop.routing.internal.metrics.TableMetrics;
import dev.onehop.routing.internal.router.RouterClients;
import dev.onehop.routing.internal.targeted.TargetedMode;
import dev.onehop.shards.cluster.Versions;
import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.wire.channel.CallerWritesChannel;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.driver.Carrier;
import dev.onehop.wire.driver.Reach;
import dev.onehop.wire.watch.PreferredZones;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.cumulative.CumulativeTimer;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.distribution.pause.PauseDetector;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.bson.Document;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/**
 * The path of one find is short enough to be read. Its classes are those on the call stack at fixed
 * points: when the command is written to the server's socket, when the driver gets the reply, and
 * when a meter records its time. Classes whose methods have returned by then, such as the parser of
 * the command's head, are on no such stack.
 */
class FindPathTest {
  private static final int MAX_CLASSES = 14;
  private static final int MAX_CORE_CLASSES = 5;
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;

  private static final Set<String> path = ConcurrentHashMap.newKeySet();

  @ParameterizedTest
  @EnumSource(names = {"TARGETED", "DIRECT"})
  void findUsesFewClasses(RoutingMode mode) {
    EventLoopGroup group = EventLoops.newCallerWritesGroup("find", 1);
    try (ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);
        RouterClients clients = clients(mode, cluster, group);
        MongoClient client = MongoClients.create(withListener(clients.reactiveSettings()))) {
      for (int i = 0; i < 5; i++) {
        find(client);
      }
      path.clear();

      // Several finds, because a reply may come on this thread or on another, with other classes on
      // the stack.
      for (int i = 0; i < 20; i++) {
        find(client);
      }

      assertThat(path)
          .filteredOn(FindPathTest::isInCore)
          .hasSizeLessThanOrEqualTo(MAX_CORE_CLASSES);
      assertThat(path).filteredOn(name -> !isInCore(name)).hasSizeBetween(8, MAX_CLASSES);
    } finally {
      group.shutdownGracefully();
    }
  }

  private static boolean isInCore(String name) {
    return name.startsWith("dev.onehop.core.");
  }

  private static MongoClientSettings withListener(MongoClientSettings settings) {
    return MongoClientSettings.builder(settings)
        .addCommandListener(
            new CommandListener() {
              @Override
              public void commandSucceeded(CommandSucceededEvent event) {
                recordStack();
              }
            })
        .build();
  }

  private static void find(MongoClient client) {
    assertThat(
            Mono.from(client.getDatabase("db").getCollection("c").find(Filters.eq(5)).first())
                .block(TIMEOUT))
        .isInstanceOf(Document.class);
  }

  private static RouterClients clients(
      RoutingMode mode, ScriptedCluster cluster, EventLoopGroup group) {
    MongoClientSettings settings =
        MongoClientSettings.builder()
            .applyConnectionString(new ConnectionString("mongodb://" + cluster.address("m0") + "/"))
            .build();
    Reach reach = Reach.of(settings, new Carrier(group, WatchedChannel.class, null), () -> {});
    SimpleMeterRegistry meters = new WatchedMeters();
    CommandMeter commands = new CommandMeter(meters, ObservationRegistry.NOOP, mode.name());
    return mode == RoutingMode.DIRECT
        ? DirectMode.create(
            reach,
            Versions.ATTACHED,
            new DirectMode.Options(
                Duration.ofMinutes(1),
                null,
                PreferredZones.NONE,
                new TableMetrics(meters),
                commands))
        : TargetedMode.create(
            reach,
            new TargetedMode.Options(
                new ClusterWatch.Settings(
                    Duration.ofMinutes(1),
                    Duration.ZERO,
                    false,
                    Map.of(
                        "s0", List.of(cluster.address("m0")), "s1", List.of(cluster.address("m1"))),
                    UnaryOperator.identity()),
                PreferredZones.NONE,
                new TableMetrics(meters),
                new AffinityMetrics(meters)::accept,
                commands));
  }

  /** Adds OneHop's classes on the call stack to the path, if a request is on the stack. */
  private static void recordStack() {
    Set<String> classes = new LinkedHashSet<>();
    boolean ofFind = false;
    for (StackTraceElement frame : new Throwable().getStackTrace()) {
      String name = frame.getClassName();
      if (name.startsWith("dev.onehop.") && !name.contains(FindPathTest.class.getSimpleName())) {
        classes.add(Stream.of(name.split("\\$", 2)).findFirst().orElseThrow());
      }
      ofFind |= name.endsWith(".InProcessChannel") || name.endsWith(".RequestLoop");
    }
    if (ofFind) {
      path.addAll(classes);
    }
  }

  /** The socket to a server. */
  public static final class WatchedChannel extends CallerWritesChannel {
    @Override
    public long writeNow(ByteBuffer[] buffers) throws IOException {
      recordStack();
      return super.writeNow(buffers);
    }

    @Override
    public int writeNow(ByteBuffer buffer) throws IOException {
      recordStack();
      return super.writeNow(buffer);
    }
  }

  /** Notes the stack when a timer records a command, which is the last step of the command. */
  private static final class WatchedMeters extends SimpleMeterRegistry {
    @Override
    protected Timer newTimer(
        Meter.Id id, DistributionStatisticConfig distribution, PauseDetector pauses) {
      return new CumulativeTimer(id, clock, distribution, pauses, getBaseTimeUnit(), false) {
        @Override
        protected void recordNonNegative(long amount, TimeUnit unit) {
          recordStack();
          super.recordNonNegative(amount, unit);
        }
      };
    }
  }
}
