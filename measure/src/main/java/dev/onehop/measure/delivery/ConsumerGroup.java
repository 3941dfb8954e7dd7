package dev.onehop.measure.delivery;

import dev.onehop.resync.Failure;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongConsumer;

/** The processes that share the channels of a point. */
final class ConsumerGroup implements AutoCloseable {

  private static final Duration POLL = Duration.ofMillis(20);

  /** No new row for so long: it will not come. */
  private static final Duration STALL = Duration.ofSeconds(20);

  /** After the last row, for those that might come again. */
  private static final Duration SETTLE = Duration.ofMillis(500);

  private final List<ConsumerProcess> processes;
  private final List<Path> folders;

  private ConsumerGroup(List<ConsumerProcess> processes, List<Path> folders) {
    this.processes = processes;
    this.folders = folders;
  }

  /** Starts one process for each task, and waits until all are ready. */
  static ConsumerGroup start(List<ConsumerTask> tasks) throws IOException, InterruptedException {
    List<ConsumerProcess> started = new CopyOnWriteArrayList<>();
    ConsumerGroup group =
        new ConsumerGroup(started, tasks.stream().map(task -> Path.of(task.folder())).toList());
    boolean ready = false;
    try {
      for (ConsumerTask task : tasks) {
        started.add(ConsumerProcess.start(task));
      }
      for (ConsumerProcess process : started) {
        process.awaitReady();
      }
      ready = true;
    } finally {
      if (!ready) {
        group.stop();
      }
    }
    return group;
  }

  /** Has all open their streams at the same time, and waits until they have. */
  void open() throws InterruptedException {
    processes.forEach(ConsumerProcess::open);
    for (ConsumerProcess process : processes) {
      process.awaitOpened();
    }
  }

  /** See {@link RowConsumer#setWindow}. */
  void setWindow(long fromMicros, long toMicros) {
    processes.forEach(process -> process.setWindow(fromMicros, toMicros));
  }

  /** Rows seen by all so far. */
  long seen() {
    return processes.stream().mapToLong(ConsumerProcess::seen).sum();
  }

  /**
   * Fails if one of them has.
   *
   * @throws Failure why
   */
  void check() {
    processes.forEach(ConsumerProcess::check);
  }

  /**
   * Waits until all rows were seen, or none has come for long.
   *
   * @param progress gets the rows seen by all so far
   */
  void awaitRows(long rows, LongConsumer progress) throws InterruptedException {
    long most = -1;
    long lastNew = System.nanoTime();
    while (most < rows && System.nanoTime() - lastNew < STALL.toNanos()) {
      Thread.sleep(POLL.toMillis());
      check();
      long seen = seen();
      progress.accept(seen);
      if (seen > most) {
        most = seen;
        lastNew = System.nanoTime();
      }
    }
  }

  /** Waits a little for rows that might come again. */
  void settle() throws InterruptedException {
    Thread.sleep(SETTLE.toMillis());
  }

  /** Has all close their streams, and takes what they found. */
  List<ConsumerReport> reports() throws InterruptedException {
    List<ConsumerReport> reports = new ArrayList<>();
    for (ConsumerProcess process : processes) {
      reports.add(process.report());
    }
    return reports;
  }

  /** What each has seen, by its last report. */
  List<RowVersions> seenRows() throws IOException {
    List<RowVersions> seen = new ArrayList<>();
    for (Path folder : folders) {
      seen.add(RowVersions.read(folder.resolve(RowConsumer.SEEN)));
    }
    return seen;
  }

  /** The folders that they left their logs in. */
  List<Path> folders() {
    return folders;
  }

  /** Stops all at once; callable from any thread. */
  void stop() {
    processes.forEach(ConsumerProcess::stop);
  }

  @Override
  public void close() {
    processes.forEach(ConsumerProcess::close);
  }
}
