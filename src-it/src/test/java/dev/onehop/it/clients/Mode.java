package dev.onehop.it.clients;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.clients.BlockingView;
import dev.onehop.routing.clients.Driver;
import dev.onehop.routing.clients.FirstReplies;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The kinds of clients that run the same tests. Synchronous clients cannot use pipelining. */
public enum Mode {
  PLAIN(null, Driver.REACTIVE, false),
  PLAIN_SYNC(null, Driver.SYNC, false),
  UNROUTED(RoutingMode.NONE, Driver.REACTIVE, false),
  UNROUTED_SYNC(RoutingMode.NONE, Driver.SYNC, false),
  UNROUTED_PIPELINED(RoutingMode.NONE, Driver.REACTIVE, true),
  TARGETED(RoutingMode.TARGETED, Driver.REACTIVE, false),
  TARGETED_SYNC(RoutingMode.TARGETED, Driver.SYNC, false),
  TARGETED_PIPELINED(RoutingMode.TARGETED, Driver.REACTIVE, true),
  DIRECT(RoutingMode.DIRECT, Driver.REACTIVE, false),
  DIRECT_SYNC(RoutingMode.DIRECT, Driver.SYNC, false),
  DIRECT_PIPELINED(RoutingMode.DIRECT, Driver.REACTIVE, true);

  /** The routing mode; null for the driver without OneHop. */
  final @Nullable RoutingMode routing;

  final Driver driver;
  final boolean pipelined;

  Mode(@Nullable RoutingMode routing, Driver driver, boolean pipelined) {
    this.routing = routing;
    this.driver = driver;
    this.pipelined = pipelined;
  }

  /** The name of the mode in the lists of expected failures. */
  public String id() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Whether this is the driver without OneHop. */
  public boolean isPlain() {
    return routing == null;
  }

  public boolean isDirect() {
    return routing == RoutingMode.DIRECT;
  }

  /** The mode with the same driver and without OneHop. */
  public Mode plain() {
    return driver == Driver.SYNC ? PLAIN_SYNC : PLAIN;
  }

  /** Returns a new client with the interfaces of the synchronous driver. */
  public MongoClient client(String uri) {
    return client(uri, settings -> {});
  }

  /** Returns a new client with other settings. */
  public MongoClient client(String uri, Consumer<MongoClientSettings.Builder> change) {
    return client(uri, change, new SimpleMeterRegistry());
  }

  /**
   * Returns a new client with other settings and with meters.
   *
   * @param meters receives a router's meters
   */
  public MongoClient client(
      String uri, Consumer<MongoClientSettings.Builder> change, MeterRegistry meters) {
    if (!isPlain()) {
      return driver.client(builder(uri).applyToClientSettings(change).meterRegistry(meters));
    }
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder().applyConnectionString(new ConnectionString(uri));
    change.accept(settings);
    if (driver == Driver.SYNC) {
      return MongoClients.create(settings.build());
    }
    FirstReplies replies = new FirstReplies();
    return BlockingView.of(
        MongoClient.class,
        com.mongodb.reactivestreams.client.MongoClients.create(
            settings.addCommandListener(replies).build()),
        replies);
  }

  /** A builder of routers of this mode. */
  public OneHop.Builder builder(String uri) {
    OneHop.Builder builder = OneHop.builder(uri).routing(routing);
    return pipelined ? builder.pipelining(pipelining -> {}) : builder;
  }

  /** Returns a new client with a separate router. */
  public MongoClient client(OneHop.Builder builder) {
    return driver.client(builder);
  }
}
