package dev.onehop.measure.delivery;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.routing.OneHop;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.testbed.TrustedAuthority;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Clients of the measured cluster, which the caller closes. */
final class Clients {

  private Clients() {}

  /** The settings of a client, with the URL's user and the authority to trust. */
  static MongoClientSettings settings(ClusterUrl url) {
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder()
            .applyConnectionString(new ConnectionString(url.secret()))
            .applicationName("onehop");
    trust(settings, url.authority());
    return settings.build();
  }

  private static void trust(MongoClientSettings.Builder settings, @Nullable Path authority) {
    if (authority != null) {
      TrustedAuthority trusted = TrustedAuthority.read(authority);
      settings.applyToSslSettings(tls -> tls.context(trusted.context()));
    }
  }

  /** The official driver's client. */
  static MongoClient plain(ClusterUrl url) {
    return MongoClients.create(settings(url));
  }

  /** A client of an application with OneHop, whose writes go to a mongos near the owner. */
  static MongoClient oneHop(ClusterUrl url) {
    return OneHop.builder(url.secret())
        .applyToClientSettings(settings -> trust(settings, url.authority()))
        .client(MongoClient.class);
  }

  /**
   * Waits until a change stream can start on a collection. The collection need not exist.
   *
   * @throws IllegalArgumentException if the servers are too old for it
   */
  static void requireStreams(ClusterUrl url, String collection) {
    var unused =
        Mono.from(
                ShardedChangeStream.builder(settings(url))
                    .collection(url.database(), collection)
                    .build()
                    .start())
            .block();
  }
}
