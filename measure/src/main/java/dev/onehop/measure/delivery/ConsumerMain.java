package dev.onehop.measure.delivery;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.measure.frame.ChildJvm;
import dev.onehop.measure.frame.ChildMain;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A consumer in a process of its own, so that its processor time and memory are its own. Its
 * standard input has the task in the first line, as JSON, and then one command a line: {@code
 * open}, {@code window FROM TO}, {@code close}; its end ends the process. Standard output has
 * {@code ready} once, {@code opened}, {@code seen N} a few times a second, and a report as JSON
 * when closed.
 */
public final class ConsumerMain {

  static final String READY = "ready";
  static final String OPENED = "opened";
  static final String SEEN = "seen ";
  static final String REPORT = "report ";
  static final String FAILED = ChildJvm.FAILED;

  private static final ObjectMapper JSON = new ObjectMapper();

  private final ConsumerTask task;
  private final PrintStream out;
  private @Nullable Consumption open;

  private ConsumerMain(ConsumerTask task, PrintStream out) {
    this.task = task;
    this.out = out;
  }

  /** Does what its standard input says. */
  public static void main(String[] args) {
    ChildMain.run(ConsumerTask.class, (task, in, out) -> new ConsumerMain(task, out).run(in));
  }

  private void run(BufferedReader in) throws IOException {
    say(READY);
    String line;
    while ((line = in.readLine()) != null) {
      String[] words = line.split(" ", -1);
      switch (words[0]) {
        case "open" -> {
          open = Consumption.open(task, this::say);
          say(OPENED);
        }
        case "window" ->
            Objects.requireNonNull(open)
                .consumer()
                .setWindow(Long.parseLong(words[1]), Long.parseLong(words[2]));
        case "close" -> {
          Consumption ended = Objects.requireNonNull(open);
          open = null;
          ConsumerReport report = ended.close();
          Path folder = Files.createDirectories(Path.of(task.folder()));
          ended.consumer().write(folder);
          say(REPORT + JSON.writeValueAsString(report));
        }
        default -> throw new IOException("unknown command: " + line);
      }
    }
  }

  private void say(String line) {
    synchronized (out) {
      out.println(line);
      out.flush();
    }
  }
}
