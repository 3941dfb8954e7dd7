package dev.onehop.cli;

import com.mongodb.MongoClientSettings;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.TrustedAuthority;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for connections to servers. */
@HelpGroup("Connection")
final class ConnectionOptions {
  @Option(
      names = "--tls-ca",
      paramLabel = "FILE",
      defaultValue = "${env:ONEHOP_TLS_CA}",
      description =
          "PEM file of the certificate authority, if the servers use TLS (ONEHOP_TLS_CA).")
  @Nullable Path authority;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "30s",
      description =
          "How long to wait for a server. If no server replies at the start, the command fails. If"
              + " no server replies later, the command retries. Default: ${DEFAULT-VALUE}.")
  private Duration timeout;

  /** The longest time that a client waits for a server. */
  Duration timeout() {
    return timeout;
  }

  /**
   * The settings of the clients that connect to the servers.
   *
   * @param name the application name in the servers' logs
   * @throws Failure if an option is out of range, or the file can't be read
   */
  Consumer<MongoClientSettings.Builder> client(String name) {
    Refuse.when(timeout.isZero(), "--timeout must be longer than 0s");
    TrustedAuthority trusted = authority == null ? null : TrustedAuthority.read(authority);
    return client -> {
      client
          .applicationName(name)
          .applyToClusterSettings(
              cluster -> cluster.serverSelectionTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS));
      if (trusted != null) {
        client.applyToSslSettings(tls -> tls.context(trusted.context()));
      }
    };
  }

  /** The source's URL, with its password. */
  static String source(String url) {
    return secret("--from", url, "ONEHOP_FROM_PASSWORD");
  }

  /** The destination's URL, with its password. */
  static String destination(String url) {
    return secret("--to", url, "ONEHOP_TO_PASSWORD");
  }

  private static String secret(String option, String url, String variable) {
    return ClusterUrl.secret(option, url, variable, System.getenv(variable));
  }
}
