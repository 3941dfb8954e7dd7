package dev.onehop.measure.delivery;

import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.routing.OneHop;

/** Creates clients of the measured cluster. The caller closes them. */
final class Clients {

  private Clients() {}

  /** Returns the settings of a client, with the user and the trusted authority of the URL. */
  static MongoClientSettings settings(ClusterUrl url) {
    return url.settings().applicationName("onehop").build();
  }

  /** Creates a client of the official driver. */
  static MongoClient plain(ClusterUrl url) {
    return MongoClients.create(settings(url));
  }

  /** Creates a client with OneHop. Its writes go to a mongos near the owner. */
  static MongoClient oneHop(ClusterUrl url) {
    return OneHop.builder(url.secret()).applyToClientSettings(url::trust).client(MongoClient.class);
  }
}
