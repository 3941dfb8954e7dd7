package dev.onehop.resync;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A child JVM with this JVM's class path. The child reads commands from its standard input and
 * writes replies to its standard output, one per line. It ends at the end of its standard input.
 */
public final class ChildJvm implements AutoCloseable {

  /** The first characters of a line with which the child reports an error. */
  public static final String FAILED = "onehop: ";

  /** The limit of a child's heap. It is low because several JVMs share the machine. */
  private static final String HEAP = "-Xmx512m";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String ENDED = "ended";
  private static final Duration ENDING = Duration.ofSeconds(5);

  private final String name;
  private final Process process;
  private final @Nullable Path errors;
  private final Predicate<String> listener;
  private final Writer commands;
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

  private ChildJvm(
      String name, Process process, @Nullable Path errors, Predicate<String> listener) {
    this.name = name;
    this.process = process;
    this.errors = errors;
    this.listener = listener;
    this.commands = process.outputWriter(StandardCharsets.UTF_8);
  }

  /**
   * Starts a JVM.
   *
   * @param name the name of the child in messages, such as {@code a consumer}
   * @param options the options of the JVM
   * @param main the main class
   * @param task is sent as JSON in the first line of standard input; it may contain a password,
   *     which must not be on a command line
   * @param folder the folder for the file {@code consumer.err}, which receives the child's standard
   *     error; created if necessary
   * @param listener receives each line of the child first. Returns true for a line that is not a
   *     reply
   */
  public static ChildJvm start(
      String name,
      List<String> options,
      Class<?> main,
      Object task,
      Path folder,
      Predicate<String> listener)
      throws IOException {
    return start(name, List.of(), options, main, task, folder.resolve("consumer.err"), listener);
  }

  /**
   * Starts a JVM.
   *
   * @param prefix a command that runs the JVM, such as {@code taskset}; empty for none
   * @param errors the file for the child's errors; its folder is created if necessary; null for
   *     none
   */
  public static ChildJvm start(
      String name,
      List<String> prefix,
      List<String> options,
      Class<?> main,
      Object task,
      @Nullable Path errors,
      Predicate<String> listener)
      throws IOException {
    if (errors != null) {
      Files.createDirectories(errors.toAbsolutePath().getParent());
    }
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add(HEAP);
    // The JVM's own log goes to standard error, because standard output has only replies.
    command.addAll(List.of("-Xlog:disable", "-Xlog:all=warning:stderr"));
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    Process process =
        new ProcessBuilder(command)
            .redirectError(errors == null ? Redirect.DISCARD : Redirect.to(errors.toFile()))
            .start();
    ChildJvm child = new ChildJvm(name, process, errors, listener);
    Thread reader = new Thread(child::readAnswers, "child-answers");
    reader.setDaemon(true);
    reader.start();
    child.send(JSON.writeValueAsString(task));
    return child;
  }

  private void readAnswers() {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      String line;
      while ((line = lines.readLine()) != null) {
        if (!listener.test(line)) {
          answers.add(line);
        }
      }
    } catch (IOException e) {
      // The process was stopped, and there are no more lines.
    }
    answers.add(ENDED);
  }

  /**
   * Sends a line.
   *
   * @throws Failure if the process has ended
   */
  public void send(String line) {
    try {
      commands.write(line + "\n");
      commands.flush();
    } catch (IOException e) {
      throw failed(
          answers.stream().filter(answer -> answer.startsWith(FAILED)).findFirst().orElse(ENDED));
    }
  }

  /**
   * Checks that the process has not failed.
   *
   * @throws Failure with the reason of a failure
   */
  public void check() {
    String answer = answers.peek();
    if (answer != null && (answer.equals(ENDED) || answer.startsWith(FAILED))) {
      throw failed(answer);
    }
  }

  /**
   * Waits for the next reply.
   *
   * @param start the expected start of the reply
   * @return the rest of the reply
   * @throws Failure if the reply starts differently, or does not arrive in time
   */
  public String await(String start, Duration atMost) throws InterruptedException {
    String answer = answers.poll(atMost.toMillis(), TimeUnit.MILLISECONDS);
    if (answer == null) {
      throw Failure.run(
          "%s did not reply within %d s%s".formatted(name, atMost.toSeconds(), where()));
    }
    if (!answer.startsWith(start)) {
      throw failed(answer);
    }
    return answer.substring(start.length());
  }

  /**
   * Waits until the process has ended.
   *
   * @return the exit code of the process
   * @throws Failure if the process needs more time; the process is then stopped
   */
  public int awaitEnd(Duration atMost) throws InterruptedException {
    if (!process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
      stop();
      throw Failure.run(
          "%s did not end within %d s%s".formatted(name, atMost.toSeconds(), where()));
    }
    return process.exitValue();
  }

  /** The processor time that the process has used so far; null after its end. */
  public @Nullable Duration cpuTime() {
    return process.info().totalCpuDuration().orElse(null);
  }

  /** The process id. */
  public long pid() {
    return process.pid();
  }

  /** Whether the process is still running. */
  public boolean isAlive() {
    return process.isAlive();
  }

  private Failure failed(String answer) {
    String what =
        answer.startsWith(FAILED)
            ? " failed: " + answer.substring(FAILED.length())
            : " ended early";
    return Failure.run(name + what + where());
  }

  private String where() {
    return errors == null ? "" : "; see " + errors;
  }

  /** The process handle, for its resource use. */
  public ProcessHandle handle() {
    return process.toHandle();
  }

  /** Stops the process at once. Has no effect if the process has ended. */
  public void stop() {
    process.destroyForcibly();
  }

  /**
   * Closes the standard input of the process, so that the process ends, and waits for its end.
   *
   * @return whether it has ended in time
   */
  public boolean end(Duration atMost) throws InterruptedException {
    try {
      commands.close();
    } catch (IOException e) {
      // It has ended.
    }
    return process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS);
  }

  /**
   * Ends the standard input of the process, and waits for its end. Stops the process after a
   * timeout.
   */
  @Override
  public void close() {
    boolean ended = false;
    try {
      ended = end(ENDING);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      if (!ended) {
        stop();
      }
    }
  }
}
