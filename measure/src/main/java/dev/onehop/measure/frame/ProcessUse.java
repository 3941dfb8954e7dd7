package dev.onehop.measure.frame;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;

/**
 * The resource use of a process. Immutable.
 *
 * @param cpu the processor time so far; zero if unknown
 * @param memoryBytes the memory (RSS) in bytes; 0 if unknown
 */
public record ProcessUse(Duration cpu, long memoryBytes) {

  public static final ProcessUse NONE = new ProcessUse(Duration.ZERO, 0);

  /** Returns the use of this process, with its present memory. */
  public static ProcessUse own() {
    long nanos =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    return new ProcessUse(Duration.ofNanos(Math.max(0, nanos)), memory("self", "VmRSS:"));
  }

  /** Returns the use of another process, with its largest memory so far. */
  public static ProcessUse of(ProcessHandle process) {
    return new ProcessUse(
        process.info().totalCpuDuration().orElse(Duration.ZERO),
        memory(String.valueOf(process.pid()), "VmHWM:"));
  }

  /**
   * Returns the combined use of this process and a later process, with the larger of the two
   * memories.
   */
  public ProcessUse and(ProcessUse next) {
    return new ProcessUse(cpu.plus(next.cpu), Math.max(memoryBytes, next.memoryBytes));
  }

  private static long memory(String process, String name) {
    return Machine.values(process + "/status", name).stream()
        .mapToLong(value -> Long.parseLong(value.replaceAll("\\D", "")) * 1024)
        .findFirst()
        .orElse(0); // the system is not Linux, or the process has ended
  }
}
