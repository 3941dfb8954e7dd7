package dev.onehop.cli;

import dev.onehop.resync.Failure;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say which programs to start as servers. */
@HelpGroup("Cluster")
final class ProgramOptions {

  @Option(
      names = "--mongod",
      paramLabel = "PATH",
      defaultValue = "${env:ONEHOP_MONGOD}",
      description = "The mongod to run (also: ONEHOP_MONGOD). Default: found or fetched.")
  @Nullable Path mongod;

  @Option(
      names = "--mongos",
      paramLabel = "PATH",
      defaultValue = "${env:ONEHOP_MONGOS}",
      description =
          "The mongos to run (also: ONEHOP_MONGOS). Default: found or fetched; where there is none,"
              + " a stand-in router, announced.")
  @Nullable Path mongos;

  /**
   * Looks whether there are such programs.
   *
   * @throws Failure if not
   */
  void check() {
    requireProgram("--mongod", mongod);
    requireProgram("--mongos", mongos);
  }

  /**
   * Looks whether there is such a program.
   *
   * @param path null if the option was not given
   * @throws Failure if not
   */
  static void requireProgram(String option, @Nullable Path path) {
    if (path != null && !(Files.isRegularFile(path) && Files.isExecutable(path))) {
      throw Failure.usage(
          option + " " + path + (Files.exists(path) ? " is no program" : ": no such file"));
    }
  }
}
