package dev.onehop.measure.frame;

import com.sun.management.OperatingSystemMXBean;
import dev.onehop.measure.Build;
import dev.onehop.measure.results.MachineFacts;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Collects the facts of the machine of a run. */
public final class Machine {

  private Machine() {}

  /**
   * Returns the facts of this machine.
   *
   * @param home the project's folder, whose git revision is one of the facts
   */
  public static MachineFacts facts(Path home) {
    return new MachineFacts(
        values("cpuinfo", "model name").stream().findFirst().orElse("unknown"),
        Runtime.getRuntime().availableProcessors(),
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize() >> 20,
        System.getProperty("os.name")
            + " "
            + System.getProperty("os.version")
            + " "
            + System.getProperty("os.arch"),
        System.getProperty("java.version") + " (" + System.getProperty("java.vendor") + ")",
        Build.version(),
        revision(home),
        Build.property("mongodb"),
        Build.property("ycsb"));
  }

  /**
   * Returns the values of all lines with a name in a file of Linux, see proc(5). Empty if the file
   * can't be read, as on other systems.
   *
   * @param file the path below {@code /proc}
   */
  public static List<String> values(String file, String name) {
    try {
      return Files.readAllLines(Path.of("/proc", file)).stream()
          .filter(line -> line.startsWith(name))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  /**
   * Returns the git revision that is checked out. Empty in a distribution, which has no git folder.
   */
  private static String revision(Path home) {
    if (!Files.exists(home.resolve(".git"))) {
      return "";
    }
    try {
      Process git =
          new ProcessBuilder(
                  List.of("git", "-C", home.toString(), "describe", "--always", "--dirty"))
              .redirectError(new File("/dev/null"))
              .start();
      String revision =
          new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      return git.waitFor(5, TimeUnit.SECONDS) && git.exitValue() == 0 ? revision : "";
    } catch (IOException e) {
      return "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }
}
