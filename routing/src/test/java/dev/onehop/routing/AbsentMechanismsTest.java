package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.MongoClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The class path of these tests lacks onehop-auth, so a builder refuses the mechanisms that need
 * it.
 */
class AbsentMechanismsTest {
  private static final String AWS = "mongodb://localhost:1/?authMechanism=MONGODB-AWS";

  @ParameterizedTest
  @CsvSource({
    "GSSAPI, mongodb://me%40REALM@localhost:1/?authMechanism=GSSAPI",
    "MONGODB-AWS, " + AWS,
    "MONGODB-AWS, mongodb://id:key@localhost:1/?authMechanism=MONGODB-AWS",
    "MONGODB-OIDC, mongodb://localhost:1/?authMechanism=MONGODB-OIDC&authMechanismProperties=ENVIRONMENT:test"
  })
  void messageNamesMechanismAndArtifact(String mechanism, String uri) {
    assertThatThrownBy(() -> OneHop.builder(uri).build())
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(mechanism + " needs dev.onehop:onehop-auth, and the class path has none");
  }

  @ParameterizedTest
  @EnumSource
  void everyModeReportsMissingArtifact(RoutingMode mode) {
    assertThatThrownBy(() -> OneHop.builder(AWS).routing(mode).build())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("MONGODB-AWS needs dev.onehop:onehop-auth");
    assertThatThrownBy(() -> OneHop.builder(AWS).routing(mode).client(MongoClient.class))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("MONGODB-AWS needs dev.onehop:onehop-auth");
  }

  @Test
  void failedBuildClosesFiles() throws IOException {
    // The first call does not count, because it loads classes that stay loaded.
    assertThatThrownBy(OneHop.builder(AWS)::build).isInstanceOf(IllegalStateException.class);
    long before = descriptors();

    for (RoutingMode mode : RoutingMode.values()) {
      assertThatThrownBy(OneHop.builder(AWS).routing(mode)::build)
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(OneHop.builder(AWS).routing(mode)::build)
          .isInstanceOf(IllegalStateException.class);
    }

    await().atMost(Duration.ofSeconds(20)).until(() -> descriptors() <= before);
  }

  private static long descriptors() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.count();
    }
  }

  @Test
  void disabledRouterNeedsNoArtifact() {
    try (OneHop router = OneHop.builder(AWS + "&onehop.enabled=false").build()) {
      assertThat(router.syncClientSettings().getTransportSettings()).isNull();
    }
  }
}
