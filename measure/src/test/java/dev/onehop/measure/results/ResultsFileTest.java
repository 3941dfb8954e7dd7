package dev.onehop.measure.results;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.resync.Failure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultsFileTest {

  @TempDir private Path folder;

  @Test
  void readsWrittenResults() {
    Results results = SampleResults.us2014();
    ResultsFile.write(folder, results);
    assertThat(ResultsFile.read(folder)).isEqualTo(results);
    assertThat(folder).isDirectoryNotContaining("glob:**.part");
  }

  @Test
  void hasRequiredFields() throws Exception {
    JsonNode json = new ObjectMapper().readTree(ResultsFile.toJson(SampleResults.us2014()));
    assertThat(names(json.path("topology"))).contains("name", "client", "regions", "rttMillis");
    assertThat(names(json.path("topology").path("rttMillis"))).contains("configured", "measured");
    assertThat(json.path("topology").path("regions").isArray()).isTrue();
    assertThat(json.path("server").path("mongod").asText()).isEqualTo("6.0.5");
    assertThat(names(json.path("server").path("router"))).containsExactly("kind", "version");
    JsonNode point = json.path("points").path(0);
    assertThat(names(point))
        .contains(
            "mode",
            "threads",
            "connections",
            "pipelining",
            "seconds",
            "operations",
            "errors",
            "throughput",
            "limit",
            "share",
            "besideOwner",
            "cpu",
            "read",
            "update");
    assertThat(names(point.path("read")))
        .containsExactly("count", "mean", "p50", "p90", "p95", "p99", "p999", "max");
    assertThat(names(point.path("cpu"))).containsExactly("client", "routers", "mongods", "links");
    assertThat(point.path("share").path("or1").isNumber()).isTrue();
  }

  @Test
  void unknownShareIsNullNotAbsent() throws Exception {
    Point point = SampleResults.point("async", 1, 5);
    Point unknown =
        new Point(
            point.client(),
            1,
            point.done(),
            new Point.Bounds(null, null, null),
            point.evidence().withoutRouter(),
            null,
            null,
            point.routes(),
            "",
            new Latencies(null, null, null, null, null));
    JsonNode json = new ObjectMapper().valueToTree(unknown);
    assertThat(json.has("besideOwner")).isTrue();
    assertThat(json.path("besideOwner").isNull()).isTrue();
    assertThat(json.has("cpu")).isTrue();
    assertThat(json.path("cpu").isNull()).isTrue();
    assertThat(json.path("limit").isNull()).isTrue();
    assertThat(json.has("scan")).isFalse();
  }

  @Test
  void scenarioEntriesHaveRequiredFields() throws Exception {
    Results results = SampleResults.frozen(SampleResults.us2014());
    JsonNode json = new ObjectMapper().readTree(ResultsFile.toJson(results));

    assertThat(names(json.path("scenarios").path(0)))
        .contains(
            "scenario",
            "mode",
            "connections",
            "rate",
            "phase",
            "shards",
            "intended",
            "completed",
            "errors",
            "perSecond",
            "latency",
            "service");
    assertThat(json.path("scenarios").path(4).path("phase").asText()).isEqualTo("during");
    assertThat(json.path("scenarios").path(4).path("shards").asText()).isEqualTo("affected");
    ResultsFile.write(folder, results);
    assertThat(ResultsFile.read(folder)).isEqualTo(results);
  }

  @Test
  void ignoresFieldsOfLaterVersions() throws Exception {
    ResultsFile.write(folder, SampleResults.us2014());
    Path file = folder.resolve(ResultsFile.NAME);
    Files.writeString(
        file, Files.readString(file).replaceFirst("\\{", "{ \"fromTheFuture\": {\"x\": 1},"));
    assertThat(ResultsFile.read(folder)).isEqualTo(SampleResults.us2014());
  }

  @Test
  void reportsDamagedFileWithLine() throws Exception {
    Path file = Files.writeString(folder.resolve(ResultsFile.NAME), "{\n \"points\": [}");
    assertThatThrownBy(() -> ResultsFile.read(folder))
        .isInstanceOf(Failure.class)
        .hasMessageContaining(file.toString())
        .hasMessageContaining("line 2");
  }

  @Test
  void rejectsOtherJsonFile() throws Exception {
    Files.writeString(folder.resolve(ResultsFile.NAME), "{}");
    assertThatThrownBy(() -> ResultsFile.read(folder))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("not a complete results file");
    Files.writeString(folder.resolve(ResultsFile.NAME), "null");
    assertThatThrownBy(() -> ResultsFile.read(folder)).isInstanceOf(Failure.class);
  }

  @Test
  void missingFileIsUsageError() {
    assertThatThrownBy(() -> ResultsFile.read(folder))
        .isInstanceOfSatisfying(
            Failure.class, e -> assertThat(e.exitCode()).isEqualTo(Failure.USAGE));
  }

  private static List<String> names(JsonNode node) {
    return List.copyOf(node.properties().stream().map(Map.Entry::getKey).toList());
  }
}
