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

/** The clients that the same tests run on. Synchronous clients can't be pipelined. */
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

  /** Null for the driver alone. */
  final @Nullable RoutingMode routing;

  final Driver driver;
  final boolean pipelined;

  Mode(@Nullable RoutingMode routing, Driver driver, boolean pipelined) {
    this.routing = routing;
    this.driver = driver;
    this.pipelined = pipelined;
  }

  /** How the lists of expected failures name it. */
  public String id() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Whether the driver stands alone. */
  public boolean isPlain() {
    return routing == null;
  }

  public boolean isDirect() {
    return routing == RoutingMode.DIRECT;
  }

  /** The driver alone, the same one. */
  public Mode plain() {
    return driver == Driver.SYNC ? PLAIN_SYNC : PLAIN;
  }

  /** A new client, seen through the interfaces of the synchronous driver. */
  public MongoClient client(String uri) {
    return client(uri, settings -> {});
  }

  /** The same, with other settings. */
  public MongoClient client(String uri, Consumer<MongoClientSettings.Builder> change) {
    return client(uri, change, new SimpleMeterRegistry());
  }

  /**
   * The same.
   *
   * @param meters get what a router measures
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

  /** What makes routers of this mode. */
  public OneHop.Builder builder(String uri) {
    OneHop.Builder builder = OneHop.builder(uri).routing(routing);
    return pipelined ? builder.pipelining(pipelining -> {}) : builder;
  }

  /** A new client on a router of its own. */
  public MongoClient client(OneHop.Builder builder) {
    return driver.client(builder);
  }
}
