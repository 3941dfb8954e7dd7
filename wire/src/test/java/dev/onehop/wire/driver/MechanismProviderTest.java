package dev.onehop.wire.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoCredential;
import dev.onehop.wire.handshake.Mechanism;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The search for the provider of mechanisms. The class path of this module has no provider. */
class MechanismProviderTest {
  private static final MongoCredential AWS = MongoCredential.createAwsCredential(null, null);

  private final ClassLoader own = Thread.currentThread().getContextClassLoader();

  @AfterEach
  void restoreClassLoader() {
    Thread.currentThread().setContextClassLoader(own);
  }

  @Test
  void namesMissingArtifact() {
    assertThatThrownBy(() -> DriverSockets.mechanism(AWS))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("MONGODB-AWS needs dev.onehop:onehop-auth, and the class path has none");
  }

  /**
   * An application server may provide this module to all of its applications. The provider is then
   * found by an application's class loader.
   */
  @Test
  void usesContextClassLoader(@TempDir Path folder) throws IOException {
    Path services = Files.createDirectories(folder.resolve("META-INF/services"));
    Files.writeString(services.resolve(MechanismProvider.class.getName()), Own.class.getName());

    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, own)) {
      Thread.currentThread().setContextClassLoader(loader);

      assertThat(DriverSockets.mechanism(AWS)).isSameAs(Own.MECHANISM);
    }
  }

  /** The ServiceLoader creates this provider. */
  public static final class Own implements MechanismProvider {
    static final Mechanism MECHANISM = Mechanism.x509(null);

    @Override
    public Mechanism mechanism(MongoCredential credential) {
      return MECHANISM;
    }
  }
}
