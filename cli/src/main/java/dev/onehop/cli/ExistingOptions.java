package dev.onehop.cli;

import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.ExistingServers;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How to be let in by servers that are there already. */
@HelpGroup("Cluster")
final class ExistingOptions {

  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      defaultValue = "${env:ONEHOP_KEY_FILE}",
      description = "The servers' key file, where they have access control (ONEHOP_KEY_FILE).")
  @Nullable Path keyFile;

  @Option(
      names = "--tls-ca",
      paramLabel = "FILE",
      defaultValue = "${env:ONEHOP_TLS_CA}",
      description = "PEM file of the authority to trust, where they have TLS (ONEHOP_TLS_CA).")
  @Nullable Path authority;

  /**
   * Looks whether there are such files.
   *
   * @throws Failure if not
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
   * The servers.
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
   * A cluster by its URL.
   *
   * @throws Failure if the URL is none, holds a password, or names a user who has none
   */
  ClusterUrl url(String url) {
    return ClusterUrl.parse(url, System.getenv("ONEHOP_PASSWORD"), authority);
  }

  /** How the user that was created for applications is let in by the servers' mongoses. */
  ClusterUrl application(ClusterUrl open) {
    return open.as(
        ExistingServers.APPLICATION,
        keyFile == null ? null : password("ONEHOP_PASSWORD"),
        authority);
  }

  /** Passwords come by the environment, as command lines are seen by everybody. */
  private static String password(String variable) {
    String value = System.getenv(variable);
    if (value == null || value.isEmpty()) {
      throw Failure.usage("--key-file: set " + variable + " as well");
    }
    return value;
  }
}
