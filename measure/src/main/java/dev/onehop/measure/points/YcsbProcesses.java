package dev.onehop.measure.points;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** YCSB processes that run side by side, one or several. Thread-safe. */
final class YcsbProcesses {

  private final List<YcsbProcess> processes;

  private YcsbProcesses(List<YcsbProcess> processes) {
    this.processes = processes;
  }

  /**
   * Starts them; none runs on if one can't be started.
   *
   * @param commands the command of each, by the folder for what it prints
   * @param status called with the sum of their status lines whenever one has a new one
   */
  static YcsbProcesses start(Map<Path, List<String>> commands, Consumer<StatusLine> status)
      throws IOException {
    List<YcsbProcess> started = new ArrayList<>();
    StatusSum sum = new StatusSum(commands.size(), status);
    try {
      for (Map.Entry<Path, List<String>> each : commands.entrySet()) {
        int number = started.size();
        started.add(
            YcsbProcess.start(each.getValue(), each.getKey(), line -> sum.add(number, line)));
      }
    } catch (IOException e) {
      started.forEach(YcsbProcess::stop);
      throw e;
    }
    return new YcsbProcesses(List.copyOf(started));
  }

  /**
   * Waits for all of them; stops the others if one fails.
   *
   * @param atMost when to give up on them
   * @param mayFail whether operations may have failed, which the exit code says, too
   * @throws dev.onehop.resync.Failure if one took too long or did not come to its end
   */
  YcsbOutput await(Duration atMost, boolean mayFail) throws InterruptedException {
    long end = System.nanoTime() + atMost.toNanos();
    List<YcsbOutput> outputs = new ArrayList<>();
    try {
      for (YcsbProcess process : processes) {
        Duration left = Duration.ofNanos(Math.max(0, end - System.nanoTime()));
        outputs.add(process.await(left, mayFail));
      }
    } finally {
      if (outputs.size() < processes.size()) {
        stop();
      }
    }
    return YcsbOutput.merged(outputs);
  }

  /** The processor time that all have used so far; null once one of them has ended. */
  @Nullable Duration cpuTime() {
    Duration sum = Duration.ZERO;
    for (YcsbProcess process : processes) {
      Duration used = process.cpuTime();
      if (used == null) {
        return null;
      }
      sum = sum.plus(used);
    }
    return sum;
  }

  /** How many TCP connections all have; null if that can't be told of one of them. */
  @Nullable Integer connections() {
    int sum = 0;
    for (YcsbProcess process : processes) {
      Integer each = ProcStat.connections(process.pid());
      if (each == null) {
        return null;
      }
      sum += each;
    }
    return sum;
  }

  /** Whether one of them has not ended yet. */
  boolean isAlive() {
    return processes.stream().anyMatch(YcsbProcess::isAlive);
  }

  /** Their process ids. */
  List<Long> pids() {
    return processes.stream().map(YcsbProcess::pid).toList();
  }

  /** Stops all at once; no-op for those that have ended. */
  void stop() {
    processes.forEach(YcsbProcess::stop);
  }

  /** The last status of each. */
  private static final class StatusSum {
    private final @Nullable StatusLine[] last;
    private final Consumer<StatusLine> listener;

    StatusSum(int processes, Consumer<StatusLine> listener) {
      this.last = new StatusLine[processes];
      this.listener = listener;
    }

    synchronized void add(int number, StatusLine line) {
      last[number] = line;
      long operations = 0;
      double rate = 0;
      for (StatusLine each : last) {
        if (each != null) {
          operations += each.operations();
          rate += each.currentRate();
        }
      }
      listener.accept(new StatusLine(operations, rate));
    }
  }
}
