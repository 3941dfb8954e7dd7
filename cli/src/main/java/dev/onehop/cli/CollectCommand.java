package dev.onehop.cli;

import dev.onehop.measure.bench.CollectedRun;
import dev.onehop.measure.bench.JobResults;
import dev.onehop.measure.report.Report;
import dev.onehop.measure.report.ResultsTable;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.resync.Failure;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code onehop bench collect}. */
@Command(
    name = "collect",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    header = "Make one run of what the clients of a bench on many machines have left.",
    description = {
      "",
      "Takes the results of each client from its folder, or from the pods of a Kubernetes Indexed"
          + " Job, adds up their histograms, and writes results.json, report and table as"
          + " bench --clients does.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  onehop bench collect --out run results/client-*",
      "  onehop bench collect --namespace bench --job onehop-bench --out run"
    })
final class CollectCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "DIR",
      arity = "0..*",
      description = "The clients' folders, each with its results.json.")
  List<Path> folders = new ArrayList<>();

  @Option(
      names = "--namespace",
      paramLabel = "NS",
      description = "The job's namespace. Default: that of the Kubernetes configuration.")
  @Nullable String namespace;

  @Option(names = "--job", paramLabel = "NAME", description = "The Indexed Job.")
  @Nullable String job;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      required = true,
      description = "Where the run goes; must be empty or not be there.")
  private Path out;

  private final Supplier<KubernetesClient> kubernetes;

  /** Only the picocli library makes one. */
  CollectCommand() {
    this(() -> new KubernetesClientBuilder().build());
  }

  CollectCommand(Supplier<KubernetesClient> kubernetes) {
    this.kubernetes = kubernetes;
  }

  @Override
  public Integer call() {
    if ((job == null) == folders.isEmpty()) {
      throw Failure.usage("give either the clients' folders or --job");
    }
    if (job == null && namespace != null) {
      throw Failure.usage("--namespace goes with --job");
    }
    for (Path folder : folders) {
      if (!Files.isRegularFile(folder.resolve(ResultsFile.NAME))) {
        throw Failure.usage("no " + ResultsFile.NAME + " in " + folder);
      }
    }
    requireEmpty();
    Results results = CollectedRun.merge(job == null ? folders : ofJob(job), out);
    Path report = Report.write(out, results);
    spec.commandLine().getOut().print(ResultsTable.render(results));
    spec.commandLine().getOut().println("Results: " + out.resolve(ResultsFile.NAME));
    spec.commandLine().getOut().println("Report:  " + report);
    spec.commandLine().getOut().flush();
    if (results.errors() > 0) {
      throw Failure.run(results.errors() + " operations failed; see the table", null);
    }
    return 0;
  }

  private List<Path> ofJob(String name) {
    try (KubernetesClient client = kubernetes.get()) {
      String where = namespace == null ? client.getNamespace() : namespace;
      return new JobResults(client, where == null ? "default" : where, name)
          .copy(out.resolve("clients"));
    }
  }

  private void requireEmpty() {
    if (!Files.exists(out)) {
      return;
    }
    try (Stream<Path> content = Files.list(out)) {
      if (content.findAny().isPresent()) {
        throw Failure.usage("--out " + out + " is not empty");
      }
    } catch (IOException e) {
      throw Failure.run("cannot read " + out + ": " + Failure.reason(e), e);
    }
  }
}
