package dev.onehop.resync;

import com.mongodb.MongoException;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Locks a server from a separate process, so that the lock ends even if the requesting process is
 * killed. The lock ends at the end of standard input, which also comes when the requesting process
 * ends. At a deadline, the lock ends in any case. The first line of standard input is a {@link
 * Task} as JSON; the next lines are {@code lock} and {@code unlock}. Standard output has {@code
 * ready}, {@code locked}, {@code unlocked}, or {@link ChildJvm#FAILED} with the reason.
 */
public final class LockHolderMain {

  static final String READY = "ready";
  static final String LOCKED = "locked";
  static final String UNLOCKED = "unlocked";

  private static final int NOT_LOCKED = 20; // IllegalOperation
  private static final long RETRY_NANOS = 200_000_000L;
  private static final long GIVE_UP_NANOS = 3_600_000_000_000L;

  /**
   * The server to lock.
   *
   * @param host the server's name and port
   * @param url the URL with the credentials
   * @param deadlineMillis the longest time that the server stays locked
   */
  record Task(String host, ClusterUrl url, long deadlineMillis) {}

  /** The known state of the lock. */
  private enum State {
    OPEN,
    /** The server has received the lock command and has not replied yet; it may be locked. */
    ASKED,
    LOCKED
  }

  private final Member member;
  private final long deadlineMillis;
  private final Consumer<String> say;
  private State state = State.OPEN; // guarded by this

  private LockHolderMain(Member member, long deadlineMillis, Consumer<String> say) {
    this.member = member;
    this.deadlineMillis = deadlineMillis;
    this.say = say;
  }

  /** Runs the commands of its standard input. */
  public static void main(String[] args) {
    ChildMain.run(
        Task.class,
        (task, in, say) -> {
          Member member = Member.of(task.url(), task.host());
          new LockHolderMain(member, task.deadlineMillis(), say).run(in);
        });
  }

  private void run(BufferedReader in) throws IOException {
    member.admin("ping");
    // If a signal ends only this process, the hook unlocks the server.
    Runtime.getRuntime().addShutdownHook(new Thread(this::release, "unlock"));
    say.accept(READY);
    String line;
    while ((line = readLine(in)) != null) {
      switch (line) {
        case "lock" -> lock();
        case "unlock" -> unlock();
        default -> throw new IOException("unknown command: " + line);
      }
    }
    release();
  }

  /** Reads a line. Returns null at the end of input, also if the input ends within a line. */
  private static @Nullable String readLine(BufferedReader in) {
    try {
      return in.readLine();
    } catch (IOException e) {
      return null;
    }
  }

  private synchronized void lock() {
    state = State.ASKED;
    CompletableFuture.delayedExecutor(deadlineMillis, TimeUnit.MILLISECONDS).execute(this::expire);
    // The server waits for running operations before it locks. A separate thread sends the command,
    // so that this thread can notice the end of input during that time.
    Thread asking = new Thread(this::ask, "lock");
    asking.setDaemon(true);
    asking.start();
  }

  private void ask() {
    String failure = null;
    try {
      member.admin(new Document("fsync", 1).append("lock", true));
    } catch (MongoException e) {
      failure = Failure.firstLine(e);
    }
    synchronized (this) {
      if (failure != null) {
        release();
        say.accept(ChildJvm.FAILED + failure);
      } else if (state == State.ASKED) {
        state = State.LOCKED;
        say.accept(LOCKED);
      }
    }
  }

  /**
   * Unlocks the server. Reports {@code unlocked} only if the server was locked all the time until
   * now.
   */
  private synchronized void unlock() {
    if (state != State.LOCKED) {
      say.accept(ChildJvm.FAILED + "the server was not locked");
      return;
    }
    say.accept(release() ? UNLOCKED : ChildJvm.FAILED + "another client has unlocked the server");
  }

  private synchronized void expire() {
    if (state != State.OPEN) {
      release();
      say.accept(ChildJvm.FAILED + "the lock's deadline of " + deadlineMillis + " ms has passed");
    }
  }

  /**
   * Unlocks the server if it is locked. Repeats the command after failures.
   *
   * @return whether it was locked
   */
  private synchronized boolean release() {
    long giveUp = System.nanoTime() + GIVE_UP_NANOS;
    while (state != State.OPEN) {
      try {
        // After a lock command without a reply the server may be locked or not. Unlocking is safe
        // in both cases, because no other client had locked the server before.
        member.admin("fsyncUnlock");
        state = State.OPEN;
        return true;
      } catch (MongoException e) {
        boolean open = e.getCode() == NOT_LOCKED && !(state == State.ASKED && isAsked());
        if (open || System.nanoTime() - giveUp > 0) {
          state = State.OPEN;
          return false;
        }
        LockSupport.parkNanos(RETRY_NANOS);
      }
    }
    return false;
  }

  /**
   * Whether the lock command still runs on the server. If it does, the server may become locked
   * later.
   */
  private boolean isAsked() {
    return !member
        .admin(new Document("currentOp", 1).append("command.fsync", new Document("$exists", true)))
        .getList("inprog", Document.class)
        .isEmpty();
  }
}
