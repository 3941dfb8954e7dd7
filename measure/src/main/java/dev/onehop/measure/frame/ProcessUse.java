package dev.onehop.measure.frame;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** The resource use of this process. */
public final class ProcessUse {

  private static final Path STATUS = Path.of("/proc/self/status");

  private ProcessUse() {}

  /** Processor time so far; 0 if unknown. */
  public static long cpuNanos() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean os
        ? Math.max(0, os.getProcessCpuTime())
        : 0;
  }

  /** Memory in use (RSS); 0 if unknown. */
  public static long memoryBytes() {
    return status("VmRSS:");
  }

  /** The most memory in use (RSS) so far; 0 if unknown. */
  public static long mostMemoryBytes() {
    return status("VmHWM:");
  }

  private static long status(String name) {
    try {
      for (String line : Files.readAllLines(STATUS)) {
        if (line.startsWith(name)) {
          return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
        }
      }
    } catch (IOException e) {
      // not Linux
    }
    return 0;
  }
}
