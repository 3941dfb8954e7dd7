package dev.onehop.measure.delivery;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.resync.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/** Child JVMs of one main class, each with a task and a folder. Not thread-safe. */
final class Children implements AutoCloseable {

  /** The line of a process that has read its task. */
  static final String READY = "ready";

  /** The line of a process whose report is in its folder. */
  private static final String DONE = "done";

  /** The file of a report, as JSON. */
  private static final String REPORT = "report.json";

  /** The start of a line with the number of rows that have arrived at a process so far. */
  static final String SEEN = "seen ";

  private static final Duration POLL = Duration.ofMillis(20);

  /** If no new row arrives for this time, missing rows count as lost. */
  private static final Duration STALL = Duration.ofSeconds(20);

  private static final ObjectMapper JSON = new ObjectMapper();

  private final String name;
  private final List<String> options;
  private final Class<?> main;
  private final List<ChildJvm> processes = new ArrayList<>();
  private final List<Path> folders = new ArrayList<>();
  private final Map<Integer, Long> seen = new ConcurrentHashMap<>();

  /**
   * Creates an object without processes.
   *
   * @param name the name of a process in messages, such as {@code a consumer}
   * @param options the options of each JVM
   */
  Children(String name, List<String> options, Class<?> main) {
    this.name = name;
    this.options = options;
    this.main = main;
  }

  /** Starts a process. Its logs and its report are written into the folder. */
  void start(Object task, Path folder) throws IOException {
    int index = folders.size();
    folders.add(folder);
    processes.add(
        ChildJvm.start(name, options, main, task, folder, line -> isProgress(index, line)));
  }

  private boolean isProgress(int index, String line) {
    if (line.startsWith(SEEN)) {
      seen.put(index, Long.parseLong(line.substring(SEEN.length())));
      return true;
    }
    return false;
  }

  /** Writes the report of the calling process, which is a child. */
  static void report(Path folder, Object report, Consumer<String> say) throws IOException {
    JSON.writeValue(folder.resolve(REPORT).toFile(), report);
    say.accept(DONE);
  }

  /** Sends a command to all processes. */
  void send(String command) {
    processes.forEach(process -> process.send(command));
  }

  /** Waits for the next line of each process, which must be this line. */
  void await(String line, Duration atMost) throws InterruptedException {
    for (ChildJvm process : processes) {
      var unused = process.await(line, atMost);
    }
  }

  /**
   * Sends a command in reply to which each process writes a report.
   *
   * @param reports receives the reports. They are large, so only one at a time is in memory
   */
  <T> void reports(String command, Duration atMost, TypeReference<T> type, Consumer<T> reports)
      throws InterruptedException, IOException {
    send(command);
    await(DONE, atMost);
    seen.clear();
    for (Path folder : folders) {
      Path file = folder.resolve(REPORT);
      reports.accept(JSON.readValue(file.toFile(), type));
      Files.delete(file);
    }
  }

  /**
   * The number of versions of rows that have arrived since the last report. Each process counts
   * each version once.
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

  @Override
  public void close() {
    processes.forEach(ChildJvm::close);
  }
}
