package dev.onehop.measure.points;

import dev.onehop.measure.frame.Machine;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Linux' counters of the machine at a moment, see proc(5).
 *
 * @param total the time of all processors together since boot, in ticks
 * @param idle the part of {@code total} in which a processor was idle, in ticks
 * @param steal the part of {@code total} that the host gave to other machines, in ticks
 * @param running the number of threads that run or wait for a processor
 */
record ProcStat(long total, long idle, long steal, int running) {
  private static final Path PROC = Path.of("/proc");

  /**
   * The position of the idle time. Before it are the times of users, of niced users, and of the
   * system. After it is the wait for disks, which counts as idle.
   */
  private static final int IDLE = 3;

  /**
   * The position of the stolen time. The guest times after it are a part of the user time, so the
   * total leaves them out.
   */
  private static final int STEAL = 7;

  private static final String ESTABLISHED = "01";

  /** The present counters; null if the file does not exist. */
  static @Nullable ProcStat now() {
    try {
      return parse(Files.readAllLines(PROC.resolve("stat"), StandardCharsets.US_ASCII));
    } catch (IOException e) {
      return null;
    }
  }

  /**
   * Returns the fraction of the processors' time since an earlier moment in which they were busy,
   * from 0 to 1.
   */
  double busySince(ProcStat before) {
    long all = total - before.total;
    return all <= 0 ? 0 : 1 - (double) (idle - before.idle) / all;
  }

  /** Parses the lines of {@code /proc/stat}; null if they are malformed. */
  static @Nullable ProcStat parse(List<String> lines) {
    long total = -1;
    long idle = 0;
    long steal = 0;
    int running = 0;
    for (String line : lines) {
      String[] fields = line.split("\\s+", -1);
      if (fields[0].equals("cpu") && fields.length > STEAL + 1) {
        total = 0;
        for (int i = 0; i <= STEAL; i++) {
          total += Long.parseLong(fields[i + 1]);
        }
        idle = Long.parseLong(fields[IDLE + 1]) + Long.parseLong(fields[IDLE + 2]);
        steal = Long.parseLong(fields[STEAL + 1]);
      } else if (fields[0].equals("procs_running")) {
        running = Integer.parseInt(fields[1]);
      }
    }
    return total < 0 ? null : new ProcStat(total, idle, steal, running);
  }

  /** The mean clock frequency of the processors in MHz; null if unknown. */
  static @Nullable Double clockMegahertz() {
    try {
      OptionalDouble mean =
          Machine.values("cpuinfo", "cpu MHz").stream().mapToDouble(Double::parseDouble).average();
      return mean.isPresent() ? (Double) mean.getAsDouble() : null;
    } catch (NumberFormatException e) {
      return null; // the kernel does not know it
    }
  }

  /** The number of TCP connections of a process; null if unknown. */
  static @Nullable Integer connections(long pid) {
    Set<String> targets = new HashSet<>();
    try (DirectoryStream<Path> open = Files.newDirectoryStream(PROC.resolve(pid + "/fd"))) {
      for (Path each : open) {
        try {
          targets.add(Files.readSymbolicLink(each).toString());
        } catch (IOException e) {
          // The descriptor was closed in the meantime.
        }
      }
      int connections = 0;
      for (String table : List.of("tcp", "tcp6")) {
        Path file = PROC.resolve(pid + "/net/" + table);
        if (Files.exists(file)) {
          for (String line : Files.readAllLines(file, StandardCharsets.US_ASCII)) {
            String[] fields = line.strip().split("\\s+", -1);
            if (fields.length > 9
                && fields[3].equals(ESTABLISHED)
                && targets.contains("socket:[" + fields[9] + "]")) {
              connections++;
            }
          }
        }
      }
      return connections;
    } catch (IOException | DirectoryIteratorException e) {
      return null; // the process has ended
    }
  }
}
