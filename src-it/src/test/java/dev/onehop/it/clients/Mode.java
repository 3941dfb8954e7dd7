package dev.onehop.it.clients;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.clients.BlockingView;
import dev.onehop.routing.clients.FirstReplies;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Locale;
import java.util.function.Consumer;

/** The clients that the same tests run on. */
public enum Mode {
  PLAIN,
  PLAIN_SYNC,
  TARGETED,
  TARGETED_SYNC,
  DIRECT,
  DIRECT_SYNC,
  TARGETED_PIPELINED,
  DIRECT_PIPELINED;

  /** How the lists of expected failures name it. */
  public String id() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Whether the driver stands alone. */
  public boolean isPlain() {
    return this == PLAIN || this == PLAIN_SYNC;
  }

  public boolean isDirect() {
    return this == DIRECT || this == DIRECT_SYNC || this == DIRECT_PIPELINED;
  }

  private boolean isSync() {
    return this == PLAIN_SYNC || this == TARGETED_SYNC || this == DIRECT_SYNC;
  }

  /** A new client, seen through the interfaces of the synchronous driver. */
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
    if (isSync()) {
      return isPlain()
          ? MongoClients.create(plain(uri, change))
          : routed(uri, change, meters).syncClient();
    }
    FirstReplies replies = new FirstReplies();
    Consumer<MongoClientSettings.Builder> all =
        settings -> {
          change.accept(settings);
          settings.addCommandListener(replies);
        };
    return BlockingView.of(
        MongoClient.class,
        isPlain()
            ? com.mongodb.reactivestreams.client.MongoClients.create(plain(uri, all))
            : routed(uri, all, meters).reactiveClient(),
        replies);
  }

  private static MongoClientSettings plain(
      String uri, Consumer<MongoClientSettings.Builder> change) {
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder().applyConnectionString(new ConnectionString(uri));
    change.accept(settings);
    return settings.build();
  }

  private OneHop.Builder routed(
      String uri, Consumer<MongoClientSettings.Builder> change, MeterRegistry meters) {
    OneHop.Builder builder =
        OneHop.builder(uri)
            .applyToClientSettings(change)
            .meterRegistry(meters)
            .routing(isDirect() ? RoutingMode.DIRECT : RoutingMode.TARGETED);
    return this == TARGETED_PIPELINED || this == DIRECT_PIPELINED
        ? builder.pipelining(pipelining -> {})
        : builder;
  }
}
