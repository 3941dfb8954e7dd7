package dev.onehop.measure.copybench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.measure.frame.ChildJvm;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A {@link WorkerMain} as its parent has it. */
final class Worker implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofHours(2);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final ChildJvm process;

  private Worker(ChildJvm process) {
    this.process = process;
  }

  /**
   * Starts one.
   *
   * @param options of its JVM
   * @param folder for its complaints
   */
  static Worker start(WorkerTask task, List<String> options, Path folder) throws IOException {
    return new Worker(
        ChildJvm.start(
            "the copy by way of " + task.way().label(),
            options,
            WorkerMain.class,
            JSON.writeValueAsString(task),
            folder,
            line -> false));
  }

  /** Has a command carried out. */
  void run(String command) throws InterruptedException {
    process.send(command);
    var unused = process.await(WorkerMain.OK, PATIENCE);
  }

  /** What it has used since it was last asked. */
  WorkerUse use() throws InterruptedException {
    process.send("use");
    try {
      return JSON.readValue(process.await(WorkerMain.USE, PATIENCE), WorkerUse.class);
    } catch (JsonProcessingException e) {
      throw Failure.run("a worker's answer can't be read: " + Failure.firstLine(e), e);
    }
  }

  @Override
  public void close() {
    process.close();
  }
}
