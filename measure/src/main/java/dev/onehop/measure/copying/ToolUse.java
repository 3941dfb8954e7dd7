package dev.onehop.measure.copying;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The resource use of a tool's process.
 *
 * @param cpu processor time so far
 * @param memoryBytes the most memory (RSS) so far; 0 if unknown
 */
record ToolUse(Duration cpu, long memoryBytes) {
  static final ToolUse NONE = new ToolUse(Duration.ZERO, 0);

  static ToolUse of(ProcessHandle process) {
    return new ToolUse(
        process.info().totalCpuDuration().orElse(Duration.ZERO), mostMemory(process.pid()));
  }

  /** The combined use of this process and a later one. */
  ToolUse and(ToolUse next) {
    return new ToolUse(cpu.plus(next.cpu), Math.max(memoryBytes, next.memoryBytes));
  }

  private static long mostMemory(long pid) {
    try {
      return Files.readAllLines(Path.of("/proc", String.valueOf(pid), "status")).stream()
          .filter(line -> line.startsWith("VmHWM:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      return 0; // not Linux, or the process has ended
    }
  }
}
