package dev.onehop.routing;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoDriverInformation;
import com.mongodb.connection.TransportSettings;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.routing.internal.client.RoutedMongoClient;
import dev.onehop.routing.internal.client.RoutingMetrics;
import dev.onehop.routing.internal.direct.DirectRouter;
import dev.onehop.routing.internal.router.DirectClient;
import dev.onehop.routing.internal.wire.EventLoops;
import dev.onehop.routing.internal.wire.WireSettings;
import dev.onehop.routing.transport.PipelinedTransport;
import dev.onehop.routing.transport.PipeliningMeters;
import dev.onehop.routing.transport.PipeliningSettings;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.netty.channel.EventLoopGroup;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Builds a routed {@link MongoClient}: the official reactive interface, with every operation that a
 * shard key decides sent to the {@code mongos} beside the owning shard.
 *
 * <pre>{@code
 * MongoClient client = OneHop.builder("mongodb://mongos1,mongos2/").meterRegistry(registry).build();
 * }</pre>
 *
 * <p>The URI names one or more mongoses; the others are found in {@code config.mongos}. Anything
 * that can't be decided goes to the mongos that the official client would choose, so a wrong or old
 * routing table costs a detour and never a wrong answer. The user needs the right to read {@code
 * config.shards}, {@code config.mongos}, {@code config.databases}, {@code config.collections} and
 * {@code config.chunks}; without it, nothing is routed.
 */
public final class OneHop {
  private OneHop() {}

  /**
   * Starts from a connection string with its usual options.
   *
   * @param uri {@code mongodb://} or {@code mongodb+srv://}
   * @throws IllegalArgumentException if it is malformed
   */
  public static Builder builder(String uri) {
    return new Builder(new ConnectionString(uri));
  }

  /** Collects what a client is made of. Not thread-safe. */
  public static final class Builder {
    private static final Duration DEFAULT_REFRESH = Duration.ofSeconds(10);

    private final MongoClientSettings.Builder settings;
    private @Nullable MeterRegistry registry;
    private @Nullable PipeliningSettings pipeliningSettings;
    private Duration refreshInterval = DEFAULT_REFRESH;
    private RoutingMode mode = RoutingMode.TARGETED;

    private Builder(ConnectionString uri) {
      this.settings = MongoClientSettings.builder().applyConnectionString(uri);
    }

    /**
     * Changes the driver's own settings, which hold for every connection: credentials, TLS, pools,
     * codecs, listeners. The transport is Netty unless it is set here.
     */
    public Builder applyToClientSettings(Consumer<MongoClientSettings.Builder> change) {
      Objects.requireNonNull(change, "change").accept(settings);
      return this;
    }

    /**
     * Where the meters of {@link RoutingMeters} and {@link PipeliningMeters} are registered; by
     * default nowhere.
     */
    public Builder meterRegistry(MeterRegistry meterRegistry) {
      this.registry = Objects.requireNonNull(meterRegistry, "meterRegistry");
      return this;
    }

    /**
     * How often routing tables and the mongoses beside shards are read again in the background,
     * give or take a quarter; 10 seconds by default. A chunk that moved is served over a detour for
     * that long at the most.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public Builder refreshInterval(Duration interval) {
      if (interval.isNegative() || interval.isZero()) {
        throw new IllegalArgumentException("refreshInterval must be positive: " + interval);
      }
      this.refreshInterval = interval;
      return this;
    }

    /**
     * Where operations go: {@link RoutingMode#TARGETED} by default.
     *
     * <p>{@link RoutingMode#DIRECT} needs the URI of the cluster's mongoses or config servers, from
     * which it reads the routing metadata, a user that exists on every shard under the same name
     * and may read the database {@code config}, and from 8.0 the role {@code
     * directShardOperations}. What it does not do itself (DDL, {@code $lookup} and {@code $out},
     * transactions, change streams, and aggregations over several shards) it hands to a mongos of
     * the URI; if the URI names config servers, such operations fail. The pool's {@code maxSize}
     * then bounds the connections to each shard's server.
     */
    public Builder routing(RoutingMode routingMode) {
      this.mode = Objects.requireNonNull(routingMode, "routingMode");
      return this;
    }

    /**
     * Keeps many requests in flight on few sockets; see {@link PipelinedTransport} for what that is
     * good for, and what it costs. Off by default. Sets the transport and the size of the pools.
     */
    public Builder pipelining(Consumer<PipeliningSettings.Builder> change) {
      PipeliningSettings.Builder pipelining = PipeliningSettings.builder();
      change.accept(pipelining);
      this.pipeliningSettings = pipelining.build();
      return this;
    }

    /**
     * Creates the client, which connects in the background. The caller closes it.
     *
     * @throws IllegalArgumentException if the settings don't fit the mode
     */
    public MongoClient build() {
      MeterRegistry meters = registry == null ? new CompositeMeterRegistry() : registry;
      return mode == RoutingMode.DIRECT ? direct(meters) : targeted(meters);
    }

    private MongoClient direct(MeterRegistry meters) {
      MongoClientSettings asked = settings.build();
      if (asked.getTransportSettings() != null) {
        throw new IllegalArgumentException("direct mode brings a transport of its own");
      }
      PipeliningSettings pipelining = pipeliningSettings;
      // Where connections are shared, no request changes threads on its way.
      EventLoopGroup group = pipelining == null ? newGroup() : newGroup(1);
      DirectClient.Carrier carrier =
          pipelining == null
              ? new DirectClient.Carrier(
                  group, asked.getConnectionPoolSettings().getMaxSize(), null)
              : new DirectClient.Carrier(
                  group,
                  pipelining.maxOwnSockets(),
                  new WireSettings.Sharing(
                      pipelining.socketsPerServer(),
                      pipelining.maxInFlightPerSocket(),
                      pipelining.slowHead()));
      return DirectClient.create(
          asked,
          carrier,
          nettyOn(group),
          DirectRouter::new,
          new RoutingMetrics(meters),
          () -> shutDown(group));
    }

    private static EventLoopGroup newGroup() {
      return newGroup(Math.max(1, Runtime.getRuntime().availableProcessors()));
    }

    private static EventLoopGroup newGroup(int threads) {
      return EventLoops.newGroup("onehop", threads);
    }

    private static void shutDown(EventLoopGroup group) {
      group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    private static TransportSettings nettyOn(EventLoopGroup group) {
      return TransportSettings.nettyBuilder()
          .eventLoopGroup(group)
          .socketChannelClass(EventLoops.socketChannelClass())
          .build();
    }

    private MongoClient targeted(MeterRegistry meters) {
      MongoClientSettings asked = settings.build();
      Runnable release = () -> {};
      if (pipeliningSettings != null) {
        // One event loop for all clients, where their lanes meet.
        PipelinedTransport transport = PipelinedTransport.create(pipeliningSettings, meters);
        MongoClientSettings.Builder pipelined = MongoClientSettings.builder(asked);
        transport.applyTo(pipelined);
        asked = pipelined.build();
        release = transport::close;
      } else if (asked.getTransportSettings() == null) {
        // One group for all clients, however many shards there are.
        EventLoopGroup own = newGroup();
        release = () -> shutDown(own);
        asked = MongoClientSettings.builder(asked).transportSettings(nettyOn(own)).build();
      }
      return RoutedMongoClient.create(
          asked,
          MongoDriverInformation.builder().driverName("onehop").build(),
          meters,
          refreshInterval,
          release);
    }
  }
}
