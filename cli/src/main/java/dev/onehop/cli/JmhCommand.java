package dev.onehop.cli;

import dev.onehop.resync.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code onehop jmh}: runs the benchmarks' jar in a separate process, because this module does not
 * depend on the jar.
 */
@Command(
    name = "jmh",
    customSynopsis = {
      "onehop jmh [PATTERN] [JMH OPTIONS]",
      "onehop jmh --check [PATTERN] [-rff FILE]"
    },
    header = "Run the JMH benchmarks, or check them against their limits.",
    footer = {
      "Examples:",
      "  onehop jmh -l                          list the benchmarks",
      "  onehop jmh -h                          JMH's own options",
      "  onehop jmh TargetingBenchmark -f 1     one class, in one fork",
      "  onehop jmh --check -rff jmh.json       checks all limits, in three minutes",
      "  onehop jmh --check 'lookup|encoding'   checks the limits of some benchmarks"
    })
final class JmhCommand implements Callable<Integer> {

  private static final String JAR = "jmh/target/benchmarks.jar";

  @Option(
      names = "--check",
      description =
          "Run a short subset of the benchmarks, each together with its baseline. The exit code is"
              + " 1 if a benchmark breaks the limit in its annotation @Bar.")
  private boolean check;

  @Option(names = "--help", usageHelp = true, description = "Show this help.")
  @SuppressWarnings("UnusedVariable") // picocli reads it
  private boolean help;

  @Parameters(arity = "0..*", hidden = true)
  private List<String> arguments = new ArrayList<>();

  @Override
  public Integer call() throws InterruptedException {
    Path jar = InstallationFolder.path(JAR);
    Refuse.when(
        !Files.isRegularFile(jar),
        "no " + jar + ": build the benchmarks from the sources, with mvn package -pl jmh -am");
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    List<String> command = new ArrayList<>(List.of(java, "-jar", jar.toString()));
    if (check) {
      command.add("--check");
    }
    command.addAll(arguments);
    try {
      Process process = new ProcessBuilder(command).inheritIO().start();
      Thread stop = new Thread(process::destroy, "stop-jmh");
      Runtime.getRuntime().addShutdownHook(stop);
      int code = process.waitFor();
      Runtime.getRuntime().removeShutdownHook(stop);
      return code;
    } catch (IOException e) {
      throw Failure.run("cannot start " + java + ": " + Failure.reason(e), e);
    }
  }
}
