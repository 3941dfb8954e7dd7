package dev.onehop.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.mongodb.MongoClientSettings;
import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import dev.onehop.resync.Progress;
import dev.onehop.resync.Terminal;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;

/** The options and the display of a running copy, the same for all copying commands. */
final class CopyRunOptions {
  private static final long REFRESH_MILLIS = 250;

  @Mixin private ConnectionOptions connection = new ConnectionOptions();

  /**
   * Starts a builder with both clusters.
   *
   * @throws IllegalArgumentException if a URL is malformed
   */
  ClusterCopy.Builder builder(String from, String to) {
    Consumer<MongoClientSettings.Builder> client = connection.client("onehop-copy");
    return ClusterCopy.builder(ConnectionOptions.source(from), ConnectionOptions.destination(to))
        .fromSettings(client)
        .toSettings(client);
  }

  /**
   * Runs a copy and prints the result. A signal to stop interrupts the copy, which then releases
   * its lease, so that no other process has to wait for the lease.
   *
   * @param prepare creates the copy
   */
  void run(Supplier<ClusterCopy> prepare, PrintWriter out, boolean json) {
    CopyProgress done;
    try (Interruption interruption = Interruption.of(Thread.currentThread());
        ClusterCopy copy = prepare.get();
        Progress progress = Progress.start(Terminal.detect())) {
      Timer timer = new Timer("copy-progress", true);
      timer.schedule(new Shown(copy, progress), 0, REFRESH_MILLIS);
      try {
        copy.run();
      } catch (InterruptedException | CopyException e) {
        throw interruption.failure(e);
      } finally {
        timer.cancel();
      }
      done = copy.progress();
    }
    if (json) {
      out.println(toJson(done));
    } else {
      print(out, done);
    }
    out.flush();
  }

  /** Shows the progress. */
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
      // If the copy fails at its start, only the error message is printed.
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
