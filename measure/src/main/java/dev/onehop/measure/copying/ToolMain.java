package dev.onehop.measure.copying;

import dev.onehop.resync.ChildMain;
import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.bson.BsonTimestamp;

/**
 * The main class of a {@link JvmTool}. The first line of its standard input is a {@link Task} as
 * JSON. Each further line is a command: {@code full COLLECTION...}, {@code follow TIME}, {@code
 * await EVENTS}, {@code unfollow}, {@code verify}. It replies {@code ok} after each.
 */
public final class ToolMain {
  static final String OK = "ok";

  private static final long LOOK_MILLIS = 10;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private ToolMain() {}

  /**
   * The task of the process.
   *
   * @param tool the tool that copies
   * @param from URL of the source
   * @param to URL of the destination
   */
  record Task(CopyTool tool, String from, String to) {}

  /** Executes the commands of its standard input. */
  public static void main(String[] args) {
    ChildMain.run(Task.class, ToolMain::run);
  }

  private static void run(Task task, BufferedReader in, Consumer<String> say)
      throws IOException, InterruptedException {
    try (CopyToolRun tool =
        task.tool() == CopyTool.DRIVER
            ? new SingleMongosCopy(task.from(), task.to())
            : new OneHopCopy(task.from(), task.to())) {
      String line;
      while ((line = in.readLine()) != null) {
        run(tool, Arrays.asList(line.split(" ", -1)));
        say.accept(OK);
      }
    }
  }

  private static void run(CopyToolRun tool, List<String> words)
      throws IOException, InterruptedException {
    switch (words.get(0)) {
      case "full" -> tool.full(words.subList(1, words.size()));
      case "follow" -> tool.follow(new BsonTimestamp(Long.parseLong(words.get(1))));
      case "await" -> await(tool, Long.parseLong(words.get(1)));
      case "unfollow" -> tool.unfollow();
      case "verify" -> ((OneHopCopy) tool).verify();
      default -> throw new IOException("unknown command: " + words);
    }
  }

  private static void await(CopyToolRun tool, long wanted) throws InterruptedException {
    long applied = 0;
    long since = System.nanoTime();
    while (applied < wanted) {
      Thread.sleep(LOOK_MILLIS);
      long now = tool.applied();
      if (now > applied) {
        applied = now;
        since = System.nanoTime();
      } else if (System.nanoTime() - since > PATIENCE.toNanos()) {
        throw new IllegalStateException(
            "%d of %d changes were applied, and none within the last %d s"
                .formatted(applied, wanted, PATIENCE.toSeconds()));
      }
    }
  }
}
