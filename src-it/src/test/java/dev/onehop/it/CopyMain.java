package dev.onehop.it;

import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;

/** A copy in a separate process, which can be killed. Its last line reports its progress. */
public final class CopyMain {
  private CopyMain() {}

  /** Starts such a process. */
  static Process start(
      String from, String to, String database, ClusterCopy.Begin begin, boolean follow, Path log)
      throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-cp",
            System.getProperty("java.class.path"),
            CopyMain.class.getName(),
            from,
            to,
            database,
            begin.name(),
            Boolean.toString(follow))
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
        .start();
  }

  /** Copies a database. */
  public static void main(String[] args) throws InterruptedException {
    EnumSet<CopyPhase> phases = EnumSet.of(CopyPhase.STRUCTURE, CopyPhase.FULL, CopyPhase.INDEXES);
    if (Boolean.parseBoolean(args[4])) {
      phases.add(CopyPhase.INCREMENTAL);
    }
    try (ClusterCopy copy =
        ClusterCopy.builder(args[0], args[1])
            .job(args[2])
            .include(List.of(args[2]))
            .begin(ClusterCopy.Begin.valueOf(args[3]))
            .phases(phases)
            .lease(Duration.ofSeconds(3))
            .rangeBytes(64 << 10)
            .batchSize(50)
            .readersPerShard(2)
            .build()) {
      copy.run();
      CopyProgress done = copy.progress();
      System.out.println(done);
    } catch (RuntimeException failure) {
      failure.printStackTrace();
      System.exit(1);
    }
    System.exit(0);
  }
}
