package dev.onehop.testbed;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Lets a program believe that its machine has another name. A mongos registers in config.mongos as
 * its machine's name and its port, and clients compare that with the shards' hosts; so each gets
 * its host's address for a name, in a UTS namespace of its own (see unshare(1)).
 */
final class HostName {
  private static final List<List<String>> WAYS =
      List.of(List.of("unshare", "--uts"), List.of("unshare", "--map-root-user", "--uts"));

  private HostName() {}

  /**
   * The command that runs another one under a host name; the other one itself where the system
   * allows no namespaces. Clients then have to find out by round trips which mongos stands where.
   */
  static List<String> command(String hostName, List<String> program) {
    for (List<String> way : WAYS) {
      List<String> named = new ArrayList<>(way);
      named.addAll(List.of("sh", "-c", "hostname \"$0\" && exec \"$@\"", hostName));
      List<String> trial = new ArrayList<>(named);
      trial.add("true");
      if (succeeds(trial)) {
        named.addAll(program);
        return named;
      }
    }
    return program;
  }

  private static boolean succeeds(List<String> command) {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      try {
        return process.waitFor(5, TimeUnit.SECONDS) && process.exitValue() == 0;
      } finally {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
