package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClients;
import dev.onehop.testbed.topology.Topology;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.bson.Document;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * While the process has no file descriptor left, operations that need a socket fail immediately.
 * Afterwards they succeed again.
 */
@Tag("nightly")
class DescriptorsIT {
  private static final List<String> CLIENTS =
      List.of(
          "plain sync",
          "plain reactive",
          "targeted sync",
          "targeted reactive",
          "targeted reactive pipelined",
          "targeted sync pipelined",
          "direct sync",
          "direct reactive",
          "direct sync pipelined",
          "direct reactive pipelined");

  @Test
  void clientsRecoverAfterShortageOfDescriptors(@TempDir Path folder) throws Exception {
    TestCluster.requireProcesses();
    Path log = folder.resolve("finds.log");
    try (TestCluster cluster = TestCluster.start(Topology.named("single-host"))) {
      cluster.shardCollection("it.descriptors", Numbered.KEY, Numbered.splitAt(20, 40));
      try (var client = MongoClients.create(cluster.url())) {
        client
            .getDatabase("it")
            .getCollection("descriptors")
            .insertMany(
                IntStream.range(0, DescriptorsMain.FINDS)
                    .mapToObj(n -> new Document("_id", n))
                    .toList());
      }
      Process finds = DescriptorsMain.start(cluster.url(), CLIENTS, log);
      assertThat(finds.waitFor(120, TimeUnit.SECONDS)).isTrue();
    }
    List<String> lines =
        Files.readAllLines(log).stream().filter(line -> line.contains(" | with")).toList();
    lines.forEach(System.out::println);
    assertThat(lines)
        .as(() -> read(log))
        .hasSize(CLIENTS.size())
        .allSatisfy(
            line ->
                assertThat(line)
                    .contains("without: 0 hang")
                    .contains("with: 0 hang, " + DescriptorsMain.FINDS + " found"));
  }

  private static String read(Path log) {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
