package dev.onehop.cli;

import com.mongodb.MongoClientSettings;
import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.CopyControl;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import dev.onehop.resync.Interruption;
import dev.onehop.resync.Progress;
import dev.onehop.resync.Terminal;
import java.io.PrintWriter;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options that all copying commands share. Also runs a copy and shows its progress. */
final class CopyRunOptions {
  private static final long REFRESH_MILLIS = 250;

  @Mixin private ConnectionOptions connection = new ConnectionOptions();

  @Option(
      names = "--serve",
      paramLabel = "[HOST:]PORT",
      description =
          "Serve GET /status and /metrics, POST /pause, /continue and /finish over HTTP, without"
              + " access control, until the command ends. Default: off; HOST: the loopback address.")
  private @Nullable String serve;

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
   * @param to the URL of its destination; null if the option is missing, and then prepare fails
   * @param job its name
   */
  @SuppressWarnings("try") // The server is only closed.
  void run(
      Supplier<ClusterCopy> prepare,
      @Nullable String to,
      String job,
      PrintWriter out,
      boolean json) {
    CopyProgress done;
    try (Interruption interruption = Interruption.of(Thread.currentThread());
        ClusterCopy copy = prepare.get();
        CopyServer server = server(copy, to, job);
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
      out.println(CopyReport.json(done));
    } else {
      CopyReport.print(out, done);
    }
    out.flush();
  }

  private @Nullable CopyServer server(ClusterCopy copy, @Nullable String to, String job) {
    if (serve == null || to == null) {
      return null;
    }
    return new CopyServer(
        serve,
        copy::progress,
        Map.of(
            "/pause", () -> change(to, job, CopyControl::pause),
            "/continue", () -> change(to, job, CopyControl::proceed),
            "/finish", () -> change(to, job, CopyControl::finish)));
  }

  /** A change of a job. */
  private interface Change {
    void apply(CopyControl control) throws InterruptedException;
  }

  private void change(String to, String job, Change change) throws InterruptedException {
    try (CopyControl control =
        CopyControl.connect(
            ConnectionOptions.destination(to), connection.client("onehop-copy"), job)) {
      change.apply(control);
    }
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
      progress.state(CopyReport.state(now));
      progress.remaining(CopyReport.left(now));
    }
  }
}
