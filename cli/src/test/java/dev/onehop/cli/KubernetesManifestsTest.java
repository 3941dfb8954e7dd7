package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The manifests of docker/kubernetes contain the options of the client's command line. */
class KubernetesManifestsTest {
  private static final Path FOLDER = Path.of("../docker/kubernetes");

  private static JsonNode read(String file) throws IOException {
    return new YAMLMapper().readTree(Files.readString(FOLDER.resolve(file)));
  }

  private static JsonNode client(JsonNode job) {
    return job.at("/spec/template/spec/containers/0");
  }

  @Test
  void jobRunsClientsInParallelWithTheirIndex() throws Exception {
    JsonNode job = read("base/job.yaml");
    assertThat(job.at("/metadata").has("namespace")).isFalse();
    assertThat(job.at("/spec/completionMode").asText()).isEqualTo("Indexed");
    assertThat(job.at("/spec/parallelism")).isEqualTo(job.at("/spec/completions"));
    assertThat(job.at("/spec/backoffLimit").asInt(-1)).isZero();
    Map<String, JsonNode> env = new HashMap<>();
    client(job).path("env").forEach(each -> env.put(each.path("name").asText(), each));
    assertThat(env.get("ONEHOP_CLIENTS").path("value").asText())
        .isEqualTo(job.at("/spec/completions").asText());
    // The patch in overlays/example refers to this variable by its position.
    assertThat(client(job).at("/env/0/name").asText()).isEqualTo("ONEHOP_CLIENTS");
    assertThat(job.at("/spec/template/spec/volumes/0/name").asText()).isEqualTo("results");
    assertThat(env.get("ONEHOP_RUN").at("/valueFrom/fieldRef/fieldPath").asText())
        .isEqualTo("metadata.labels['batch.kubernetes.io/controller-uid']");
    assertThat(env.get("ONEHOP_PASSWORD").at("/valueFrom/secretKeyRef/name").asText())
        .isEqualTo("onehop-bench");
    assertThat(client(job).at("/envFrom/0/configMapRef/name"))
        .isEqualTo(read("base/options.yaml").at("/metadata/name"));
  }

  @Test
  void benchAcceptsCommandLineOfJob() throws Exception {
    JsonNode options = read("base/options.yaml").path("data");
    String line =
        client(read("base/job.yaml"))
            .at("/args/0")
            .asText()
            .replace("exec /opt/onehop/bin/onehop ", "")
            .replace("$ONEHOP_URL", options.path("ONEHOP_URL").asText())
            .replace("$ONEHOP_CLIENTS", "3")
            .replace("$ONEHOP_BENCH_OPTIONS", options.path("ONEHOP_BENCH_OPTIONS").asText())
            .replace("\"", "");
    assertThat(line).startsWith("bench ").doesNotContain("\n");

    CommandLine.ParseResult parsed = OneHopCommand.commandLine().parseArgs(line.split(" +", -1));

    CommandLine.ParseResult bench = parsed.subcommand().subcommand();
    assertThat(bench.<String>matchedOptionValue("--url", "")).isEqualTo("mongodb://mongos:27017/");
    assertThat(bench.hasMatchedOption("--print-results")).isTrue();
    assertThat(bench.<Integer>matchedOptionValue("--clients", 0)).isEqualTo(3);
  }
}
