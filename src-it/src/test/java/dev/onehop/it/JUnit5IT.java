package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The testbed's JUnit extension is built with JUnit 6. This test runs it under JUnit 5. */
class JUnit5IT {
  private static final Path JARS =
      Path.of(System.getProperty("onehop.home"), "src-it/target/junit-5");

  @TempDir private Path folder;

  /** These tests use only names, so no cluster is started. */
  @ShardedCluster
  static class Orders {
    @Test
    void resolvesMethodParameter(SharedCluster cluster) {
      assertThat(cluster.database()).isEqualTo("Orders");
    }

    @Nested
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    class PerClassInstance {
      private final SharedCluster cluster;

      PerClassInstance(SharedCluster cluster) {
        this.cluster = cluster;
      }

      @Test
      void nestedClassHasSameDatabase() {
        assertThat(cluster.database()).isEqualTo("Orders");
      }
    }
  }

  @Test
  void runsTestsUnderJUnit5() throws IOException, InterruptedException {
    String junit5;
    try (var jars = Files.list(JARS)) {
      junit5 = jars.map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }
    String ours =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
            .filter(part -> !part.contains("junit"))
            .collect(Collectors.joining(File.pathSeparator));
    Path output = folder.resolve("junit.log");
    Process junit =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                junit5 + File.pathSeparator + ours,
                "org.junit.platform.console.ConsoleLauncher",
                "execute",
                "--disable-banner",
                "--select-class=" + Orders.class.getName())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(junit.waitFor(2, TimeUnit.MINUTES)).as("JUnit ended in time").isTrue();
    } finally {
      junit.destroyForcibly();
    }
    String printed = Files.readString(output, StandardCharsets.UTF_8);
    assertThat(junit.exitValue()).as(printed).isZero();
    assertThat(printed).contains("2 tests successful");
  }
}
