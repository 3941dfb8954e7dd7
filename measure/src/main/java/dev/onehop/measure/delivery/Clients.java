package dev.onehop.measure.delivery;

import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.routing.OneHop;
import dev.onehop.streams.ShardedChangeStream;
import reactor.core.publisher.Mono;

/** Clients of the measured cluster, which the caller closes. */
final class Clients {

  private Clients() {}

  /** The settings of a client, with the URL's user and the authority to trust. */
  static MongoClientSettings settings(ClusterUrl url) {
    return url.settings().applicationName("onehop").build();
  }

  /** The official driver's client. */
  static MongoClient plain(ClusterUrl url) {
    return MongoClients.create(settings(url));
  }

  /** A client of an application with OneHop, whose writes go to a mongos near the owner. */
  static MongoClient oneHop(ClusterUrl url) {
    return OneHop.builder(url.secret()).applyToClientSettings(url::trust).client(MongoClient.class);
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
