package dev.onehop.measure.points;

import dev.onehop.resync.ChildMain;
import dev.onehop.testbed.TrustedAuthority;
import dev.onehop.ycsb.Launcher;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import site.ycsb.Client;

/**
 * The main class of the bench's YCSB processes. It runs YCSB's own client, or OneHop's client for
 * operations at intended times. The replies of the process are YCSB's status lines. The process
 * ends with the bench.
 */
final class YcsbChild {

  private YcsbChild() {}

  /**
   * The task of the process.
   *
   * @param arguments the arguments of {@link Launcher} if the first one is its command {@code run};
   *     the arguments of {@link Client} if it is not
   * @param out the file for YCSB's output
   * @param authority the PEM file of the trusted authority; null for the JVM's default trust store
   */
  record Task(List<String> arguments, Path out, @Nullable Path authority) {}

  /** Runs YCSB, which ends the process. */
  public static void main(String[] args) {
    ChildMain.run(Task.class, YcsbChild::run);
  }

  private static void run(Task task, BufferedReader in, Consumer<String> say) throws IOException {
    ChildMain.haltAtEnd(in);
    System.setOut(print(Files.newOutputStream(task.out())));
    System.setErr(print(new StatusLines(System.err, say)));
    if (task.authority() != null) {
      trust(task.authority());
    }
    String[] arguments = task.arguments().toArray(String[]::new);
    if (arguments[0].equals("run")) {
      Launcher.main(arguments);
    } else {
      Client.main(arguments);
    }
  }

  private static PrintStream print(OutputStream out) {
    return new PrintStream(out, true, StandardCharsets.UTF_8);
  }

  private static void trust(Path authority) throws IOException {
    Path store = Files.createTempFile("onehop-trust", ".jks");
    store.toFile().deleteOnExit();
    TrustedAuthority.read(authority).writeStore(store);
    System.setProperty("javax.net.ssl.trustStore", store.toString());
    System.setProperty("javax.net.ssl.trustStoreType", TrustedAuthority.STORE_TYPE);
  }

  /** The replacement of standard error. It also sends YCSB's status lines as replies. */
  private static final class StatusLines extends OutputStream {

    /**
     * The start of a line that is left out: it has YCSB's arguments, including the URL with the
     * password.
     */
    private static final String COMMAND_LINE = "Command line:";

    private final PrintStream err;
    private final Consumer<String> say;
    private final ByteArrayOutputStream line =
        new ByteArrayOutputStream(); // accessed only with this object locked

    StatusLines(PrintStream err, Consumer<String> say) {
      this.err = err;
      this.say = say;
    }

    @Override
    public synchronized void write(int b) {
      if (b != '\n') {
        line.write(b);
        return;
      }
      String text = line.toString(StandardCharsets.UTF_8);
      line.reset();
      if (text.startsWith(COMMAND_LINE)) {
        return;
      }
      err.println(text);
      if (StatusLine.parse(text).isPresent()) {
        say.accept(text);
      }
    }
  }
}
