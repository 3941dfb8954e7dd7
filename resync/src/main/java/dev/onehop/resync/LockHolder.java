package dev.onehop.resync;

import com.mongodb.MongoException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The lock of a server. A separate process holds it, see {@link LockHolderMain}. If that process is
 * killed, this object unlocks the server.
 */
final class LockHolder implements AutoCloseable {

  private static final Duration START = Duration.ofSeconds(60);
  private static final List<String> SMALL =
      List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx64m");

  private final Member member;
  private final Duration deadline;
  private final ChildJvm process;
  private boolean mayBeLocked;
  private long lockedAt;
  private @Nullable Duration locked;

  private LockHolder(Member member, Duration deadline, ChildJvm process) {
    this.member = member;
    this.deadline = deadline;
    this.process = process;
  }

  /**
   * Starts the process, which connects to the server. Does not lock the server yet.
   *
   * @throws Failure if the process can't start or can't connect
   */
  static LockHolder start(ClusterUrl url, Member member, Duration deadline)
      throws InterruptedException {
    LockHolder holder;
    try {
      ChildJvm process =
          ChildJvm.start(
              "the process that locks " + member.host(),
              // In a separate session, because a terminal sends Ctrl-C to all processes of its
              // session.
              List.of("setsid"),
              SMALL,
              LockHolderMain.class,
              new LockHolderMain.Task(member.host(), url, deadline.toMillis()),
              null,
              line -> false);
      holder = new LockHolder(member, deadline, process);
    } catch (IOException e) {
      throw Failure.run("cannot start the process that holds the lock: " + Failure.firstLine(e), e);
    }
    try {
      holder.await(LockHolderMain.READY, START);
      return holder;
    } catch (InterruptedException | RuntimeException e) {
      holder.close();
      throw e;
    }
  }

  private void await(String answer, Duration atMost) throws InterruptedException {
    var unused = process.await(answer, atMost);
  }

  /**
   * Checks that the server is still locked.
   *
   * @throws Failure if the lock has ended, with the reason
   */
  void check() {
    process.check();
  }

  /** Locks the server. After a failure, {@link #close} unlocks it if necessary. */
  void lock() throws InterruptedException {
    mayBeLocked = true;
    lockedAt = System.nanoTime();
    process.send("lock");
    await(LockHolderMain.LOCKED, deadline);
  }

  /**
   * Unlocks the server.
   *
   * @throws Failure if the lock had already ended
   */
  void unlock() throws InterruptedException {
    process.send("unlock");
    await(LockHolderMain.UNLOCKED, START);
    mayBeLocked = false;
    locked = Duration.ofNanos(System.nanoTime() - lockedAt);
  }

  /**
   * The time from the lock to the unlock; null if the server was not locked, or if the lock was
   * lost.
   */
  @Nullable Duration locked() {
    return locked;
  }

  /**
   * Ends the process, which then unlocks the server. If the process was killed, this object unlocks
   * the server.
   */
  @Override
  public void close() {
    Interruption.suspend(this::end);
  }

  private void end() {
    try {
      if (!process.end(START)) {
        throw Failure.run(
            "%s cannot be unlocked yet; process %d keeps retrying"
                .formatted(member.host(), process.pid()));
      }
      if (mayBeLocked && process.awaitEnd(Duration.ZERO) != 0) {
        unlockFromHere();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void unlockFromHere() {
    try {
      if (member.admin("currentOp").getBoolean("fsyncLock", false)) {
        member.admin("fsyncUnlock");
      }
    } catch (MongoException e) {
      throw Failure.run(
          "cannot unlock %s: %s; run db.fsyncUnlock() on this server"
              .formatted(member.host(), Failure.firstLine(e)),
          e);
    }
  }
}
