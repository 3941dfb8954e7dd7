package dev.onehop.testbed.internal.cluster;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The credentials and TLS settings of the testbed's own connections. Immutable.
 *
 * @param credential the user and password, or null without access control
 * @param tls the trusted certificates, or null for plain connections
 */
public record Credentials(@Nullable MongoCredential credential, @Nullable SSLContext tls) {
  /** Neither access control nor TLS. */
  public static final Credentials OPEN = new Credentials(null, null);

  void applyTo(MongoClientSettings.Builder settings) {
    if (credential != null) {
      settings.credential(credential);
    }
    if (tls != null) {
      settings.applyToSslSettings(ssl -> ssl.enabled(true).context(tls));
    }
  }
}
