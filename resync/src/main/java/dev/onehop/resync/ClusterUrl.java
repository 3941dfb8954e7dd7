package dev.onehop.resync;

import com.mongodb.ConnectionString;
import com.mongodb.MongoException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where a cluster is and how to be let in. What {@link #toString} says has no password, and may be
 * shown. Immutable.
 */
public final class ClusterUrl {
  /** The database of a URL that names none: YCSB's. */
  public static final String DATABASE = "ycsb";

  /** Mechanisms that prove a user by something else than a password in the URL. */
  private static final Set<String> WITHOUT_PASSWORD =
      Set.of("MONGODB-X509", "MONGODB-AWS", "MONGODB-OIDC", "GSSAPI");

  private final String shown;
  private final String secret;
  private final @Nullable Path authority;

  private ClusterUrl(String shown, String secret, @Nullable Path authority) {
    this.shown = shown;
    this.secret = secret;
    this.authority = authority;
  }

  /**
   * A URL that a user gave.
   *
   * @param url names the user where there is access control, without the password
   * @param password that user's; null if there is none
   * @param authority PEM file with what certificates are trusted by; null for what Java trusts
   * @throws Failure if the URL is none, holds a password, or names a user who has none
   */
  public static ClusterUrl parse(String url, @Nullable String password, @Nullable Path authority) {
    String secret = secret("--url", url, "ONEHOP_PASSWORD", password);
    return new ConnectionString(secret).getDatabase() == null
        ? new ClusterUrl(withDatabase(url), withDatabase(secret), authority)
        : new ClusterUrl(url, secret, authority);
  }

  /**
   * A URL that a user gave, with the password: for who connects, never to be shown.
   *
   * @param option where it was given
   * @param variable of the environment, where the password is to be given
   * @throws Failure if the URL is none, holds a password, or names a user who has none
   */
  public static String secret(
      String option, String url, String variable, @Nullable String password) {
    int scheme = url.indexOf("://");
    int hosts = url.indexOf('@');
    String user = scheme < 0 || hosts < 0 ? "" : url.substring(scheme + 3, hosts);
    if (user.contains(":")) {
      throw Failure.usage(
          option
              + ": leave the password out, as command lines are seen by everybody, and set "
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

  /** A testbed's URL, database and options included, for those whom everybody lets in. */
  public static ClusterUrl open(String url) {
    return new ClusterUrl(url, url, null);
  }

  /**
   * What another process of the same run has got by {@link #secret} and {@link #authority}.
   *
   * @param secret with the database
   */
  public static ClusterUrl handedOver(String secret, @Nullable Path authority) {
    String hosts = String.join(",", new ConnectionString(secret).getHosts());
    return new ClusterUrl("mongodb://" + hosts + "/", secret, authority);
  }

  /**
   * The same cluster for a user of its, over TLS if there is an authority.
   *
   * @param user as URLs write it
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

  /** The database that is named or, if none is, YCSB's. */
  public String database() {
    String database = new ConnectionString(secret).getDatabase();
    return database == null ? DATABASE : database;
  }

  /** With the password: for who connects, never to be shown or written where others read. */
  public String secret() {
    return secret;
  }

  /** PEM file with what certificates are trusted by; null for what Java trusts. */
  public @Nullable Path authority() {
    return authority;
  }

  @Override
  public String toString() {
    return shown;
  }
}
