package dev.onehop.cli;

import com.mongodb.MongoClientSettings;
import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.CopyControl;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Interruption;
import dev.onehop.resync.Progress;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The options that all copying commands share. This class also runs a copy and shows its progress.
 */
abstract class CopyingCommand extends Subcommand {
  @Option(
      names = "--from",
      paramLabel = "URL",
      description =
          "The source: the URL of its mongoses, or of a replica set. A user's password comes from"
              + " ONEHOP_FROM_PASSWORD.")
  private @Nullable String from;

  @Option(
      names = "--to",
      paramLabel = "URL",
      description =
          "The destination: the URL of its mongoses, or of a replica set. A user's"
              + " password comes from ONEHOP_TO_PASSWORD.")
  private @Nullable String to;

  @Option(
      names = "--job",
      paramLabel = "NAME",
      defaultValue = "copy",
      description =
          "The name of the job, under which the state of the copy is stored. Default:"
              + " ${DEFAULT-VALUE}.")
  private String job;

  @Option(names = "--resume", description = "Continue the job.")
  boolean resume;

  @Option(
      names = "--json",
      description = "Print the result as JSON on standard output, in place of text.")
  private boolean json;

  @Mixin private ConnectionOptions connection = new ConnectionOptions();

  @Option(
      names = "--serve",
      paramLabel = "[HOST:]PORT",
      description =
          "Serve HTTP until the command ends: GET /status and /metrics; POST /pause, /continue and"
              + " /finish. There is no access control. Without HOST, only this machine can connect."
              + " Default: off.")
  private @Nullable String serve;

  /** Adds the settings of this command to the builder of the copy. */
  abstract ClusterCopy.Builder apply(ClusterCopy.Builder builder);

  private ClusterCopy copy() {
    // The parser can't require --from. Otherwise each subcommand would require --from, too.
    if (from == null || to == null) {
      throw Failure.usage(
          "--from and --to are required (see %s --help)".formatted(spec.qualifiedName(" ")));
    }
    Consumer<MongoClientSettings.Builder> client = connection.client("onehop-copy");
    return apply(
            ClusterCopy.builder(ConnectionOptions.source(from), ConnectionOptions.destination(to))
                .fromSettings(client)
                .toSettings(client)
                .job(job))
        .build();
  }

  /**
   * Runs the copy and prints the result. A signal to stop interrupts the copy, which then releases
   * its lease, so that no other process has to wait for the lease.
   */
  @Override
  @SuppressWarnings("try") // "unused" and the server are only closed.
  public Integer call() throws InterruptedException {
    CopyProgress done;
    Set<String> noted = new HashSet<>();
    try (Interruption unused = Interruption.ofThisThread();
        ClusterCopy copy = copy();
        CopyServer server = server(copy);
        Progress progress = Progress.start()) {
      progress.refresh(() -> show(copy.progress(), noted, progress));
      copy.run();
      done = copy.progress();
    } catch (CopyException e) {
      throw Interruption.failure(e);
    }
    if (json) {
      out().println(CopyReport.json(done));
    } else {
      CopyReport.print(out(), done);
    }
    return 0;
  }

  private @Nullable CopyServer server(ClusterCopy copy) {
    if (serve == null) {
      return null;
    }
    return new CopyServer(
        serve,
        copy::progress,
        Map.of(
            "/pause", () -> change(CopyControl::pause),
            "/continue", () -> change(CopyControl::proceed),
            "/finish", () -> change(CopyControl::finish)));
  }

  /** A change of a job. */
  private interface Change {
    void apply(CopyControl control) throws InterruptedException;
  }

  private void change(Change change) throws InterruptedException {
    try (CopyControl control =
        CopyControl.connect(
            ConnectionOptions.destination(Objects.requireNonNull(to)),
            connection.client("onehop-copy"),
            job)) {
      change.apply(control);
    }
  }

  private static void show(CopyProgress now, Set<String> noted, Progress progress) {
    // If the copy fails during its start, the error message is printed without a phase.
    if (now.phase() != CopyPhase.START) {
      progress.show(CopyReport.name(now.phase()), CopyReport.state(now), CopyReport.left(now));
    }
    now.notes().stream().filter(noted::add).forEach(progress::note);
  }
}
