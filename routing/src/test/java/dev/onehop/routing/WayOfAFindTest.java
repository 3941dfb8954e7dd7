package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.model.Filters;
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
import dev.onehop.wire.watch.PreferredZones;
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
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.bson.Document;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/**
 * The way of one find from the driver to the socket is short enough to be read: the classes on the
 * call stack, from the channel that the driver writes to.
 */
class WayOfAFindTest {
  private static final int MOST_CLASSES = 15;
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;

  @ParameterizedTest
  @EnumSource(names = {"TARGETED", "DIRECT"})
  void fifteenClassesOrFewer(RoutingMode mode) {
    EventLoopGroup group = EventLoops.newCallerWritesGroup("find", 1);
    try (ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);
        RouterClients clients = clients(mode, cluster, group);
        MongoClient client = MongoClients.create(clients.reactiveSettings())) {
      for (int i = 0; i < 5; i++) {
        find(client);
      }
      WatchedChannel.way = Set.of();

      find(client);

      assertThat(WatchedChannel.way).hasSizeBetween(5, MOST_CLASSES);
    } finally {
      group.shutdownGracefully();
    }
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
    Carrier carrier = new Carrier(group, WatchedChannel.class, null);
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    CommandMeter commands = new CommandMeter(meters, ObservationRegistry.NOOP, mode.name());
    return mode == RoutingMode.DIRECT
        ? DirectMode.create(
            settings,
            carrier,
            Versions.ATTACHED,
            new DirectMode.Options(
                Duration.ofMinutes(1),
                null,
                PreferredZones.NONE,
                new TableMetrics(meters),
                commands),
            () -> {})
        : TargetedMode.create(
            settings,
            carrier,
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
                commands),
            () -> {});
  }

  /** A socket that notes through which of our classes a command of the driver has come to it. */
  public static final class WatchedChannel extends CallerWritesChannel {
    private static volatile Set<String> way = Set.of();

    @Override
    public long writeNow(ByteBuffer[] buffers) throws IOException {
      note();
      return super.writeNow(buffers);
    }

    @Override
    public int writeNow(ByteBuffer buffer) throws IOException {
      note();
      return super.writeNow(buffer);
    }

    private static void note() {
      Set<String> classes = new LinkedHashSet<>();
      boolean whole = false;
      for (StackTraceElement frame : new Throwable().getStackTrace()) {
        String name = frame.getClassName();
        if (name.startsWith("dev.onehop.")
            && !name.contains(WayOfAFindTest.class.getSimpleName())) {
          classes.add(Stream.of(name.split("\\$", 2)).findFirst().orElseThrow());
        }
        whole |= name.endsWith(".InProcessChannel");
      }
      if (whole) {
        way = classes;
      }
    }
  }
}
