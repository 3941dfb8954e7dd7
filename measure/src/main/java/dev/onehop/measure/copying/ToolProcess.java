package dev.onehop.measure.copying;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.measure.frame.ChildJvm;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A {@link ToolMain} as its parent has it. */
final class ToolProcess implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofHours(2);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final ChildJvm process;

  private ToolProcess(ChildJvm process) {
    this.process = process;
  }

  /**
   * Starts one.
   *
   * @param options of its JVM
   * @param folder for its complaints
   */
  static ToolProcess start(ToolTask task, List<String> options, Path folder) throws IOException {
    return new ToolProcess(
        ChildJvm.start(
            "the copy by way of " + task.way().label(),
            options,
            ToolMain.class,
            JSON.writeValueAsString(task),
            folder,
            line -> false));
  }

  /** Has a command carried out. */
  void run(String command) throws InterruptedException {
    process.send(command);
    var unused = process.await(ToolMain.OK, PATIENCE);
  }

  /** What it has used since it was last asked. */
  ToolUse use() throws InterruptedException {
    process.send("use");
    try {
      return JSON.readValue(process.await(ToolMain.USE, PATIENCE), ToolUse.class);
    } catch (JsonProcessingException e) {
      throw Failure.run("a worker's answer can't be read: " + Failure.firstLine(e), e);
    }
  }

  @Override
  public void close() {
    process.close();
  }
}
