package dev.onehop.measure.copying;

import dev.onehop.measure.frame.ProcessUse;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.MongodProcess;
import dev.onehop.testbed.Watchdog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A program that users provide, with a port for commands. The program's command line and log are
 * written to a folder of the results. The program can start several times, one process at a time.
 */
final class Program implements AutoCloseable {
  private static final Duration START = Duration.ofSeconds(60);
  private static final Duration LOOK = Duration.ofMillis(50);

  private final String name;
  private final Path path;
  private final Path folder;
  private final int port = freePort();
  private @Nullable Process process;
  private ProcessUse ended = ProcessUse.NONE;

  /**
   * Creates a program without a process.
   *
   * @param name the program's name in messages and in the name of its log
   * @param folder the folder for the program's files
   */
  Program(String name, Path path, Path folder) {
    this.name = name;
    this.path = path;
    this.folder = folder;
  }

  private static int freePort() {
    String address = MongodProcess.freeAddress("127.0.0.1");
    return Integer.parseInt(address.substring(address.indexOf(':') + 1));
  }

  String name() {
    return name;
  }

  Path folder() {
    return folder;
  }

  /** The port for the program's commands. */
  int port() {
    return port;
  }

  private Path log() {
    return folder.resolve(name + ".log");
  }

  /**
   * Writes a file for the program's configuration or requests.
   *
   * @throws Failure if the file can't be written
   */
  Path write(String file, String content) {
    try {
      return Files.writeString(folder.resolve(file), content);
    } catch (IOException e) {
      throw Failure.run("cannot write " + folder.resolve(file) + ": " + Failure.reason(e), e);
    }
  }

  /**
   * Starts a process, and waits until it accepts commands.
   *
   * @throws Failure if the process can't be started, or ends
   */
  void start(List<String> arguments, BooleanSupplier ready) throws InterruptedException {
    List<String> command = new ArrayList<>(List.of(path.toAbsolutePath().toString()));
    command.addAll(arguments);
    var unused = write("command.txt", String.join(" ", command) + "\n");
    try {
      process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()))
              .start();
    } catch (IOException e) {
      throw Failure.run("cannot start " + path + ": " + Failure.reason(e), e);
    }
    Watchdog.watch(process.toHandle());
    await("accept commands", START, ready);
  }

  /**
   * Waits until the process fulfils a condition.
   *
   * @throws Failure if the process ends first, or needs more time
   */
  void await(String what, Duration atMost, BooleanSupplier done) throws InterruptedException {
    long begun = System.nanoTime();
    while (!done.getAsBoolean()) {
      if (process == null || !process.isAlive()) {
        throw Failure.run("%s ended; see %s".formatted(name, log()));
      }
      if (System.nanoTime() - begun > atMost.toNanos()) {
        throw Failure.run(
            "%s did not %s within %d s; see %s".formatted(name, what, atMost.toSeconds(), log()));
      }
      Thread.sleep(LOOK.toMillis());
    }
  }

  /** The resource use of all processes of the program. */
  ProcessUse use() {
    Process running = process;
    return running == null ? ended : ended.and(ProcessUse.of(running.toHandle()));
  }

  /** Ends the process, if there is one. */
  void stop() throws InterruptedException {
    Process running = process;
    if (running != null) {
      ended = use();
      process = null;
      running.destroy();
      if (!running.waitFor(START.toSeconds(), TimeUnit.SECONDS)) {
        running.destroyForcibly();
      }
    }
  }

  @Override
  public void close() {
    try {
      stop();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
