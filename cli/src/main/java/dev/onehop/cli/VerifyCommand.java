package dev.onehop.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import com.mongodb.MongoClientSettings;
import dev.onehop.copy.verify.ClusterVerification;
import dev.onehop.copy.verify.Difference;
import dev.onehop.copy.verify.MetadataDifference;
import dev.onehop.copy.verify.VerifyProgress;
import dev.onehop.copy.verify.VerifyReport;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Interruption;
import dev.onehop.resync.Progress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code onehop verify}. */
@Command(
    name = "verify",
    header = "Compare two clusters, also during a copy from one to the other.",
    description =
        "Compares every document of two sharded clusters or replica sets byte by byte, and the"
            + " options, indexes and shard keys of their collections. The command only reads. It"
            + " compares differing documents again until they are equal, or have not changed for"
            + " the time of --settle.",
    footer = {
      "Examples:",
      "  onehop verify --from mongodb://old1,old2 --to mongodb://new1,new2",
      "  onehop verify --from mongodb://old1 --to mongodb://new1 --include shop \\",
      "      --exclude shop.sessions --details 20",
      "  onehop verify --from mongodb://old1 --to mongodb://new1 --state shop.verify",
      "                    the same command continues after it was killed",
      "  onehop verify --from mongodb://old1 --to mongodb://new1 --settle 60s --rate 20000",
      "                    during a copy that is up to a minute behind",
      "",
      "Exit code: 0 = equal, 3 = different, 1 = a part could not be compared,",
      "2 = the command line was wrong, 130 = interrupted."
    })
final class VerifyCommand extends Subcommand {

  static final int DIFFERENT = 3;
  private static final Duration LONGEST_SETTLE = Duration.ofHours(1);

  @Option(
      names = "--from",
      required = true,
      paramLabel = "URL",
      description =
          "The source: the URL of its mongoses, or of a replica set. A user's password comes from"
              + " ONEHOP_FROM_PASSWORD.")
  private String from;

  @Option(
      names = "--to",
      required = true,
      paramLabel = "URL",
      description =
          "The destination: the URL of its mongoses, or of a replica set. A user's"
              + " password comes from ONEHOP_TO_PASSWORD.")
  private String to;

  @Option(
      names = "--state",
      paramLabel = "FILE",
      description =
          "Record finished ranges in this file. A later run with the same file compares"
              + " only the other ranges.")
  @Nullable Path state;

  @Option(
      names = "--settle",
      paramLabel = "TIME",
      defaultValue = "10s",
      description =
          "A difference counts if the document has not changed for this time. The time must be"
              + " longer than the lag of the destination. Default: ${DEFAULT-VALUE}.")
  private Duration settle;

  @Option(
      names = "--rate",
      paramLabel = "N",
      description = "The most documents to compare per second.")
  @Nullable Double rate;

  @Option(
      names = "--parallel",
      paramLabel = "N",
      defaultValue = "4",
      description =
          "The number of ranges that are compared at the same time. Default:"
              + " ${DEFAULT-VALUE}.")
  private int parallel;

  @Option(
      names = "--details",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "The number of differing documents whose keys the result lists."
              + " Default: ${DEFAULT-VALUE}.")
  private int details;

  @Option(
      names = "--through-mongos",
      description =
          "Read documents only through the mongoses. Default: from the shards directly, if they"
              + " can be reached and have the same user.")
  private boolean throughMongos;

  @Mixin private SelectionOptions selection = new SelectionOptions();

  @Mixin private ConnectionOptions connection = new ConnectionOptions();

  @Option(
      names = "--json",
      description = "Print the result as JSON on standard output, in place of text.")
  boolean json;

  @Override
  public Integer call() throws InterruptedException {
    check();
    ClusterVerification verification = verification();
    VerifyReport report = run(verification);
    if (json) {
      out().println(toJson(report));
    } else {
      print(report);
    }
    if (report.isDifferent()) {
      return DIFFERENT;
    }
    if (!report.isEqual()) {
      throw Failure.run(
          report.unsettled()
              + " documents kept changing and could not be compared; try again with a longer"
              + " --settle",
          null);
    }
    return 0;
  }

  private void check() {
    Refuse.when(settle.compareTo(LONGEST_SETTLE) > 0, "--settle must be from 0s to 1h");
    Refuse.when(rate != null && !(rate >= 1), "--rate " + rate + ": must be 1 or more");
    new OptionRange("--parallel", 1, 64).check(parallel);
    new OptionRange("--details", 0, 10_000).check(details);
    if (state != null) {
      checkState(state);
    }
  }

  private static void checkState(Path file) {
    Refuse.when(Files.isDirectory(file), "--state " + file + ": is a folder");
    Path folder = file.toAbsolutePath().getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      throw Failure.usage("--state " + file + ": no such file or folder");
    }
    Refuse.when(
        !Files.isWritable(Files.exists(file) ? file : folder),
        "--state " + file + ": permission denied");
  }

  private ClusterVerification verification() {
    Consumer<MongoClientSettings.Builder> change = connection.client("onehop-verify");
    ClusterVerification.Builder builder =
        ClusterVerification.builder(
                ConnectionOptions.source(from), ConnectionOptions.destination(to))
            .applyToSource(change)
            .applyToDestination(change)
            .include(selection.included)
            .exclude(selection.excluded)
            .rename(selection.renamed)
            .filter(selection.filters())
            .settle(settle)
            .parallel(parallel)
            .details(details)
            .throughMongos(throughMongos);
    if (state != null) {
      builder = builder.state(state);
    }
    if (rate != null) {
      builder = builder.maxRate(rate);
    }
    return builder.build();
  }

  @SuppressWarnings("try") // While "unused" is open, a signal to stop waits for this thread.
  private VerifyReport run(ClusterVerification verification) throws InterruptedException {
    long begun = System.nanoTime();
    try (Interruption unused = Interruption.ofThisThread();
        Progress progress = Progress.start()) {
      progress.refresh(
          () -> show(verification.progress(), (System.nanoTime() - begun) / 1e9, progress));
      return verification.run();
    } catch (UncheckedIOException e) {
      IOException cause = Objects.requireNonNull(e.getCause());
      throw Failure.run("--state " + state + ": " + Failure.reason(cause), e);
    }
  }

  private static void show(VerifyProgress now, double seconds, Progress progress) {
    // If the comparison fails at its start, only the error message is printed.
    if (now.phase().equals(ClusterVerification.CONNECTING)) {
      return;
    }
    if (now.documents() == 0) {
      progress.show(now.phase(), "", null);
      return;
    }
    double perSecond = now.documents() / seconds;
    long left = Math.max(0, now.expected() - now.documents());
    progress.show(
        now.phase(), state(now, perSecond), Duration.ofMillis((long) (left / perSecond * 1000)));
  }

  private static String state(VerifyProgress now, double perSecond) {
    return String.format(
        Locale.ROOT,
        "%,d documents, %,.0f/s | range %d of %d | %,d differ, %,d to compare again",
        now.documents(),
        perSecond,
        now.ranges(),
        now.allRanges(),
        now.differing(),
        now.waiting());
  }

  private static String toJson(VerifyReport report) {
    ObjectNode result =
        new ObjectMapper()
            .createObjectNode()
            .put("compared", report.compared())
            .put("missing", report.missing())
            .put("extra", report.extra())
            .put("different", report.different())
            .put("unsettled", report.unsettled());
    ArrayNode metadata = result.putArray("metadata");
    for (MetadataDifference difference : report.metadata()) {
      metadata.addObject().put("namespace", difference.namespace()).put("what", difference.what());
    }
    ArrayNode keys = result.putArray("details");
    for (Difference difference : report.details()) {
      keys.addObject()
          .put("namespace", difference.namespace())
          .put("kind", difference.kind().name().toLowerCase(Locale.ROOT))
          .putRawValue("key", new RawValue(difference.key().toJson()));
    }
    return result.put("resumedRanges", report.resumed()).toString();
  }

  private void print(VerifyReport report) {
    out().printf(Locale.ROOT, "compared   %,d documents%n", report.compared());
    out().printf(Locale.ROOT, "missing    %,d at the destination%n", report.missing());
    out().printf(Locale.ROOT, "extra      %,d at the destination%n", report.extra());
    out().printf(Locale.ROOT, "different  %,d%n", report.different());
    if (report.unsettled() > 0) {
      out().printf(Locale.ROOT, "unsettled  %,d%n", report.unsettled());
    }
    out().printf(Locale.ROOT, "metadata   %,d differences%n", report.metadata().size());
    for (MetadataDifference difference : report.metadata()) {
      out().println("  " + difference.namespace() + ": " + difference.what());
    }
    for (Difference difference : report.details()) {
      out()
          .println(
              "  "
                  + difference.kind().name().toLowerCase(Locale.ROOT)
                  + " "
                  + difference.namespace()
                  + " "
                  + difference.key().toJson());
    }
    out()
        .println(
            report.isEqual() ? "equal" : report.isDifferent() ? "different" : "not all compared");
  }
}
