package dev.onehop.testbed.internal.process;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Lets a program believe that its machine has another name. A mongos registers in config.mongos as
 * its machine's name and its port, and clients compare that with the shards' hosts; so each gets
 * its host's address for a name, in a UTS namespace of its own (see unshare(1)).
 */
public final class HostName {
  private static final List<List<String>> WAYS =
      List.of(List.of("unshare", "--uts"), List.of("unshare", "--map-root-user", "--uts"));

  private HostName() {}

  /** Whether this system lets us. */
  public static boolean isPossible() {
    return WAYS.stream().anyMatch(HostName::works);
  }

  /**
   * The command that runs another one under a host name; the other one itself where that is not
   * possible. Clients then have to find out by round trips which mongos stands where.
   */
  public static List<String> command(String hostName, List<String> program) {
    return WAYS.stream()
        .filter(HostName::works)
        .findFirst()
        .map(way -> named(way, hostName, program))
        .orElse(program);
  }

  private static boolean works(List<String> way) {
    return succeeds(named(way, "127.0.0.1", List.of("true")));
  }

  private static List<String> named(List<String> way, String hostName, List<String> program) {
    List<String> command = new ArrayList<>(way);
    command.addAll(List.of("sh", "-c", "hostname \"$0\" && exec \"$@\"", hostName));
    command.addAll(program);
    return command;
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
