package dev.onehop.testbed.internal.process;

import dev.onehop.testbed.TestbedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * A control group that limits a process to a share of a processor, as {@code docker run --cpus}
 * does. Thread-safe.
 *
 * <p>See the kernel's documentation of cgroup-v1 (sched-bwc) and of cgroup-v2 (cpu.max).
 */
final class CpuQuota {
  private static final Path ROOT = Path.of("/sys/fs/cgroup");

  /** The kernel's smallest quota is 1 ms, and its longest period is 1 s. */
  private static final double LEAST_QUOTA_MICROS = 1_000;

  private static final double LEAST_PERIOD_MICROS = 10_000;

  private final Path group;

  private CpuQuota(Path group) {
    this.group = group;
  }

  /**
   * Limits a process and all its threads.
   *
   * @param processors the number of processors, 0.001 or more
   * @throws TestbedException if this user or this machine can't limit processes
   */
  static CpuQuota of(long pid, double processors) {
    double period = Math.max(LEAST_PERIOD_MICROS, LEAST_QUOTA_MICROS / processors);
    long periodMicros = Math.round(period);
    long quotaMicros = Math.round(period * processors);
    boolean unified = Files.exists(ROOT.resolve("cgroup.controllers"));
    Path parent = unified ? ROOT : ROOT.resolve("cpu");
    try {
      if (unified && !words(ROOT.resolve("cgroup.subtree_control")).contains("cpu")) {
        Files.writeString(ROOT.resolve("cgroup.subtree_control"), "+cpu");
      }
      if (!Files.isDirectory(parent)) {
        throw new IOException("there is no " + parent);
      }
      Path group = Files.createDirectories(parent.resolve("onehop-" + pid));
      if (unified) {
        Files.writeString(group.resolve("cpu.max"), quotaMicros + " " + periodMicros);
      } else {
        Files.writeString(group.resolve("cpu.cfs_period_us"), String.valueOf(periodMicros));
        Files.writeString(group.resolve("cpu.cfs_quota_us"), String.valueOf(quotaMicros));
      }
      Files.writeString(group.resolve("cgroup.procs"), String.valueOf(pid));
      return new CpuQuota(group);
    } catch (IOException e) {
      throw new TestbedException(
          "cannot limit a process to a share of a processor, which requires root and control"
              + " groups: "
              + e,
          e);
    }
  }

  private static List<String> words(Path file) throws IOException {
    return Arrays.asList(Files.readString(file).trim().split(" "));
  }

  /** Removes the group after its process has ended. */
  void remove() {
    try {
      Files.deleteIfExists(group);
    } catch (IOException e) {
      // A group that stays is harmless, because it has no processes.
    }
  }
}
