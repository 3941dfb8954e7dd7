package dev.onehop.resync;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.mongodb.MongoException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The lock of a server. A separate process holds it, see {@link LockHolderMain}. If that process is
 * killed, this object unlocks the server.
 */
final class LockHolder implements AutoCloseable {

  private static final Duration START = Duration.ofSeconds(60);
  private static final String ENDED = "";

  private final Member member;
  private final Duration deadline;
  private final Process process;
  private final Writer commands;
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private boolean mayBeLocked;
  private long lockedAt;
  private @Nullable Duration locked;

  private LockHolder(Member member, Duration deadline, Process process) {
    this.member = member;
    this.deadline = deadline;
    this.process = process;
    this.commands = process.outputWriter(StandardCharsets.UTF_8);
  }

  /**
   * Starts the process, which connects to the server. Does not lock the server yet.
   *
   * @throws Failure if the process can't start or can't connect
   */
  static LockHolder start(Credentials access, Member member, Duration deadline)
      throws InterruptedException {
    List<String> command =
        List.of(
            // In a separate session, because a terminal sends Ctrl-C to all processes of its
            // session.
            "setsid",
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xmx64m",
            "-cp",
            System.getProperty("java.class.path"),
            LockHolderMain.class.getName());
    LockHolder holder = null;
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      holder = new LockHolder(member, deadline, process);
      Thread reader = new Thread(holder::readAnswers, "lock-answers");
      reader.setDaemon(true);
      reader.start();
      Path authority = access.authority();
      holder.send(
          new ObjectMapper()
              .writeValueAsString(
                  new LockHolderMain.Task(
                      member.host(),
                      access.secret(),
                      authority == null ? null : authority.toAbsolutePath().toString(),
                      deadline.toMillis())));
      holder.await(LockHolderMain.READY, START);
      return holder;
    } catch (IOException e) {
      throw Failure.run("cannot start the process that holds the lock: " + Failure.firstLine(e), e);
    } catch (InterruptedException | RuntimeException e) {
      if (holder != null) {
        holder.close();
      }
      throw e;
    }
  }

  private void readAnswers() {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      String line;
      while ((line = lines.readLine()) != null) {
        answers.add(line);
      }
    } catch (IOException e) {
      // The process has ended.
    }
    answers.add(ENDED);
  }

  private void send(String line) {
    try {
      commands.write(line + "\n");
      commands.flush();
    } catch (IOException e) {
      throw failed("the process that holds the lock has ended");
    }
  }

  private Failure failed(String why) {
    return Failure.run("the lock of " + member.host() + " failed: " + why, null);
  }

  private Failure failedWith(String answer) {
    return failed(
        answer.startsWith(LockHolderMain.FAILED)
            ? answer.substring(LockHolderMain.FAILED.length())
            : "the process that holds the lock has ended");
  }

  private void await(String expected, Duration atMost) throws InterruptedException {
    String answer = answers.poll(atMost.toMillis(), TimeUnit.MILLISECONDS);
    if (answer == null) {
      throw failed("no reply within " + atMost.toSeconds() + " s");
    }
    if (!expected.equals(answer)) {
      throw failedWith(answer);
    }
  }

  /**
   * Checks that the server is still locked.
   *
   * @throws Failure if the lock has ended, with the reason
   */
  void check() {
    String answer = answers.peek();
    if (answer != null) {
      throw failedWith(answer);
    }
  }

  /** Locks the server. After a failure, {@link #close} unlocks it if necessary. */
  void lock() throws InterruptedException {
    mayBeLocked = true;
    lockedAt = System.nanoTime();
    send("lock");
    await(LockHolderMain.LOCKED, deadline);
  }

  /**
   * Unlocks the server.
   *
   * @throws Failure if the lock has ended before
   */
  void unlock() throws InterruptedException {
    send("unlock");
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
    boolean interrupted = Thread.interrupted();
    try {
      commands.close();
    } catch (IOException e) {
      // The process has ended.
    }
    try {
      if (!process.waitFor(START.toSeconds(), TimeUnit.SECONDS)) {
        throw Failure.run(
            member.host() + " cannot be unlocked yet; process " + process.pid() + " keeps retrying",
            null);
      }
      if (mayBeLocked && process.exitValue() != 0) {
        unlockFromHere();
      }
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
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
