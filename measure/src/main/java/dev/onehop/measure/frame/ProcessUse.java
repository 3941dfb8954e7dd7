package dev.onehop.measure.frame;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The resource use of a process. Immutable.
 *
 * @param cpu processor time so far; zero if unknown
 * @param memoryBytes memory (RSS); 0 if unknown
 */
public record ProcessUse(Duration cpu, long memoryBytes) {

  public static final ProcessUse NONE = new ProcessUse(Duration.ZERO, 0);

  /** The use of this process, with its memory at present. */
  public static ProcessUse own() {
    long nanos =
        ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean os
            ? Math.max(0, os.getProcessCpuTime())
            : 0;
    return new ProcessUse(Duration.ofNanos(nanos), memory("self", "VmRSS:"));
  }

  /** The use of another process, with its most memory so far. */
  public static ProcessUse of(ProcessHandle process) {
    return new ProcessUse(
        process.info().totalCpuDuration().orElse(Duration.ZERO),
        memory(String.valueOf(process.pid()), "VmHWM:"));
  }

  /** The combined use of this process and a later one, with the most memory of both. */
  public ProcessUse and(ProcessUse next) {
    return new ProcessUse(cpu.plus(next.cpu), Math.max(memoryBytes, next.memoryBytes));
  }

  private static long memory(String process, String name) {
    try {
      return Files.readAllLines(Path.of("/proc", process, "status")).stream()
          .filter(line -> line.startsWith(name))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      return 0; // not Linux, or the process has ended
    }
  }
}
