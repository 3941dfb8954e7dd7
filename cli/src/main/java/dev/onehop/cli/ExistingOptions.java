package dev.onehop.cli;

import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.ExistingServers;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The credentials for existing servers. */
@HelpGroup("Cluster")
final class ExistingOptions {

  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      defaultValue = "${env:ONEHOP_KEY_FILE}",
      description = "The servers' key file, if they have access control (ONEHOP_KEY_FILE).")
  @Nullable Path keyFile;

  @Option(
      names = "--tls-ca",
      paramLabel = "FILE",
      defaultValue = "${env:ONEHOP_TLS_CA}",
      description =
          "PEM file of the certificate authority, if the servers use TLS (ONEHOP_TLS_CA).")
  @Nullable Path authority;

  /**
   * Checks that the files exist.
   *
   * @throws Failure if a file is missing
   */
  void check() {
    requireFile("--key-file", keyFile);
    requireFile("--tls-ca", authority);
  }

  private static void requireFile(String option, @Nullable Path path) {
    if (path != null && !Files.isReadable(path)) {
      throw Failure.usage(
          option + " " + path + (Files.exists(path) ? " can't be read" : ": no such file"));
    }
  }

  /**
   * The existing servers with their credentials.
   *
   * @throws Failure if a password is missing
   */
  ExistingServers servers() {
    ExistingServers servers = ExistingServers.open();
    if (keyFile != null) {
      servers =
          servers.withKeyFile(
              keyFile, password("ONEHOP_ADMIN_PASSWORD"), password("ONEHOP_PASSWORD"));
    }
    return authority == null ? servers : servers.withTls(authority);
  }

  /**
   * Parses the URL of a cluster of the user.
   *
   * @throws Failure if the URL is malformed, contains a password, or names a user without a
   *     password
   */
  ClusterUrl url(String url) {
    return ClusterUrl.parse(url, System.getenv("ONEHOP_PASSWORD"), authority);
  }

  /** Adds the credentials of the application's user to the URL of the servers' mongoses. */
  ClusterUrl application(ClusterUrl open) {
    return open.as(
        ExistingServers.APPLICATION,
        keyFile == null ? null : password("ONEHOP_PASSWORD"),
        authority);
  }

  /**
   * Reads a password from the environment, because all users of the machine could see a password on
   * the command line.
   */
  private static String password(String variable) {
    String value = System.getenv(variable);
    if (value == null || value.isEmpty()) {
      throw Failure.usage("--key-file: set " + variable + " as well");
    }
    return value;
  }
}
