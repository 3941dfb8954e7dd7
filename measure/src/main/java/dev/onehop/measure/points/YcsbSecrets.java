package dev.onehop.measure.points;

import dev.onehop.resync.ClusterUrl;
import dev.onehop.testbed.TrustedAuthority;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * What a YCSB process must know and a command line must not tell: the cluster's URL, in a folder
 * that only this user can read and that goes when the run ends.
 */
final class YcsbSecrets implements AutoCloseable {

  private final Path folder;
  private final Path properties;
  private final @Nullable Path trustStore;

  private YcsbSecrets(Path folder, Path properties, @Nullable Path trustStore) {
    this.folder = folder;
    this.properties = properties;
    this.trustStore = trustStore;
  }

  static YcsbSecrets of(ClusterUrl url) {
    try {
      Path folder = Files.createTempDirectory("onehop-bench"); // For its owner only.
      Path properties = folder.resolve("url.properties");
      Properties secret = new Properties();
      secret.setProperty("mongodb.url", url.secret());
      try (var out = Files.newOutputStream(properties)) {
        secret.store(out, null);
      }
      Path trustStore = null;
      Path authority = url.authority();
      if (authority != null) {
        trustStore = folder.resolve("trust.jks");
        TrustedAuthority.read(authority).writeStore(trustStore);
      }
      return new YcsbSecrets(folder, properties, trustStore);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** For the process's JVM. */
  List<String> jvmOptions() {
    return trustStore == null
        ? List.of()
        : List.of(
            "-Djavax.net.ssl.trustStore=" + trustStore,
            "-Djavax.net.ssl.trustStoreType=" + TrustedAuthority.STORE_TYPE);
  }

  /** For YCSB's {@code -P}. */
  Path properties() {
    return properties;
  }

  @Override
  public void close() {
    try {
      Files.deleteIfExists(properties);
      if (trustStore != null) {
        Files.deleteIfExists(trustStore);
      }
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
