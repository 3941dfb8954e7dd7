package dev.onehop.testbed.internal.cluster;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * How the testbed's own connections are let in. Immutable.
 *
 * @param credential who they are, or null where there is no access control
 * @param tls what they trust, or null for plain connections
 */
public record Access(@Nullable MongoCredential credential, @Nullable SSLContext tls) {
  /** Neither access control nor TLS. */
  public static final Access OPEN = new Access(null, null);

  void applyTo(MongoClientSettings.Builder settings) {
    if (credential != null) {
      settings.credential(credential);
    }
    if (tls != null) {
      settings.applyToSslSettings(ssl -> ssl.enabled(true).context(tls));
    }
  }
}
