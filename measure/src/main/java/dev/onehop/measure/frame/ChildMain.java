package dev.onehop.measure.frame;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.resync.Failure;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;

/** What the main method of a {@link ChildJvm} does. */
public final class ChildMain {

  private static final ObjectMapper JSON = new ObjectMapper();

  private ChildMain() {}

  /** What such a process is for. */
  @FunctionalInterface
  public interface Work<T> {
    /**
     * Does it.
     *
     * @param task the first line of its standard input
     * @param in the lines that follow
     * @param out for answers
     */
    void run(T task, BufferedReader in, PrintStream out)
        throws IOException, InterruptedException, ExecutionException;
  }

  /** Does the work, complains if that fails, and ends the process. */
  public static <T> void run(Class<T> task, Work<T> work) {
    PrintStream out = System.out;
    System.setOut(System.err); // What libraries print is no part of the answers.
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
    System.exit(exitCode); // Ends threads that a client may have left.
  }
}
