package dev.onehop.resync;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** The main method of a {@link ChildJvm}. */
public final class ChildMain {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** The exit code of a process that SIGKILL ends. */
  private static final int KILLED = 137;

  private ChildMain() {}

  /** The work of a child process. */
  @FunctionalInterface
  public interface Work<T> {
    /**
     * Does the work.
     *
     * @param task the first line of its standard input
     * @param in the following lines
     * @param say sends a line to the parent; thread-safe
     */
    void run(T task, BufferedReader in, Consumer<String> say)
        throws IOException, InterruptedException;
  }

  /** Does the work, sends and prints an error if it fails, and ends the process. */
  public static <T> void run(Class<T> task, Work<T> work) {
    PrintStream out = System.out;
    System.setOut(
        System.err); // Standard output is for replies, and libraries print to standard error.
    Consumer<String> say =
        line -> {
          synchronized (out) {
            out.println(line);
            out.flush();
          }
        };
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    int exitCode = 0;
    try {
      work.run(JSON.readValue(in.readLine(), task), in, say);
    } catch (IOException | InterruptedException | RuntimeException e) {
      String failed = ChildJvm.FAILED + Failure.firstLine(e);
      System.err.println(failed); // the parent stores standard error in a file
      e.printStackTrace();
      say.accept(failed);
      exitCode = 1;
    }
    System.exit(exitCode); // Ends the threads of MongoDB clients, too, if they still run.
  }

  /**
   * Starts a thread that halts this process at the end of its standard input. The end comes when
   * the parent process has ended or has closed this input.
   */
  public static void haltAtEnd(BufferedReader in) {
    Thread watch =
        new Thread(
            () -> {
              try {
                in.lines()
                    .forEach(line -> {}); // waits for the end: the parent sends no more commands
              } finally {
                Runtime.getRuntime().halt(KILLED);
              }
            },
            "parent-watch");
    watch.setDaemon(true);
    watch.start();
  }
}
