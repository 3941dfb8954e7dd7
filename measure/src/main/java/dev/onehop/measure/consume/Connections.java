package dev.onehop.measure.consume;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import dev.onehop.testbed.TrustedAuthority;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

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
}
