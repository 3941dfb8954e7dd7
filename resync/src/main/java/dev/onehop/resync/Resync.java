package dev.onehop.resync;

import dev.onehop.resync.Preflight.Checked;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * Adds new members to a replica set. After a failure nothing is locked, the set has no broken
 * member, and no partial copy remains. Used once.
 */
public final class Resync {

  /** Receives events of the run. The default methods do nothing. */
  public interface Listener {
    /** Called before the source is locked. */
    default void locking() {}

    /** Called after the source was unlocked. */
    default void unlocked() {}

    /** Called after a new member's server was started. */
    default void started(ProcessHandle server) {}
  }

  private static final long POLL_MILLIS = 20;

  private final ResyncPlan plan;
  private final Progress progress;
  private final Listener listener;

  /** Folders of targets that this run created. */
  private final List<Path> made = new ArrayList<>();

  /** Creates a run, which {@link #run} starts. */
  public Resync(ResyncPlan plan, Progress progress, Listener listener) {
    this.plan = plan;
    this.progress = progress;
    this.listener = listener;
  }

  /**
   * Adds the members.
   *
   * @return the result for each member
   * @throws Failure if a condition does not hold (nothing was changed then), or if a step failed
   */
  public List<Outcome> run() throws InterruptedException {
    try (ReplicaSetStatus set = new ReplicaSetStatus(plan.url())) {
      progress.phase("checking");
      Checked checked = new Preflight(set, plan, progress).check();
      long begun = System.nanoTime();
      List<Outcome> outcomes = new ArrayList<>();
      Copied copied = null;
      if (plan.method() == ResyncMethod.FILES) {
        awaitSource(set, checked.source());
        copied = copy(checked);
      } else if (plan.start() != null) {
        makeFolders();
      }
      List<NewMember> members = new ArrayList<>();
      try {
        for (Target target : plan.targets()) {
          NewMember member = new NewMember(set, plan, target, progress);
          members.add(member);
          member.start(byHand(checked, target));
          ProcessHandle server = member.process();
          if (server != null) {
            listener.started(server);
          }
        }
        for (int i = 0; i < members.size(); i++) {
          Target target = plan.targets().get(i);
          outcomes.add(join(members.get(i), target, checked, copied, begun));
        }
      } catch (InterruptedException | RuntimeException e) {
        Interruption.suspend(() -> undo(members, outcomes.size(), e));
        throw e;
      }
      return outcomes;
    } catch (IOException e) {
      throw Failure.run(Failure.firstLine(e), e);
    }
  }

  /**
   * Waits until the source has all writes that the primary has now. If a member is rebuilt, its
   * acknowledgement may have counted for the majority of any of these writes. The copy must
   * therefore contain them.
   */
  private void awaitSource(ReplicaSetStatus set, Member source) throws InterruptedException {
    progress.phase("waiting until " + source.host() + " has the primary's writes");
    BsonTimestamp goal = set.primary().lastWrite();
    long end = System.nanoTime() + plan.patience().toNanos();
    while (source.lastWrite().compareTo(goal) < 0) {
      if (System.nanoTime() - end > 0) {
        throw Failure.run(
            "%s did not catch up within %s"
                .formatted(source.host(), Progress.about(plan.patience())));
      }
      Thread.sleep(POLL_MILLIS);
    }
  }

  /** Times and sizes of the copy. */
  private record Copied(@Nullable Duration locked, Duration copied, long bytes, boolean shared) {}

  private static String byHand(Checked checked, Target target) {
    return "%s --bind_ip %s --port %d --dbpath %s"
        .formatted(
            checked.byHand(),
            target.name(),
            target.port(),
            target.dbpath() == null ? "DIR" : target.dbpath());
  }

  private Outcome join(
      NewMember member, Target target, Checked checked, @Nullable Copied copied, long begun)
      throws InterruptedException {
    progress.phase("waiting for " + target.host());
    member.awaitServer();
    member.requireVersion(checked.version());
    member.add();
    member.awaitCaughtUp();
    Duration total = Duration.ofNanos(System.nanoTime() - begun);
    String proof = member.prove();
    return new Outcome(
        target.host(),
        total,
        copied == null ? null : copied.locked(),
        copied == null ? null : copied.copied(),
        copied == null ? member.copied() : copied.bytes(),
        copied != null && copied.shared(),
        proof,
        member.process());
  }

  private Copied copy(Checked checked) throws IOException, InterruptedException {
    DataFolder source = Objects.requireNonNull(checked.folder());
    long bytes = source.sizeLocked();
    try {
      for (Path folder : plan.folders()) {
        make(folder);
        Files.writeString(
            folder.resolve(Preflight.MARKER), "An unfinished copy. It may be deleted.\n");
      }
      Copied copied = copy(checked, source, bytes);
      for (Path folder : plan.folders()) {
        // The marker is deleted last. A folder without the marker counts as the data of a server,
        // which no run deletes.
        Files.delete(folder.resolve(Preflight.MARKER));
      }
      return copied;
    } catch (IOException | InterruptedException | RuntimeException e) {
      progress.phase("cleaning up");
      Interruption.suspend(() -> plan.folders().forEach(this::discard));
      if (e instanceof IOException failure) {
        throw Failure.run("the copy failed: " + Failure.reason(failure), failure);
      }
      throw e;
    }
  }

  private Copied copy(Checked checked, DataFolder source, long bytes)
      throws IOException, InterruptedException {
    LockHolder lock = LockHolder.start(plan.url(), checked.source(), plan.lockDeadline());
    FolderCopy copy =
        new FolderCopy(
            source,
            plan.folders(),
            plan.limit(),
            read -> {
              lock.check();
              progress.state("%,d of about %,d MiB".formatted(read >> 20, bytes >> 20));
            });
    String command = plan.copy();
    Duration copying;
    try {
      progress.phase("copying, " + checked.source().host() + " locked");
      listener.locking();
      lock.lock();
      long begun = System.nanoTime();
      if (command == null) {
        copy.copy();
      } else {
        for (Target target : plan.targets()) {
          CopyCommand.run(command, source, target, lock::check);
        }
      }
      copying = Duration.ofNanos(System.nanoTime() - begun);
      lock.unlock();
    } finally {
      listener.unlocked();
      lock.close();
    }
    if (command != null) {
      return new Copied(lock.locked(), copying, bytes, false);
    }
    progress.phase("reading the copy again");
    copy.verify();
    return new Copied(lock.locked(), copying, copy.written(), copy.isShared());
  }

  /** Creates the folders of all targets. After a failure, none of them is left. */
  void makeFolders() throws IOException {
    try {
      for (Path folder : plan.folders()) {
        make(folder);
      }
    } catch (IOException e) {
      made.forEach(this::discard);
      throw e;
    }
  }

  /** Creates a folder, or empties it after an earlier run. */
  private void make(Path folder) throws IOException {
    if (Files.notExists(folder)) {
      made.add(folder);
      Files.createDirectories(folder);
    }
    empty(folder);
  }

  /** Empties a folder, and deletes it if this run created it. */
  private void discard(Path folder) {
    try {
      empty(folder);
      if (made.contains(folder)) {
        Files.deleteIfExists(folder);
      }
    } catch (IOException e) {
      progress.note("Cannot empty " + folder + ": " + Failure.reason(e));
    }
  }

  /** Deletes the content of a folder. */
  private static void empty(Path folder) throws IOException {
    if (Files.notExists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file :
          files
              .filter(file -> !file.equals(folder) && !file.endsWith("lost+found"))
              // The marker is last, so that a later run can continue an interrupted deletion.
              .sorted(
                  Comparator.comparing((Path file) -> file.endsWith(Preflight.MARKER))
                      .thenComparing(Comparator.reverseOrder()))
              .toList()) {
        Files.deleteIfExists(file);
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** Removes the members that have not caught up. */
  private void undo(List<NewMember> members, int done, Exception failure) {
    progress.phase("cleaning up");
    for (int i = done; i < plan.targets().size(); i++) {
      Target target = plan.targets().get(i);
      try {
        Path folder = plan.folder(target);
        boolean unused = i >= members.size() || members.get(i).undo();
        if (unused && folder != null) {
          discard(folder);
        } else if (target.dbpath() != null) {
          progress.note(
              "Files are left in " + target.dbpath() + "; empty this folder before the next run.");
        }
      } catch (InterruptedException | RuntimeException e) {
        failure.addSuppressed(e);
        progress.note("Cleaning up " + target.host() + " failed: " + Failure.firstLine(e));
      }
    }
  }
}
