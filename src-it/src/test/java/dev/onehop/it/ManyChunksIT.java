package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A client with a small heap loads the routing table of many chunks from a real config server.
 *
 * <p>{@code -Donehop.it.chunks=1000000 -Donehop.it.chunks.heap=384m} runs it with a million chunks.
 */
@Tag("full")
class ManyChunksIT {
  private static final int CHUNKS = Integer.getInteger("onehop.it.chunks", 100_000);
  private static final String HEAP = System.getProperty("onehop.it.chunks.heap", "128m");
  private static final int TIMEOUT_SECONDS = 300;

  private static Testbed testbed;
  private static ManyChunks chunks;

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(Topology.named("single-host")).start();
    testbed.shardHashedCollection("it.first", new BsonDocument("_id", new BsonString("hashed")), 6);
    chunks = new ManyChunks(testbed);
    chunks.create("it.many", CHUNKS);
  }

  @AfterAll
  static void stop() {
    if (testbed != null) {
      testbed.close();
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void loadsManyChunksWithSmallHeap(RoutingMode mode) throws IOException, InterruptedException {
    int chunk = CHUNKS / 2;
    String url =
        mode == RoutingMode.DIRECT
            ? "mongodb://" + testbed.configServers().replaceFirst(".*/", "") + "/"
            : testbed.url();

    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + HEAP,
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                TableLoad.class.getName(),
                url,
                mode.name(),
                "many",
                ManyChunks.bound(chunk))
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();

    System.err.printf("%s with -Xmx%s: %s%n", mode, HEAP, output.strip());
    assertThat(output)
        .doesNotContain("OutOfMemoryError")
        .contains(
            "loaded %d chunks, %s on [%s]"
                .formatted(CHUNKS, ManyChunks.bound(chunk), chunks.shardOf(chunk)));
    assertThat(process.exitValue()).isZero();
  }
}
