package dev.onehop.resync;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;

/** The main method of a {@link ChildJvm}. */
public final class ChildMain {

  private static final ObjectMapper JSON = new ObjectMapper();

  private ChildMain() {}

  /** The work of such a process. */
  @FunctionalInterface
  public interface Work<T> {
    /**
     * Does the work.
     *
     * @param task the first line of its standard input
     * @param in the following lines
     * @param out for replies
     */
    void run(T task, BufferedReader in, PrintStream out)
        throws IOException, InterruptedException, ExecutionException;
  }

  /** Does the work, prints an error if it fails, and ends the process. */
  public static <T> void run(Class<T> task, Work<T> work) {
    PrintStream out = System.out;
    System.setOut(System.err); // Output of libraries must not mix with the replies.
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    int exitCode = 0;
    try {
      work.run(JSON.readValue(in.readLine(), task), in, out);
    } catch (IOException | InterruptedException | ExecutionException | RuntimeException e) {
      System.err.println(ChildJvm.FAILED + Failure.firstLine(e));
      e.printStackTrace();
      exitCode = 1;
    }
    out.flush();
    System.exit(exitCode); // Ends threads that a client may have left running.
  }
}
