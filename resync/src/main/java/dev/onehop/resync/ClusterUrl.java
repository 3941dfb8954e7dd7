package dev.onehop.resync;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import dev.onehop.testbed.TrustedAuthority;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The URL of a cluster, with the user and the trusted certificates. {@link #toString} returns the
 * URL without the password, so that messages may contain it. Child processes get the whole object
 * as JSON, with the password. Immutable.
 *
 * @param shown the URL without the password
 * @param secret the URL with the password. It is for connecting and must not be shown or logged
 * @param authority PEM file of the trusted certificate authority; null for the JVM's default trust
 *     store
 */
public record ClusterUrl(String shown, String secret, @Nullable Path authority) {
  /** The database for a URL without one: the default of YCSB. */
  public static final String DATABASE = "ycsb";

  /** Authentication mechanisms that need no password in the URL. */
  private static final Set<String> WITHOUT_PASSWORD =
      Set.of("MONGODB-X509", "MONGODB-AWS", "MONGODB-OIDC", "GSSAPI");

  /**
   * Parses a URL that a user gave.
   *
   * @param url the URL without the password; with the user if the cluster has access control
   * @param password the user's password; null if there is none
   * @param authority PEM file of the trusted certificate authority; null for the JVM's default
   *     trust store
   * @throws Failure if the URL is malformed, contains a password, or names a user without a
   *     password
   */
  public static ClusterUrl parse(String url, @Nullable String password, @Nullable Path authority) {
    String secret = secret("--url", url, "ONEHOP_PASSWORD", password);
    return new ConnectionString(secret).getDatabase() == null
        ? new ClusterUrl(withDatabase(url), withDatabase(secret), authority)
        : new ClusterUrl(url, secret, authority);
  }

  /**
   * Adds the password to a URL that a user gave. The result is for connecting and must not be
   * shown.
   *
   * @param option the option with the URL, for messages
   * @param variable the environment variable with the password, for messages
   * @throws Failure if the URL is malformed, contains a password, or names a user without a
   *     password
   */
  public static String secret(
      String option, String url, String variable, @Nullable String password) {
    int scheme = url.indexOf("://");
    int hosts = url.indexOf('@');
    String user = scheme < 0 || hosts < 0 ? "" : url.substring(scheme + 3, hosts);
    if (user.contains(":")) {
      throw Failure.usage(
          option
              + ": leave the password out, because all users of this machine can see command lines;"
              + " set the password in "
              + variable);
    }
    String secret = url;
    if (!user.isEmpty() && needsPassword(url)) {
      if (password == null || password.isEmpty()) {
        throw Failure.usage(option + " names the user " + user + ": set " + variable + " as well");
      }
      secret = withUser(url.substring(0, scheme + 3) + url.substring(hosts + 1), user, password);
    }
    try {
      var unused = new ConnectionString(secret);
    } catch (IllegalArgumentException | MongoException e) {
      throw Failure.usage(option + ": " + Failure.firstLine(e));
    }
    return secret;
  }

  private static boolean needsPassword(String url) {
    String upper = url.toUpperCase(Locale.ROOT);
    return WITHOUT_PASSWORD.stream().noneMatch(name -> upper.contains("AUTHMECHANISM=" + name));
  }

  /** The URL of a testbed without access control, with its database and options. */
  public static ClusterUrl open(String url) {
    return new ClusterUrl(url, url, null);
  }

  /**
   * The URL of the same cluster with a user, and with TLS if there is a certificate authority.
   *
   * @param user the user's name, encoded as in URLs
   */
  public ClusterUrl as(String user, @Nullable String password, @Nullable Path trusted) {
    String tls = trusted == null ? "" : "&tls=true";
    String url = password == null ? shown : withUser(shown, user, password) + "&authSource=admin";
    return new ClusterUrl(shown + tls, url + tls, trusted);
  }

  private static String withUser(String url, String user, String password) {
    int hosts = url.indexOf("://") + 3;
    String encoded = URLEncoder.encode(password, StandardCharsets.UTF_8).replace("+", "%20");
    return url.substring(0, hosts) + user + ":" + encoded + "@" + url.substring(hosts);
  }

  private static String withDatabase(String url) {
    int options = url.indexOf('?');
    String base = options < 0 ? url : url.substring(0, options);
    String database = (base.endsWith("/") ? "" : "/") + DATABASE;
    return base + database + (options < 0 ? "" : url.substring(options));
  }

  /** The database of the URL, or YCSB's default if the URL names none. */
  public String database() {
    String database = new ConnectionString(secret).getDatabase();
    return database == null ? DATABASE : database;
  }

  /** The hosts of the URL, as {@code host:port}. */
  public List<String> hosts() {
    return new ConnectionString(secret).getHosts();
  }

  /** Settings of a client, with the user and the trusted authority. */
  public MongoClientSettings.Builder settings() {
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder().applyConnectionString(new ConnectionString(secret));
    trust(settings);
    return settings;
  }

  /** Adds the trusted authority to a client's settings, if there is one. */
  public void trust(MongoClientSettings.Builder settings) {
    if (authority != null) {
      TrustedAuthority trusted = TrustedAuthority.read(authority);
      settings.applyToSslSettings(tls -> tls.context(trusted.context()));
    }
  }

  @Override
  public String toString() {
    return shown;
  }
}
