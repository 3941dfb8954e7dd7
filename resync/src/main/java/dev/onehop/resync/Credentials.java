package dev.onehop.resync;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClients;
import com.mongodb.connection.ClusterConnectionMode;
import dev.onehop.testbed.TrustedAuthority;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The URL, user and trusted certificates for connections to the members of a replica set. It has no
 * {@code toString}, because it contains the password. Immutable.
 */
public final class Credentials {

  private static final int CONNECT_SECONDS = 5;

  private final String url;
  private final @Nullable Path authority;

  /**
   * @param url the URL with the password
   * @param authority PEM file of the trusted certificate authority; null for the JVM's default
   *     trust store
   */
  public Credentials(String url, @Nullable Path authority) {
    this.url = url;
    this.authority = authority;
  }

  /** Credentials from a URL that a user gave. */
  public static Credentials of(ClusterUrl url) {
    return new Credentials(url.secret(), url.authority());
  }

  String secret() {
    return url;
  }

  @Nullable Path authority() {
    return authority;
  }

  /** The hosts that the URL names. */
  List<String> seeds() {
    return new ConnectionString(url).getHosts();
  }

  /**
   * A member with connections to this server only. The connections are opened in the background, so
   * the member does not have to be up yet.
   */
  public Member member(String host) {
    return member(host, new ConnectionString(url).getCredential());
  }

  /**
   * A member with connections without a user, for servers that have no users yet, and for commands
   * that need no user.
   */
  Member stranger(String host) {
    return member(host, null);
  }

  private Member member(String host, @Nullable MongoCredential credential) {
    ConnectionString given = new ConnectionString(url);
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder()
            .applicationName("onehop resync")
            .retryReads(false)
            .retryWrites(false)
            .applyToClusterSettings(
                cluster ->
                    cluster
                        .hosts(List.of(new ServerAddress(host)))
                        .mode(ClusterConnectionMode.SINGLE)
                        .serverSelectionTimeout(CONNECT_SECONDS, TimeUnit.SECONDS))
            .applyToSocketSettings(
                socket -> socket.connectTimeout(CONNECT_SECONDS, TimeUnit.SECONDS))
            .applyToSslSettings(
                ssl -> {
                  ssl.applyConnectionString(given);
                  if (authority != null) {
                    ssl.context(TrustedAuthority.read(authority).context());
                  }
                });
    if (credential != null) {
      settings.credential(credential);
    }
    return new Member(host, MongoClients.create(settings.build()));
  }
}
