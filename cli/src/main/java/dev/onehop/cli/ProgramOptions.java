package dev.onehop.cli;

import dev.onehop.resync.Failure;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of the servers' programs. */
@HelpGroup("Cluster")
final class ProgramOptions {

  @Option(
      names = "--mongod",
      paramLabel = "PATH",
      defaultValue = "${env:ONEHOP_MONGOD}",
      description =
          "The mongod program to run (also: ONEHOP_MONGOD). Default: the one on this machine; if"
              + " there is none, it is downloaded.")
  @Nullable Path mongod;

  @Option(
      names = "--mongos",
      paramLabel = "PATH",
      defaultValue = "${env:ONEHOP_MONGOS}",
      description =
          "The mongos program to run (also: ONEHOP_MONGOS). Default: one on this machine, or one"
              + " that was downloaded with mongod. Without a mongos, stand-in routers run, and a"
              + " notice says so.")
  @Nullable Path mongos;

  /**
   * Checks that the programs exist.
   *
   * @throws Failure if a program is missing
   */
  void check() {
    requireProgram("--mongod", mongod);
    requireProgram("--mongos", mongos);
  }

  /**
   * Checks that a program exists.
   *
   * @param path null if the option was not given
   * @throws Failure if it is missing
   */
  static void requireProgram(String option, @Nullable Path path) {
    if (path != null && !(Files.isRegularFile(path) && Files.isExecutable(path))) {
      throw Failure.usage(
          option + " " + path + (Files.exists(path) ? " is not executable" : ": no such file"));
    }
  }
}
