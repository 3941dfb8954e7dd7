package dev.onehop.measure.points;

import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs YCSB processes, one or several at a time, until it is stopped. {@link #stop} may be called
 * from any thread, all else from one.
 */
final class YcsbRunner {
  private final Progress progress;
  private @Nullable YcsbProcesses running;
  private boolean stopped;

  YcsbRunner(Progress progress) {
    this.progress = progress;
  }

  /**
   * Starts processes.
   *
   * @param commands the command of each, by the folder for what it prints
   * @param status called with the sum of their status lines, which are also shown
   * @throws Failure if this was stopped
   */
  synchronized YcsbProcesses start(Map<Path, List<String>> commands, Consumer<StatusLine> status)
      throws IOException {
    if (stopped) {
      throw Failure.interrupted();
    }
    YcsbProcesses processes =
        YcsbProcesses.start(
            commands,
            line -> {
              status.accept(line);
              show(line);
            });
    running = processes;
    return processes;
  }

  private void show(StatusLine status) {
    if (status.operations() > 0) {
      progress.state(
          String.format(
              Locale.ROOT, "%,d operations, %,.0f/s", status.operations(), status.currentRate()));
    }
  }

  /** What was started last; null before. */
  synchronized @Nullable YcsbProcesses running() {
    return running;
  }

  /** Stops what runs and lets nothing more start. */
  synchronized void stop() {
    stopped = true;
    if (running != null) {
      running.stop();
    }
  }

  /** A process that issues operations at a rate. */
  static final class Issuing {
    private final YcsbProcesses process;
    private final long beginNanos;

    private Issuing(YcsbProcesses process, long beginNanos) {
      this.process = process;
      this.beginNanos = beginNanos;
    }

    /** Sleeps until it has issued operations for that long. */
    void sleepUntil(Duration sinceBegin) throws InterruptedException {
      long left = beginNanos + sinceBegin.toNanos() - System.nanoTime();
      if (left > 0) {
        TimeUnit.NANOSECONDS.sleep(left);
      }
    }

    /** Waits for its end; operations may have failed. */
    YcsbOutput await(Duration atMost) throws InterruptedException {
      return process.await(atMost, true);
    }
  }

  /**
   * Starts a process and waits until it issues operations.
   *
   * @param started called with its process id as soon as there is one
   * @param atMost how long it may take to connect and to warm up
   * @throws Failure if it issues nothing
   */
  Issuing issuing(
      Path folder, List<String> command, Consumer<YcsbProcesses> started, Duration atMost)
      throws IOException, InterruptedException {
    CompletableFuture<Long> began = new CompletableFuture<>();
    YcsbProcesses process =
        start(
            Map.of(folder, command),
            status -> {
              boolean unused = began.complete(System.nanoTime());
            });
    started.accept(process);
    long end = System.nanoTime() + atMost.toNanos();
    while (System.nanoTime() - end < 0) {
      try {
        return new Issuing(process, began.get(500, TimeUnit.MILLISECONDS));
      } catch (TimeoutException e) {
        if (!process.isAlive()) {
          break;
        }
      } catch (ExecutionException e) {
        throw new IllegalStateException(e);
      }
    }
    // Its output says why.
    var unused = process.await(Duration.ZERO, false);
    throw Failure.run("the client has issued nothing", null);
  }
}
