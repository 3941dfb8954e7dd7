package dev.onehop.cli.consume;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.cli.Failure;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A {@link ConsumerMain} as its parent has it. */
final class ConsumerProcess implements AutoCloseable {

  /** Several JVMs share the machine. */
  private static final String HEAP = "-Xmx512m";

  private static final Duration START = Duration.ofSeconds(60);
  private static final String ENDED = "ended";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Process process;
  private final Path errors;
  private final Writer commands;
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private volatile long seen;

  private ConsumerProcess(Process process, Path errors) {
    this.process = process;
    this.errors = errors;
    this.commands = process.outputWriter(StandardCharsets.UTF_8);
  }

  /** Starts one, whose task's folder is there afterwards. */
  static ConsumerProcess start(ConsumerTask task) throws IOException {
    Path folder = Files.createDirectories(Path.of(task.folder()));
    Path errors = folder.resolve("consumer.err");
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    HEAP,
                    "-cp",
                    System.getProperty("java.class.path"),
                    ConsumerMain.class.getName()))
            .redirectError(errors.toFile())
            .start();
    ConsumerProcess consumer = new ConsumerProcess(process, errors);
    Thread reader = new Thread(consumer::readAnswers, "consumer-answers");
    reader.setDaemon(true);
    reader.start();
    consumer.send(JSON.writeValueAsString(task));
    return consumer;
  }

  private void readAnswers() {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      String line;
      while ((line = lines.readLine()) != null) {
        if (line.startsWith(ConsumerMain.SEEN)) {
          seen = Long.parseLong(line.substring(ConsumerMain.SEEN.length()));
        } else {
          answers.add(line);
        }
      }
    } catch (IOException e) {
      // It was stopped.
    }
    answers.add(ENDED);
  }

  private void send(String line) {
    try {
      commands.write(line + "\n");
      commands.flush();
    } catch (IOException e) {
      throw broken(e);
    }
  }

  void awaitReady() throws InterruptedException {
    await(ConsumerMain.READY, START);
  }

  /** Has the stream opened; {@link #awaitOpened} waits until it is. */
  void open() {
    seen = 0;
    send("open");
  }

  void awaitOpened() throws InterruptedException {
    await(ConsumerMain.OPENED, START);
  }

  /** See {@link RowConsumer#setWindow}. */
  void setWindow(long fromMicros, long toMicros) {
    send("window " + fromMicros + " " + toMicros);
  }

  /** Rows that it has seen since it opened its stream, each version once. */
  long seen() {
    return seen;
  }

  /**
   * Fails if the consumer has.
   *
   * @throws Failure why
   */
  void check() {
    String answer = answers.peek();
    if (answer != null && (answer.equals(ENDED) || answer.startsWith(ConsumerMain.FAILED))) {
      throw failed(answer);
    }
  }

  /** Has the stream closed, and takes what was found. */
  ConsumerReport report() throws InterruptedException {
    send("close");
    String report = await(ConsumerMain.REPORT, START);
    try {
      return JSON.readValue(report.substring(ConsumerMain.REPORT.length()), ConsumerReport.class);
    } catch (JsonProcessingException e) {
      throw broken(e);
    }
  }

  private String await(String start, Duration atMost) throws InterruptedException {
    String answer = answers.poll(atMost.toMillis(), TimeUnit.MILLISECONDS);
    if (answer == null) {
      throw Failure.run(
          "a consumer did not answer within "
              + atMost.toSeconds()
              + " s; its complaints are in "
              + errors,
          null);
    }
    if (!answer.startsWith(start)) {
      throw failed(answer);
    }
    return answer;
  }

  private Failure failed(String answer) {
    if (answer.startsWith(ConsumerMain.FAILED)) {
      return Failure.run(
          "a consumer failed: " + answer.substring(ConsumerMain.FAILED.length()), null);
    }
    return Failure.run("a consumer broke off" + complaint() + "; see " + errors, null);
  }

  private String complaint() {
    try {
      return Files.readAllLines(errors).stream()
          .filter(line -> line.startsWith(ConsumerMain.FAILED))
          .findFirst()
          .map(line -> ": " + line.substring(ConsumerMain.FAILED.length()))
          .orElse("");
    } catch (IOException e) {
      return "";
    }
  }

  private Failure broken(IOException e) {
    return Failure.run("a consumer broke off: " + Failure.firstLine(e) + complaint(), e);
  }

  /** Stops it at once; no-op if it has ended. */
  void stop() {
    process.destroyForcibly();
  }

  /** Lets it end; stops it if it does not. */
  @Override
  public void close() {
    try {
      commands.close();
      if (!process.waitFor(5, TimeUnit.SECONDS)) {
        stop();
      }
    } catch (IOException e) {
      stop();
    } catch (InterruptedException e) {
      stop();
      Thread.currentThread().interrupt();
    }
  }
}
