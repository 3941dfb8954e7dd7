package dev.onehop.resync;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Adds a member: starts its server and waits until it has caught up. Can undo its changes after a
 * failure.
 */
public final class NewMember {

  /** The file for the output of a server that this run has started. */
  static final String OUTPUT = "onehop-start.log";

  /** The longest time without a reply from a member while it catches up. */
  private static final Duration SILENCE = Duration.ofSeconds(10);

  private static final long POLL_MILLIS = 50;

  /** The state of a member during its initial sync. */
  private static final int STARTUP2 = 5;

  private static final int OUTPUT_LINES = 5;

  /**
   * The errors ConfigurationInProgress and CurrentConfigNotCommittedYet. After these, another try
   * can succeed.
   */
  private static final Set<Integer> RECONFIG_LATER = Set.of(109, 308);

  private static final String NOT_SYNCED = "No initial sync required";

  /**
   * The line in the server's log about a finished initial sync, with the method and the copied
   * bytes.
   */
  private static final Pattern STATISTICS =
      Pattern.compile("\"method\":\"(\\w+)\".*\"approxTotalBytesCopied\":(\\d+)");

  private final ReplicaSetStatus set;
  private final ResyncPlan plan;
  private final Target target;
  private final Progress progress;
  private @Nullable Process process;
  private @Nullable Path output;
  private boolean added;
  private long copiedLogically;

  NewMember(ReplicaSetStatus set, ResyncPlan plan, Target target, Progress progress) {
    this.set = set;
    this.plan = plan;
    this.target = target;
    this.progress = progress;
  }

  /**
   * Starts the server, or prints the command to start it.
   *
   * @param byHand the command to print
   */
  void start(String byHand) {
    String start = plan.start();
    if (start == null) {
      if (!answers(target)) {
        progress.note("Start " + target.host() + " now, for example with: " + byHand);
      }
      return;
    }
    try {
      Path dbpath = plan.folder(target);
      output =
          dbpath == null ? Files.createTempFile("onehop-start", ".log") : dbpath.resolve(OUTPUT);
      process =
          // In a separate session, so that the server survives the end of this command and Ctrl-C.
          ResyncPlan.process("setsid", "sh", "-c", ResyncPlan.filled(start, target))
              .redirectInput(Path.of("/dev/null").toFile())
              .redirectOutput(output.toFile())
              .start();
    } catch (IOException e) {
      throw Failure.run("cannot run --start: " + Failure.firstLine(e), e);
    }
  }

  /** Whether a process listens at the target's address. */
  static boolean answers(Target target) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(target.name(), target.port()), 1_000);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Waits until the server accepts connections. */
  void awaitServer() throws InterruptedException {
    long end = System.nanoTime() + plan.patience().toNanos();
    while (!answers(target)) {
      requireRunning();
      if (System.nanoTime() - end > 0) {
        throw Failure.run(
            "%s did not reply within %s".formatted(target.host(), Progress.about(plan.patience())));
      }
      Thread.sleep(POLL_MILLIS);
    }
  }

  /**
   * Checks that the server has the source's major and minor version.
   *
   * @param version the source's version
   */
  void requireVersion(String version) throws InterruptedException {
    String its = buildInfo().getString("version");
    if (!Preflight.feature(its).equals(Preflight.feature(version))) {
      throw Failure.usage(
          "%s has version %s, but the replica set has version %s: major and minor version must be equal"
              .formatted(target.host(), its, version));
    }
  }

  private Document buildInfo() throws InterruptedException {
    long end = System.nanoTime() + SILENCE.toNanos();
    while (true) {
      requireRunning();
      try {
        return set.stranger(target.host()).admin("buildInfo");
      } catch (MongoException e) {
        // A server that is starting closes connections.
        if (System.nanoTime() - end > 0) {
          throw Failure.run(target.host() + " does not reply: " + Failure.firstLine(e), e);
        }
      }
      Thread.sleep(POLL_MILLIS);
    }
  }

  /** Adds the server to the set, without vote and priority. */
  void add() throws InterruptedException {
    if (plan.rebuild()) {
      return;
    }
    // Set before the command: if its reply is lost, the primary may still have made the change.
    added = true;
    reconfigure(
        members -> {
          int id = members.stream().mapToInt(member -> member.getInteger("_id")).max().orElse(0);
          members.add(
              new Document("_id", id + 1)
                  .append("host", target.host())
                  .append("votes", 0)
                  .append("priority", 0)
                  .append("hidden", plan.hidden()));
        });
  }

  private void reconfigure(Consumer<List<Document>> change) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (true) {
      try {
        set.primary().reconfigure(change);
        return;
      } catch (MongoCommandException e) {
        if (!RECONFIG_LATER.contains(e.getErrorCode()) || System.nanoTime() - end > 0) {
          throw Failure.run(
              "cannot change the members of the replica set: " + e.getErrorMessage(), e);
        }
        Thread.sleep(POLL_MILLIS);
      }
    }
  }

  /**
   * Waits until the member is a secondary. Then waits until the member has all writes that the
   * primary has at that moment.
   */
  void awaitCaughtUp() throws InterruptedException {
    // The member has no users before its initial sync.
    Member stranger = set.stranger(target.host());
    BsonTimestamp goal = null;
    boolean answered = false;
    long end = System.nanoTime() + plan.patience().toNanos();
    long lastAnswer = System.nanoTime();
    long nextState = 0;
    while (true) {
      requireRunning();
      try {
        Document hello = stranger.admin("hello");
        lastAnswer = System.nanoTime();
        answered = true;
        if (hello.getBoolean("secondary", false)) {
          if (goal == null) {
            goal = set.primary().lastWrite();
          }
          if (Member.lastWrite(hello).compareTo(goal) >= 0) {
            return;
          }
        }
        if (System.nanoTime() - nextState > 0) {
          nextState = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500);
          if (showState()) {
            end = System.nanoTime() + plan.patience().toNanos();
          }
        }
      } catch (MongoException e) {
        // A server that joins a set closes its connections, and accepts new ones after a moment.
        if (System.nanoTime() - lastAnswer > SILENCE.toNanos()) {
          throw Failure.run(
              target.host()
                  + (answered ? " no longer replies: " : " does not reply: ")
                  + Failure.firstLine(e),
              e);
        }
      }
      if (System.nanoTime() - end > 0) {
        throw Failure.run(
            "%s did not catch up within %s"
                .formatted(target.host(), Progress.about(plan.patience())));
      }
      Thread.sleep(POLL_MILLIS);
    }
  }

  /** Shows the progress of an initial sync. Returns whether the sync may have advanced. */
  private boolean showState() {
    Document status;
    try {
      status =
          set.member(target.host())
              .admin(new Document("replSetGetStatus", 1).append("initialSync", 1));
    } catch (MongoException e) {
      // The member has no users yet, or is not in the set yet.
      boolean syncing = isSyncing();
      progress.state(target.host() + (syncing ? ": initial sync" : " is not ready yet"));
      return syncing;
    }
    Document sync = status.get("initialSyncStatus", Document.class);
    if (sync == null || sync.get("approxTotalDataSize") == null) {
      progress.state(target.host() + ": " + memberState(status));
      return false;
    }
    long copied = Member.number(sync, "approxTotalBytesCopied");
    boolean moved = copied > copiedLogically;
    copiedLogically = Math.max(copied, copiedLogically);
    progress.state(
        "%s: initial sync, %s of %s MiB, %s operations applied"
            .formatted(
                target.host(),
                copied >> 20,
                Member.number(sync, "approxTotalDataSize") >> 20,
                Member.number(sync, "appliedOps")));
    return moved;
  }

  /** Whether the primary reports the member in initial sync. */
  private boolean isSyncing() {
    try {
      return set.states().stream()
          .anyMatch(
              member ->
                  member.getString("name").equals(target.host())
                      && member.getInteger("state") == STARTUP2);
    } catch (Failure | MongoException e) {
      return false; // There is no primary at the moment.
    }
  }

  private static String memberState(Document status) {
    int state = status.getInteger("myState", -1);
    return switch (state) {
      case 0 -> "starting";
      case 2 -> "secondary, catching up";
      case 3 -> "recovering";
      case 5 -> "starting, initial sync";
      default -> "state " + state;
    };
  }

  /**
   * Reads from the server's log which sync method ran.
   *
   * @return the line of the log that names the method; empty if it was not found
   * @throws Failure if it was not the planned method
   */
  String prove() {
    List<String> log;
    try {
      log =
          set.member(target.host())
              .admin(new Document("getLog", "global"))
              .getList("log", String.class);
    } catch (MongoException e) {
      progress.note("The log of " + target.host() + " can't be read: " + Failure.firstLine(e));
      return "";
    }
    String synced = find(log, "\"id\":21192,");
    String notSynced = find(log, NOT_SYNCED);
    boolean files = plan.method() == ResyncMethod.FILES;
    String right = files ? notSynced : synced;
    String wrong = files ? synced : notSynced;
    if (wrong != null) {
      throw Failure.run(
          "the log of " + target.host() + " shows another sync method than planned: " + wrong);
    }
    if (right == null) {
      return "";
    }
    Matcher statistics = STATISTICS.matcher(right);
    if (!statistics.find()) {
      return NOT_SYNCED + " (log id 4280512)";
    }
    copiedLogically = Long.parseLong(statistics.group(2));
    return "initial sync, method " + statistics.group(1) + " (log id 21192)";
  }

  private static @Nullable String find(List<String> log, String part) {
    return log.stream().filter(line -> line.contains(part)).findFirst().orElse(null);
  }

  /** The number of bytes that the initial sync has copied, by the server's latest report. */
  long copied() {
    return copiedLogically;
  }

  private void requireRunning() {
    Process its = process;
    // Exit code 0 is no failure: a command that starts a server in the background ends with 0.
    if (its != null && !its.isAlive() && its.exitValue() != 0) {
      throw Failure.run(
          "the server of %s ended with exit code %d%s"
              .formatted(target.host(), its.exitValue(), lastOutput()));
    }
  }

  private String lastOutput() {
    try {
      List<String> lines = CopyCommand.lastLines(Objects.requireNonNull(output), OUTPUT_LINES);
      return lines.isEmpty() ? "" : ":\n" + String.join("\n", lines);
    } catch (IOException e) {
      return "";
    }
  }

  /**
   * Undoes the changes: removes the member from the set, and stops a server that this run has
   * started.
   *
   * @return whether no server uses the folder any more; false also if the user started the server,
   *     which may still run
   */
  boolean undo() throws InterruptedException {
    if (added) {
      reconfigure(
          members -> members.removeIf(member -> member.getString("host").equals(target.host())));
      added = false;
    }
    stop();
    return !answers(target) && plan.start() != null;
  }

  /**
   * Kills a server at once. If the process is a shell that has started the server, only the server
   * is killed, because the shell then ends by itself.
   */
  public static void kill(ProcessHandle process) {
    List<ProcessHandle> children = process.descendants().toList();
    if (children.isEmpty()) {
      process.destroyForcibly();
    }
    children.forEach(ProcessHandle::destroyForcibly);
  }

  private void stop() throws InterruptedException {
    Process its = process;
    if (its == null) {
      return;
    }
    if (its.isAlive()) {
      kill(its.toHandle());
      its.waitFor();
    } else if (answers(target)) {
      try {
        set.member(target.host()).admin(new Document("shutdown", 1).append("force", true));
      } catch (MongoException e) {
        // The server closes the connection when it shuts down.
      }
    }
    for (int n = 0; n < 100 && answers(target); n++) {
      Thread.sleep(100);
    }
  }

  /** The server's process; null if this run did not start it, or if it runs in the background. */
  @Nullable ProcessHandle process() {
    return process == null || !process.isAlive() ? null : process.toHandle();
  }
}
