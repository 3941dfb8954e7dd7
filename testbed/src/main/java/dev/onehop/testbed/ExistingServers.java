package dev.onehop.testbed;

import com.mongodb.MongoCredential;
import dev.onehop.testbed.internal.cluster.Credentials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Servers that others have started according to a topology, with the credentials for them. Each
 * host is reachable by its own name.
 *
 * <p>With access control, the testbed logs in at config servers and shards as {@code __system},
 * with their common key file. It creates two users. {@value #ADMINISTRATOR} has the role {@code
 * root}, and the testbed uses it at the mongoses. {@value #APPLICATION} is for applications. It has
 * only the rights to read and write the database {@code ycsb}, and to read the parts of {@code
 * config} that routing needs.
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
   * The key and passwords of the servers.
   *
   * @param key the content of the key file without white space
   * @param administrator the password of {@link #ADMINISTRATOR}
   * @param application the password of {@link #APPLICATION}
   */
  record Login(String key, String administrator, String application) {
    @Override
    public String toString() {
      return "Login"; // keeps the secrets out of logs
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
   * Returns the same servers with access control.
   *
   * @param keyFile the servers' key file
   * @param administratorPassword the password of {@link #ADMINISTRATOR}
   * @param applicationPassword the password of {@link #APPLICATION}
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
   * Returns the same servers with TLS.
   *
   * @param authority the PEM file with the trusted certificates
   * @throws TestbedException if the file can't be read or has no certificate
   */
  public ExistingServers withTls(Path authority) {
    return new ExistingServers(login, TrustedAuthority.read(authority).context());
  }

  @Nullable Login login() {
    return login;
  }

  /** Credentials for config servers and shards. */
  Credentials toMongods() {
    return new Credentials(
        login == null
            ? null
            : MongoCredential.createScramSha256Credential(
                "__system", "local", login.key().toCharArray()),
        tls);
  }

  /** Credentials for mongoses. */
  Credentials toMongoses() {
    return new Credentials(
        login == null
            ? null
            : MongoCredential.createCredential(
                ADMINISTRATOR, "admin", login.administrator().toCharArray()),
        tls);
  }
}
