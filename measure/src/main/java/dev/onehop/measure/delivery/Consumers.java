package dev.onehop.measure.delivery;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.resync.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;

/** The {@link ConsumerMain} processes that share the channels of a point. Not thread-safe. */
final class Consumers implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration POLL = Duration.ofMillis(20);

  /** If no new row arrives for this time, missing rows count as lost. */
  private static final Duration STALL = Duration.ofSeconds(20);

  /** The wait after the last row. Rows that arrive again during this wait are still counted. */
  private static final Duration SETTLE = Duration.ofMillis(500);

  private static final ObjectMapper JSON = new ObjectMapper();

  private final List<ChildJvm> processes = new ArrayList<>();
  private final List<Path> folders = new ArrayList<>();
  private final Map<Integer, Long> seen = new ConcurrentHashMap<>();

  /** Starts one process for each task, and waits until all processes are ready. */
  void start(List<ConsumerMain.Task> tasks) throws IOException, InterruptedException {
    for (ConsumerMain.Task task : tasks) {
      add(task);
    }
    var unused = await(ConsumerMain.READY);
  }

  private void add(ConsumerMain.Task task) throws IOException {
    Path folder = task.folder();
    int index = folders.size();
    folders.add(folder);
    processes.add(
        ChildJvm.start(
            "a consumer",
            List.of(),
            ConsumerMain.class,
            task,
            folder,
            line -> isProgress(index, line)));
  }

  private boolean isProgress(int index, String line) {
    if (line.startsWith(ConsumerMain.SEEN)) {
      seen.put(index, Long.parseLong(line.substring(ConsumerMain.SEEN.length())));
      return true;
    }
    return false;
  }

  private void send(String command) {
    processes.forEach(process -> process.send(command));
  }

  private List<String> await(String answer) throws InterruptedException {
    List<String> answers = new ArrayList<>();
    for (ChildJvm process : processes) {
      answers.add(process.await(answer, PATIENCE));
    }
    return answers;
  }

  /**
   * Makes all processes open their streams at the same time, and waits until the streams are open.
   */
  void open() throws InterruptedException {
    seen.clear();
    send("open");
    var unused = await(ConsumerMain.OPENED);
  }

  /** Calls {@link Lags#setWindow} in each process. */
  void setWindow(long fromMicros, long toMicros) {
    send("window " + fromMicros + " " + toMicros);
  }

  /**
   * The number of versions of rows that have arrived since the streams were opened. Each process
   * counts each version once.
   */
  long seen() {
    return seen.values().stream().mapToLong(rows -> rows).sum();
  }

  /**
   * Checks that no process has failed.
   *
   * @throws dev.onehop.resync.Failure with the reason of a failure
   */
  void check() {
    processes.forEach(ChildJvm::check);
  }

  /**
   * Waits until all rows have arrived, or no row has arrived for a long time.
   *
   * @param progress receives the number of rows that have arrived so far
   */
  void awaitRows(long rows, LongConsumer progress) throws InterruptedException {
    long most = -1;
    long lastNew = System.nanoTime();
    while (most < rows && System.nanoTime() - lastNew < STALL.toNanos()) {
      Thread.sleep(POLL.toMillis());
      check();
      long now = seen();
      progress.accept(now);
      if (now > most) {
        most = now;
        lastNew = System.nanoTime();
      }
    }
  }

  /** Waits a short time for rows that may arrive again. */
  void settle() throws InterruptedException {
    Thread.sleep(SETTLE.toMillis());
  }

  /** Makes all processes close their streams, and returns their reports. */
  List<ConsumerReport> reports() throws InterruptedException, IOException {
    send("close");
    List<ConsumerReport> reports = new ArrayList<>();
    for (String report : await(ConsumerMain.REPORT)) {
      reports.add(JSON.readValue(report, ConsumerReport.class));
    }
    return reports;
  }

  /** Reads the rows that have arrived at each process from the process's file. */
  List<RowSet> rows() throws IOException {
    List<RowSet> rows = new ArrayList<>();
    for (Path folder : folders) {
      rows.add(RowSet.read(folder.resolve(ConsumerMain.ROWS)));
    }
    return rows;
  }

  /** The folders with the logs of the processes. */
  List<Path> folders() {
    return folders;
  }

  @Override
  public void close() {
    processes.forEach(ChildJvm::close);
  }
}
