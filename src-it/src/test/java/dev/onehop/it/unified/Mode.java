package dev.onehop.it.unified;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import java.util.Locale;
import java.util.function.Consumer;

/** The clients that the same tests run on. */
enum Mode {
  PLAIN,
  TARGETED,
  DIRECT,
  DIRECT_SYNC,
  TARGETED_PIPELINED,
  DIRECT_PIPELINED;

  /** How the lists of expected failures name it. */
  String id() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  boolean isDirect() {
    return this == DIRECT || this == DIRECT_SYNC || this == DIRECT_PIPELINED;
  }

  /** A new client, seen through the interfaces of the synchronous driver. */
  MongoClient client(String uri, Consumer<MongoClientSettings.Builder> change) {
    if (this == DIRECT_SYNC) {
      return OneHop.builder(uri)
          .applyToClientSettings(change)
          .routing(RoutingMode.DIRECT)
          .syncClient();
    }
    FirstReplies replies = new FirstReplies();
    Consumer<MongoClientSettings.Builder> all =
        settings -> {
          change.accept(settings);
          settings.addCommandListener(replies);
        };
    return BlockingView.of(MongoClient.class, reactive(uri, all), replies);
  }

  private com.mongodb.reactivestreams.client.MongoClient reactive(
      String uri, Consumer<MongoClientSettings.Builder> change) {
    if (this == PLAIN) {
      MongoClientSettings.Builder settings =
          MongoClientSettings.builder().applyConnectionString(new ConnectionString(uri));
      change.accept(settings);
      return MongoClients.create(settings.build());
    }
    OneHop.Builder builder =
        OneHop.builder(uri)
            .applyToClientSettings(change)
            .routing(isDirect() ? RoutingMode.DIRECT : RoutingMode.TARGETED);
    if (this == TARGETED_PIPELINED || this == DIRECT_PIPELINED) {
      builder.pipelining(pipelining -> {});
    }
    return builder.reactiveClient();
  }
}
