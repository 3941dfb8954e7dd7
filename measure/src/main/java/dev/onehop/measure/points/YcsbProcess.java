package dev.onehop.measure.points;

import dev.onehop.resync.Failure;
import dev.onehop.testbed.Watchdog;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One run of YCSB in a process of its own. What it prints is kept in the run's folder: {@code
 * ycsb.out} has its measurements, {@code ycsb.err} its status lines and complaints.
 */
final class YcsbProcess {

  private static final String STDOUT = "ycsb.out";
  private static final String STDERR = "ycsb.err";

  private final Process process;
  private final Path folder;
  private final Thread reader;

  private YcsbProcess(Process process, Path folder, Thread reader) {
    this.process = process;
    this.folder = folder;
    this.reader = reader;
  }

  /**
   * Starts it.
   *
   * @param status called with each status line, on a thread of the process's own
   */
  static YcsbProcess start(List<String> command, Path folder, Consumer<StatusLine> status)
      throws IOException {
    Files.createDirectories(folder);
    Process process =
        new ProcessBuilder(command).redirectOutput(folder.resolve(STDOUT).toFile()).start();
    Watchdog.watch(process.toHandle());
    Thread reader = new Thread(() -> copy(process, folder.resolve(STDERR), status), "ycsb-status");
    reader.setDaemon(true);
    reader.start();
    return new YcsbProcess(process, folder, reader);
  }

  private static void copy(Process process, Path file, Consumer<StatusLine> status) {
    try (BufferedReader lines = process.errorReader(StandardCharsets.UTF_8);
        BufferedWriter copy = Files.newBufferedWriter(file)) {
      String line;
      while ((line = lines.readLine()) != null) {
        copy.write(line);
        copy.newLine();
        StatusLine.parse(line).ifPresent(status);
      }
    } catch (IOException e) {
      // The process was stopped, or the disk is full: its outputs are checked afterwards.
    }
  }

  /**
   * Waits for its end and reads what it printed.
   *
   * @param atMost when to give up on it and stop it
   * @throws Failure if it took too long or did not come to its end
   */
  YcsbOutput await(Duration atMost) throws InterruptedException {
    return await(atMost, false);
  }

  /**
   * Waits for its end and reads what it printed.
   *
   * @param mayFail whether operations may have failed, which the exit code says, too
   */
  YcsbOutput await(Duration atMost, boolean mayFail) throws InterruptedException {
    if (!process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
      stop();
      throw Failure.run(
          "YCSB did not end within " + atMost.toSeconds() + " s; its output is in " + folder, null);
    }
    reader.join(TimeUnit.SECONDS.toMillis(5));
    YcsbOutput output;
    try {
      output = YcsbOutput.read(folder.resolve(STDOUT));
    } catch (IOException e) {
      throw Failure.run("cannot read YCSB's output in " + folder, e);
    }
    // YCSB's own exit code is 0 whatever happened, but the binding's and the JVM's are not.
    if (!output.complete() || process.exitValue() > (mayFail ? 1 : 0)) {
      throw Failure.run(
          "YCSB broke off (exit code "
              + process.exitValue()
              + ")"
              + complaint(folder).map(line -> ": " + line).orElse("")
              + "; its output is in "
              + folder,
          null);
    }
    return output;
  }

  /** The line of a run's standard error that says best what went wrong: ours, else YCSB's. */
  static Optional<String> complaint(Path folder) {
    List<String> lines;
    try {
      lines = Files.readAllLines(folder.resolve(STDERR));
    } catch (IOException e) {
      return Optional.empty();
    }
    String ours = "onehop: ";
    Optional<String> said =
        lines.stream().filter(line -> line.startsWith(ours)).reduce((first, last) -> last);
    if (said.isPresent()) {
      return said.map(line -> line.substring(ours.length()));
    }
    return lines.stream()
        .filter(line -> line.matches("[\\w.$]*(Exception|Error)\\b.*"))
        .findFirst();
  }

  /** The processor time that it has used so far; null once it has ended. */
  @Nullable Duration cpuTime() {
    return process.info().totalCpuDuration().orElse(null);
  }

  /** Its process id. */
  long pid() {
    return process.pid();
  }

  /** Whether it has not ended yet. */
  boolean isAlive() {
    return process.isAlive();
  }

  /** Stops it at once; no-op if it has ended. */
  void stop() {
    process.destroyForcibly();
  }
}
