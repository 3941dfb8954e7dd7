package dev.onehop.testbed.internal.process;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs a program under another host name. A mongos registers in config.mongos with its machine's
 * name and its port, and clients compare that name with the shards' hosts. Each mongos therefore
 * runs in a separate UTS namespace (see unshare(1)), in which the machine's name is the address of
 * the mongos' host.
 */
public final class HostName {
  private static final List<List<String>> WAYS =
      List.of(List.of("unshare", "--uts"), List.of("unshare", "--map-root-user", "--uts"));

  private HostName() {}

  /** Whether this system allows another host name. */
  public static boolean isPossible() {
    return WAYS.stream().anyMatch(HostName::works);
  }

  /**
   * Returns the command that runs a program under a host name. If this is not possible, it returns
   * the program's own command, and clients find the near mongoses by round trips.
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
