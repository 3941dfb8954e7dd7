package dev.onehop.testbed;

import com.mongodb.MongoCredential;
import dev.onehop.testbed.internal.cluster.Access;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Servers that somebody else has started as a topology says, every host reachable under its own
 * name, and how to be let in. With access control the testbed logs in at config servers and shards
 * as {@code __system}, by the key file they share, and creates two users: {@value #ADMINISTRATOR},
 * a {@code root} for itself at the mongoses, and {@value #APPLICATION} for applications, who may
 * read and write the database {@code ycsb} and read what routing needs of {@code config}, no more.
 *
 * <p>Immutable.
 */
public final class ExistingServers {
  /** The administrator's name. */
  public static final String ADMINISTRATOR = "admin";

  /** The application's user, and the name of its role. */
  public static final String APPLICATION = "onehop";

  private final @Nullable Login login;
  private final @Nullable SSLContext tls;

  /**
   * Passwords and key.
   *
   * @param key what the key file holds, without white space
   * @param administrator password of {@link #ADMINISTRATOR}
   * @param application password of {@link #APPLICATION}
   */
  record Login(String key, String administrator, String application) {
    @Override
    public String toString() {
      return "Login"; // Keeps them out of logs.
    }
  }

  private ExistingServers(@Nullable Login login, @Nullable SSLContext tls) {
    this.login = login;
    this.tls = tls;
  }

  /** Servers without access control or TLS. */
  public static ExistingServers open() {
    return new ExistingServers(null, null);
  }

  /**
   * The same servers, with access control.
   *
   * @param keyFile the servers' key file
   * @param administratorPassword for {@link #ADMINISTRATOR}
   * @param applicationPassword for {@link #APPLICATION}
   * @throws TestbedException if the key file can't be read
   */
  public ExistingServers withKeyFile(
      Path keyFile, String administratorPassword, String applicationPassword) {
    try {
      String key = Files.readString(keyFile).replaceAll("\\s", "");
      return new ExistingServers(new Login(key, administratorPassword, applicationPassword), tls);
    } catch (IOException e) {
      throw new TestbedException("cannot read key file " + keyFile + ": " + e, e);
    }
  }

  /**
   * The same servers, with TLS.
   *
   * @param authority PEM file with the certificates to be trusted
   * @throws TestbedException if it can't be read or holds none
   */
  public ExistingServers withTls(Path authority) {
    return new ExistingServers(login, TrustedAuthority.read(authority).context());
  }

  @Nullable Login login() {
    return login;
  }

  /** To config servers and shards. */
  Access toMongods() {
    return new Access(
        login == null
            ? null
            : MongoCredential.createScramSha256Credential(
                "__system", "local", login.key().toCharArray()),
        tls);
  }

  /** To mongoses. */
  Access toMongoses() {
    return new Access(
        login == null
            ? null
            : MongoCredential.createCredential(
                ADMINISTRATOR, "admin", login.administrator().toCharArray()),
        tls);
  }
}
