package dev.onehop.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Interruption;
import dev.onehop.resync.Outcome;
import dev.onehop.resync.Progress;
import dev.onehop.resync.Resync;
import dev.onehop.resync.ResyncMethod;
import dev.onehop.resync.ResyncPlan;
import dev.onehop.resync.Target;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code onehop resync run}. */
@Command(
    name = "run",
    header = "Add one or several members to a replica set.",
    description = {
      "With --method files, the command locks a hidden secondary, copies its files with checksums,"
          + " and always unlocks it. Then the command starts the new member's server, or prints how"
          + " to start it. It adds the member without vote and priority, and waits until the member"
          + " has caught up.",
      "With --method logical, the command adds an empty server, and waits for the end of its"
          + " initial sync.",
      "After a failure the command unlocks the source, and removes the copy and the member."
    },
    footer = {
      "Examples:",
      "  onehop resync run --url mongodb://db1,db2 --to db4:27017 --dbpath /mnt/db4/mongodb",
      "                              run this on the source's host: it copies, and prints how to start db4",
      "  onehop resync run --url mongodb://db1,db2 --to db4:27017 --dbpath /var/lib/mongodb \\",
      "      --source-dbpath /mnt/db3/mongodb --start 'systemctl start mongod'",
      "                              run this on db4, which mounts the source's data folder",
      "  onehop resync run --url mongodb://db1,db2 --method logical --to db4:27017",
      "",
      "The password of the URL's user comes from ONEHOP_PASSWORD.",
      "",
      "Exit code: 0 = each member has caught up, 1 = failed, 2 = refused before any change,",
      "130 = interrupted. Nothing stays locked."
    })
final class ResyncRunCommand extends Subcommand {

  private static final Pattern HOST = Pattern.compile(".+:[0-9]{1,5}");
  private static final Pattern HOSTS_ONLY =
      Pattern.compile("(mongodb(?:\\+srv)?://[^/?]+)/?(\\?.*)?");
  private static final Duration LONGEST = Duration.ofDays(10);

  @Option(
      names = "--url",
      paramLabel = "URL",
      required = true,
      description =
          "The replica set, as mongodb://host:port,host:port. Add a user if the replica set has"
              + " access control, and ?tls=true if it has TLS.")
  private String url;

  @Option(
      names = "--method",
      paramLabel = "files|logical",
      description = "The method by which the new member gets its data. Default: ${DEFAULT-VALUE}.")
  String method = "files";

  @Option(
      names = "--to",
      paramLabel = "HOST:PORT",
      split = ",",
      required = true,
      description =
          "The new member: its HOST:PORT in the replica set's configuration. With several values of"
              + " --to and of --dbpath, the source is locked once for all copies.")
  List<String> targets = new ArrayList<>();

  @Option(
      names = "--dbpath",
      paramLabel = "DIR",
      split = ",",
      description =
          "The path of the new member's data folder on this machine. The server runs on this"
              + " machine, or the folder is mounted on it. The folder must be empty or not exist.")
  List<Path> folders = new ArrayList<>();

  @Option(
      names = "--copy",
      paramLabel = "COMMAND",
      description =
          "Shell command that copies to another host. Example: \"rsync -a --files-from={files}"
              + " {source} {host}:{dbpath}\". {source} is the folder to copy, and {files} is a file"
              + " with the paths to copy. --dbpath is then the folder on the other host, which the"
              + " command does not check.")
  @Nullable String copy;

  @Option(
      names = "--start",
      paramLabel = "COMMAND",
      description =
          "Shell command that starts the new member's server on this machine. {dbpath}, {host} and"
              + " {port} are replaced by the new member's values. Without --start, the command"
              + " prints how to start the server, and waits.")
  @Nullable String start;

  @Option(
      names = "--source",
      paramLabel = "HOST:PORT",
      description = "The member whose files are copied. Default: a hidden secondary.")
  @Nullable String source;

  @Option(
      names = "--source-dbpath",
      paramLabel = "DIR",
      description =
          "The path of the source's data folder on this machine. Default: the path that"
              + " the server reports.")
  @Nullable Path sourceFolder;

  @Option(
      names = "--allow-primary",
      description = "Allow the primary as --source. Writes then wait during the lock.")
  boolean allowPrimary;

  @Option(
      names = "--rebuild",
      description =
          "Rebuild a member that is already in the set's configuration, and is down. Its entry in"
              + " the configuration stays unchanged.")
  boolean rebuild;

  @Option(names = "--hidden", description = "Add the new member as a hidden member.")
  boolean hidden;

  @Option(
      names = "--lock-deadline",
      paramLabel = "TIME",
      defaultValue = "10m",
      description =
          "The longest time for which the source may be locked. A separate process unlocks the"
              + " source after this time. Default: ${DEFAULT-VALUE}.")
  private Duration lockDeadline;

  @Option(
      names = "--wait",
      paramLabel = "TIME",
      defaultValue = "10m",
      description =
          "How long to wait for the start of the new member's server, and then again until the"
              + " member has caught up. An initial sync may take longer if it makes progress."
              + " Default: ${DEFAULT-VALUE}.")
  private Duration wait;

  @Option(
      names = "--limit",
      paramLabel = "MIB",
      description =
          "The most mebibytes to read per second. With this limit, the lock takes longer.")
  @Nullable Double limit;

  @Option(
      names = "--rate",
      paramLabel = "MIB",
      description =
          "The expected rate of the copy in mebibytes per second. The oplog must keep all changes"
              + " for the time of a copy at this rate. Default: the rate of a trial copy; 50 with"
              + " --copy; 10 with logical.")
  @Nullable Double rate;

  @Option(
      names = "--tls-ca",
      paramLabel = "FILE",
      defaultValue = "${env:ONEHOP_TLS_CA}",
      description = "PEM file of the certificate authority (also: ONEHOP_TLS_CA).")
  @Nullable Path authority;

  @Option(
      names = "--json",
      description = "Print the result as JSON on standard output, in place of text.")
  boolean json;

  @Override
  @SuppressWarnings("try") // After Ctrl-C, the changes are undone before the JVM ends.
  public Integer call() throws InterruptedException {
    ResyncPlan plan = plan();
    try (Interruption unused = Interruption.ofThisThread();
        Progress progress = Progress.start()) {
      List<Outcome> outcomes = new Resync(plan, progress, new Resync.Listener() {}).run();
      if (json) {
        print(plan.method(), outcomes);
      } else {
        show(outcomes);
      }
      return 0;
    }
  }

  /** The plan of the options. */
  ResyncPlan plan() {
    ResyncMethod chosen = ResyncMethod.named(method);
    for (String target : targets) {
      Refuse.when(!HOST.matcher(target).matches(), "--to " + target + ": write it as HOST:PORT");
    }
    boolean files = chosen == ResyncMethod.FILES;
    Refuse.when(
        (files || start != null || !folders.isEmpty()) && folders.size() != targets.size(),
        "--to and --dbpath need the same number of values");
    Refuse.options(
        !files,
        spec,
        " requires --method files",
        "--source",
        "--source-dbpath",
        "--allow-primary",
        "--copy",
        "--limit",
        "--lock-deadline");
    Refuse.when(copy != null && limit != null, "--limit and --copy exclude each other");
    requirePositive("--limit", limit);
    requirePositive("--rate", rate);
    requireTime("--lock-deadline", lockDeadline);
    requireTime("--wait", wait);
    List<Target> all = new ArrayList<>();
    for (int i = 0; i < targets.size(); i++) {
      all.add(new Target(targets.get(i), folders.isEmpty() ? null : folders.get(i)));
    }
    return new ResyncPlan(
        // The default authentication database is {@code admin}.
        ClusterUrl.parse(
            HOSTS_ONLY.matcher(url).replaceFirst("$1/admin$2"),
            System.getenv("ONEHOP_PASSWORD"),
            authority),
        chosen,
        source,
        sourceFolder,
        all,
        allowPrimary,
        rebuild,
        hidden,
        copy,
        start,
        lockDeadline,
        wait,
        limit,
        rate);
  }

  private static void requirePositive(String option, @Nullable Double value) {
    Refuse.when(value != null && !(value > 0 && value < 1e9), option + " must be above 0");
  }

  private static void requireTime(String option, Duration value) {
    Refuse.when(
        value.isZero() || value.compareTo(LONGEST) > 0,
        option + " must be above 0 and at most 240h");
  }

  private void show(List<Outcome> outcomes) {
    for (Outcome outcome : outcomes) {
      out()
          .printf(
              Locale.ROOT,
              "%s has caught up after %.1f s.%n",
              outcome.host(),
              CopyReport.seconds(outcome.total()));
      Duration copied = outcome.copied();
      Duration locked = outcome.locked();
      if (copied != null && locked != null) {
        out()
            .printf(
                Locale.ROOT,
                "  %s in %.2f s; the source was locked for %.2f s.%n",
                outcome.shared()
                    ? "All blocks shared with the source (reflink)"
                    : String.format(Locale.ROOT, "%,d MiB copied", outcome.bytes() >> 20),
                CopyReport.seconds(copied),
                CopyReport.seconds(locked));
      }
      if (!outcome.proof().isEmpty()) {
        out().println("  Log of the server: " + outcome.proof());
      }
    }
  }

  private void print(ResyncMethod ran, List<Outcome> outcomes) {
    ObjectNode result = new ObjectMapper().createObjectNode().put("method", ran.label());
    ArrayNode members = result.putArray("members");
    for (Outcome outcome : outcomes) {
      members
          .addObject()
          .put("host", outcome.host())
          .put("seconds", CopyReport.seconds(outcome.total()))
          .put("copySeconds", CopyReport.seconds(outcome.copied()))
          .put("lockedSeconds", CopyReport.seconds(outcome.locked()))
          .put("bytes", outcome.bytes())
          .put("shared", outcome.shared())
          .put("proof", outcome.proof());
    }
    out().println(result);
  }
}
