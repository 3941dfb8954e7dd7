package dev.onehop.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.mongodb.MongoClientSettings;
import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import dev.onehop.resync.Terminal;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How a copy is run and what is shown of it, the same of all that copy. */
final class CopyRunOptions {
  private static final long REFRESH_MILLIS = 250;
  private static final long FILE_MILLIS = 1_000;
  private static final long ENDING_SECONDS = 10;

  @Option(
      names = "--progress-file",
      paramLabel = "FILE",
      description = "Write the progress to this file as JSON, every second.")
  @Nullable Path progressFile;

  @Mixin private ConnectionOptions connection = new ConnectionOptions();

  /**
   * Begins with both ends.
   *
   * @throws IllegalArgumentException if a URL is malformed
   */
  ClusterCopy.Builder builder(String from, String to) {
    Consumer<MongoClientSettings.Builder> client = connection.client("onehop-copy");
    return ClusterCopy.builder(ConnectionOptions.source(from), ConnectionOptions.destination(to))
        .fromSettings(client)
        .toSettings(client);
  }

  /** Copies, and prints how far it came. */
  void run(ClusterCopy copy, PrintWriter out, boolean json) {
    CopyProgress done = run(copy);
    if (json) {
      out.println(toJson(done));
    } else {
      print(out, done);
    }
    out.flush();
  }

  private CopyProgress run(ClusterCopy copy) {
    CountDownLatch ended = new CountDownLatch(1);
    Thread hook = new Thread(() -> end(copy, ended), "interrupted");
    Runtime.getRuntime().addShutdownHook(hook);
    try (Progress progress = Progress.start(Terminal.detect())) {
      Timer timer = new Timer("copy-progress", true);
      timer.schedule(new Shown(copy, progress), 0, REFRESH_MILLIS);
      if (progressFile != null) {
        Written written = new Written(copy, progressFile);
        written.begin();
        timer.schedule(written, 0, FILE_MILLIS);
      }
      try {
        copy.run();
        return copy.progress();
      } finally {
        timer.cancel();
        if (progressFile != null) {
          new Written(copy, progressFile).run();
        }
      }
    } catch (InterruptedException e) {
      throw Failure.of(e);
    } catch (CopyException e) {
      throw Failure.run(Failure.firstLine(e), e);
    } finally {
      ended.countDown();
      removeHook(hook);
    }
  }

  /** Gives the job up, so that nobody has to wait for it. */
  private static void end(ClusterCopy copy, CountDownLatch ended) {
    copy.close();
    try {
      var unused = ended.await(ENDING_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void removeHook(Thread hook) {
    try {
      var unused = Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // It is running: the process ends.
    }
  }

  /** Shows how far it is. */
  private static final class Shown extends TimerTask {
    private final ClusterCopy copy;
    private final Progress progress;
    private final Set<String> noted = new HashSet<>();
    private @Nullable CopyPhase phase;

    Shown(ClusterCopy copy, Progress progress) {
      this.copy = copy;
      this.progress = progress;
    }

    @Override
    public void run() {
      CopyProgress now = copy.progress();
      // Where it fails at the beginning, its message stands alone.
      if (now.phase() != phase && now.phase() != CopyPhase.START) {
        phase = now.phase();
        progress.phase(now.phase().name().toLowerCase(Locale.ROOT));
      }
      now.notes().stream().filter(noted::add).forEach(progress::note);
      if (now.phase() == CopyPhase.INCREMENTAL) {
        progress.state(
            String.format(
                Locale.ROOT,
                "%,d events applied | %.1f s%s behind%s%s",
                now.eventsApplied(),
                now.lag().toMillis() / 1000.0,
                operations(now, ", %,d operations"),
                now.consistentFrom() == null ? " | not consistent yet" : "",
                now.paused() ? " | paused" : ""));
      }
      if (now.phase() == CopyPhase.FULL) {
        progress.state(state(now));
        if (now.left() != null) {
          progress.remaining(now.left());
        }
      }
    }
  }

  private static String state(CopyProgress now) {
    return String.format(
        Locale.ROOT,
        "%,d of about %,d documents, %,.0f/s, %,.1f MB/s | range %d of %d%s%s",
        now.documentsDone(),
        now.documents(),
        now.documentsPerSecond(),
        now.bytesPerSecond() / 1e6,
        now.rangesDone(),
        now.ranges(),
        operations(now, " | %,d operations since the start"),
        now.paused() ? " | paused" : "");
  }

  private static String operations(CopyProgress now, String format) {
    Long operations = now.lagOperations();
    return operations == null ? "" : String.format(Locale.ROOT, format, operations);
  }

  /** Writes how far it is to a file, which is always whole. */
  private static final class Written extends TimerTask {
    private final ClusterCopy copy;
    private final Path file;

    Written(ClusterCopy copy, Path file) {
      this.copy = copy;
      this.file = file;
    }

    /**
     * Writes it once.
     *
     * @throws Failure if it can't be written
     */
    void begin() {
      try {
        write();
      } catch (IOException e) {
        throw Failure.usage("--progress-file " + file + " can't be written");
      }
    }

    private void write() throws IOException {
      Path whole = file.resolveSibling(file.getFileName() + ".new");
      Files.writeString(whole, toJson(copy.progress()) + "\n");
      Files.move(whole, file, StandardCopyOption.REPLACE_EXISTING);
    }

    @Override
    public void run() {
      try {
        write();
      } catch (IOException e) {
        // A copy is not to end because of it.
      }
    }
  }

  private static String toJson(CopyProgress now) {
    ObjectNode result =
        new ObjectMapper()
            .createObjectNode()
            .put("job", now.job())
            .put("phase", now.phase().name().toLowerCase(Locale.ROOT))
            .put("paused", now.paused())
            .put("collections", now.collections())
            .put("ranges", now.ranges())
            .put("rangesDone", now.rangesDone())
            .put("rangesReadAgain", now.rangesReadAgain())
            .put("documents", now.documents())
            .put("documentsDone", now.documentsDone())
            .put("bytesDone", now.bytesDone())
            .put("documentsPerSecond", now.documentsPerSecond())
            .put("bytesPerSecond", now.bytesPerSecond())
            .put("eventsApplied", now.eventsApplied())
            .put("lagSeconds", now.lag().toMillis() / 1000.0)
            .put("lagOperations", now.lagOperations());
    Duration left = now.left();
    if (left != null) {
      result.put("secondsLeft", left.toSeconds());
    }
    ArrayNode notes = result.putArray("notes");
    now.notes().forEach(notes::add);
    return result.toString();
  }

  private static void print(PrintWriter out, CopyProgress done) {
    if (done.ranges() > 0) {
      out.printf(Locale.ROOT, "collections  %,d%n", done.collections());
      out.printf(
          Locale.ROOT,
          "documents    %,d, %,.1f MB%n",
          done.documentsDone(),
          done.bytesDone() / 1e6);
      out.printf(
          Locale.ROOT,
          "ranges       %,d, %,d of them read again%n",
          done.ranges(),
          done.rangesReadAgain());
    }
    if (done.eventsApplied() > 0) {
      out.printf(Locale.ROOT, "changes      %,d applied by this process%n", done.eventsApplied());
    }
    done.notes().forEach(note -> out.println("note         " + note));
    out.println(done.phase() == CopyPhase.DONE ? "done" : "not done");
  }
}
