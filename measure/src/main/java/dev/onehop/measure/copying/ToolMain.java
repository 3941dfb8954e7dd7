package dev.onehop.measure.copying;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.measure.frame.ChildMain;
import dev.onehop.measure.frame.ProcessUse;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.bson.BsonTimestamp;

/**
 * A way of copying in a process of its own, so that its processor time and memory are its own. Its
 * standard input has the task in the first line, as JSON, and then one command a line: {@code full
 * COLLECTION...}, {@code follow TIME}, {@code await EVENTS}, {@code unfollow}, {@code use}. Each is
 * answered when it is done: {@code ok}, or what was used, as JSON.
 */
public final class ToolMain {
  static final String OK = "ok";
  static final String USE = "use ";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long LOOK_MILLIS = 10;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final CopyToolRun work;
  private long cpuNanos = ProcessUse.cpuNanos();

  private ToolMain(CopyToolRun work) {
    this.work = work;
  }

  /** Does what its standard input says. */
  public static void main(String[] args) {
    ChildMain.run(ToolTask.class, ToolMain::run);
  }

  private static void run(ToolTask task, BufferedReader in, PrintStream out)
      throws IOException, InterruptedException, ExecutionException {
    try (CopyToolRun work = task.way() == CopyTool.ONE ? new SingleMongosCopy(task) : new OneHopCopy(task)) {
      ToolMain worker = new ToolMain(work);
      String line;
      while ((line = in.readLine()) != null) {
        out.println(worker.answer(line));
        out.flush();
      }
    }
  }

  private void await(long wanted) throws InterruptedException {
    long applied = 0;
    long since = System.nanoTime();
    while (applied < wanted) {
      Thread.sleep(LOOK_MILLIS);
      long now = work.applied();
      if (now > applied) {
        applied = now;
        since = System.nanoTime();
      } else if (System.nanoTime() - since > PATIENCE.toNanos()) {
        throw new IllegalStateException(
            "%d of %d changes were applied, and no more for %d s"
                .formatted(applied, wanted, PATIENCE.toSeconds()));
      }
    }
  }

  private String answer(String command)
      throws IOException, InterruptedException, ExecutionException {
    List<String> words = Arrays.asList(command.split(" ", -1));
    switch (words.get(0)) {
      case "full" -> work.full(words.subList(1, words.size()));
      case "follow" -> work.follow(new BsonTimestamp(Long.parseLong(words.get(1))));
      case "await" -> {
        await(Long.parseLong(words.get(1)));
      }
      case "unfollow" -> work.unfollow();
      case "use" -> {
        long now = ProcessUse.cpuNanos();
        ToolUse use = new ToolUse(now - cpuNanos, ProcessUse.mostMemoryBytes());
        cpuNanos = now;
        return USE + JSON.writeValueAsString(use);
      }
      default -> throw new IOException("unknown command: " + command);
    }
    return OK;
  }
}
