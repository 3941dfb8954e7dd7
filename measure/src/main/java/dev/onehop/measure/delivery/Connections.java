package dev.onehop.measure.delivery;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.testbed.TrustedAuthority;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** How clients are let in by the cluster. */
public final class Connections {

  private Connections() {}

  /**
   * The settings of a client.
   *
   * @param authority PEM file with what certificates are trusted by; null for what Java trusts
   */
  public static MongoClientSettings settings(String url, @Nullable Path authority) {
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder()
            .applyConnectionString(new ConnectionString(url))
            .applicationName("onehop");
    if (authority != null) {
      TrustedAuthority trusted = TrustedAuthority.read(authority);
      settings.applyToSslSettings(tls -> tls.context(trusted.context()));
    }
    return settings.build();
  }

  /**
   * Waits until a change stream could start on a collection, which need not be there.
   *
   * @throws IllegalArgumentException if the servers are too old for it
   */
  public static void requireStreams(ClusterUrl url, String collection) {
    var unused =
        Mono.from(
                ShardedChangeStream.builder(settings(url.secret(), url.authority()))
                    .collection(url.database(), collection)
                    .build()
                    .start())
            .block();
  }
}
