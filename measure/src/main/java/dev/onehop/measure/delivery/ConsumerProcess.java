package dev.onehop.measure.delivery;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.measure.frame.ChildJvm;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A {@link ConsumerMain} as its parent has it. */
final class ConsumerProcess implements AutoCloseable {

  private static final Duration START = Duration.ofSeconds(60);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final ChildJvm process;
  private volatile long seen;

  private ConsumerProcess(ConsumerTask task) throws IOException {
    this.process =
        ChildJvm.start(
            "a consumer",
            List.of(),
            ConsumerMain.class,
            JSON.writeValueAsString(task),
            Path.of(task.folder()),
            this::isProgress);
  }

  /** Starts one, whose task's folder is there afterwards. */
  static ConsumerProcess start(ConsumerTask task) throws IOException {
    return new ConsumerProcess(task);
  }

  private boolean isProgress(String line) {
    if (line.startsWith(ConsumerMain.SEEN)) {
      seen = Long.parseLong(line.substring(ConsumerMain.SEEN.length()));
      return true;
    }
    return false;
  }

  void awaitReady() throws InterruptedException {
    var unused = process.await(ConsumerMain.READY, START);
  }

  /** Has the stream opened; {@link #awaitOpened} waits until it is. */
  void open() {
    seen = 0;
    process.send("open");
  }

  void awaitOpened() throws InterruptedException {
    var unused = process.await(ConsumerMain.OPENED, START);
  }

  /** See {@link RowConsumer#setWindow}. */
  void setWindow(long fromMicros, long toMicros) {
    process.send("window " + fromMicros + " " + toMicros);
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
    process.check();
  }

  /** Has the stream closed, and takes what was found. */
  ConsumerReport report() throws InterruptedException {
    process.send("close");
    String report = process.await(ConsumerMain.REPORT, START);
    try {
      return JSON.readValue(report, ConsumerReport.class);
    } catch (JsonProcessingException e) {
      throw Failure.run("a consumer's report can't be read: " + Failure.firstLine(e), e);
    }
  }

  /** Stops it at once; no-op if it has ended. */
  void stop() {
    process.stop();
  }

  /** Lets it end; stops it if it does not. */
  @Override
  public void close() {
    process.close();
  }
}
