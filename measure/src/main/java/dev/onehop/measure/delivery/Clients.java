package dev.onehop.measure.delivery;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.routing.OneHop;
import dev.onehop.testbed.TrustedAuthority;
import java.nio.file.Path;

/** Clients of the measured cluster, which the caller closes. */
final class Clients {

  private Clients() {}

  /** The official driver's. */
  static MongoClient plain(ClusterUrl url) {
    return MongoClients.create(Connections.settings(url.secret(), url.authority()));
  }

  /** An application's with OneHop, whose writes go to the mongos beside the owning shard. */
  static MongoClient oneHop(ClusterUrl url) {
    OneHop.Builder builder = OneHop.builder(url.secret());
    Path authority = url.authority();
    if (authority != null) {
      TrustedAuthority trusted = TrustedAuthority.read(authority);
      builder.applyToClientSettings(
          settings -> settings.applyToSslSettings(tls -> tls.context(trusted.context())));
    }
    return builder.client(MongoClient.class);
  }
}
