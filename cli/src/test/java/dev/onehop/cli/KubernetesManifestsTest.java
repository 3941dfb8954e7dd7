package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The manifests of docker/kubernetes say what the client's command line needs. */
class KubernetesManifestsTest {
  private static final Path FOLDER = Path.of("../docker/kubernetes");

  private static <T extends HasMetadata> T read(String file, Class<T> type) throws IOException {
    return Serialization.unmarshal(Files.readString(FOLDER.resolve(file)), type);
  }

  @Test
  void theJobRunsAllClientsAtOnceAndGivesEachItsNumber() throws Exception {
    Job job = read("base/job.yaml", Job.class);
    assertThat(job.getMetadata().getNamespace()).isNull();
    assertThat(job.getSpec().getCompletionMode()).isEqualTo("Indexed");
    assertThat(job.getSpec().getParallelism()).isEqualTo(job.getSpec().getCompletions());
    assertThat(job.getSpec().getBackoffLimit()).isZero();
    Container client = job.getSpec().getTemplate().getSpec().getContainers().get(0);
    Map<String, EnvVar> env =
        client.getEnv().stream().collect(Collectors.toMap(EnvVar::getName, Function.identity()));
    assertThat(env.get("ONEHOP_CLIENTS").getValue())
        .isEqualTo(String.valueOf(job.getSpec().getCompletions()));
    // The example's patch names it by its place.
    assertThat(client.getEnv().get(0).getName()).isEqualTo("ONEHOP_CLIENTS");
    assertThat(job.getSpec().getTemplate().getSpec().getVolumes().get(0).getName())
        .isEqualTo("results");
    assertThat(env.get("ONEHOP_RUN").getValueFrom().getFieldRef().getFieldPath())
        .isEqualTo("metadata.labels['batch.kubernetes.io/controller-uid']");
    assertThat(env.get("ONEHOP_PASSWORD").getValueFrom().getSecretKeyRef().getName())
        .isEqualTo("onehop-bench");
    assertThat(client.getEnvFrom().get(0).getConfigMapRef().getName())
        .isEqualTo(read("base/options.yaml", ConfigMap.class).getMetadata().getName());
  }

  @Test
  void theCommandLineIsOneThatBenchTakes() throws Exception {
    Job job = read("base/job.yaml", Job.class);
    Map<String, String> options = read("base/options.yaml", ConfigMap.class).getData();
    String line =
        job.getSpec()
            .getTemplate()
            .getSpec()
            .getContainers()
            .get(0)
            .getArgs()
            .get(0)
            .replace("exec /opt/onehop/bin/onehop ", "")
            .replace("$ONEHOP_URL", String.valueOf(options.get("ONEHOP_URL")))
            .replace("$ONEHOP_CLIENTS", "3")
            .replace("$ONEHOP_BENCH_OPTIONS", String.valueOf(options.get("ONEHOP_BENCH_OPTIONS")))
            .replace("\"", "");
    assertThat(line).startsWith("bench ").doesNotContain("\n");

    CommandLine.ParseResult parsed = OneHopCommand.commandLine().parseArgs(line.split(" +", -1));

    CommandLine.ParseResult bench = parsed.subcommand();
    assertThat(bench.<String>matchedOptionValue("--url", "")).isEqualTo("mongodb://mongos:27017/");
    assertThat(bench.hasMatchedOption("--print-results")).isTrue();
    assertThat(bench.<Integer>matchedOptionValue("--clients", 0)).isEqualTo(3);
  }
}
