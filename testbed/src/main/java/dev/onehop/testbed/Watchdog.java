package dev.onehop.testbed;

import dev.onehop.testbed.internal.process.ProcFs;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Kills processes, or resumes frozen processes, after the end of this JVM, also after {@code kill
 * -9}. A shell does this work when its standard input ends. The input ends when the JVM ends.
 * Thread-safe.
 */
public final class Watchdog {

  /**
   * Each line has an action, a process id and the start time of the process. A process with the
   * same id and another start time is a later process, which the shell leaves alone. If a process
   * leads a process group, the shell kills the whole group.
   */
  private static final String SCRIPT =
      """
      trap '' HUP INT TERM
      watched=
      while read -r each; do watched="$watched $each"; done
      for each in $watched; do
        pid=${each#*:}
        pid=${pid%:*}
        [ "$(sed 's/.*) //' "/proc/$pid/stat" | cut -d ' ' -f 20)" = "${each##*:}" ] || continue
        case $each in thaw:*) kill -CONT "$pid"; continue ;; esac
        kill -9 "-$pid" || kill -9 "$pid"
      done
      """;

  private static @Nullable Writer lines; // accessed only with the class locked

  private Watchdog() {}

  /**
   * Kills a process when this JVM ends. If the process leads a process group, the whole group is
   * killed. Does nothing if the process has ended.
   *
   * @throws TestbedException if no shell can be started
   */
  public static void watch(ProcessHandle process) {
    add("end", process.pid());
  }

  /**
   * Resumes a process, which the caller is about to freeze, when this JVM ends. Does nothing if the
   * process has ended.
   *
   * @throws TestbedException if no shell can be started
   */
  public static void thaw(long pid) {
    add("thaw", pid);
  }

  private static synchronized void add(String what, long pid) {
    OptionalLong started = ProcFs.startTicks(pid);
    if (started.isEmpty()) {
      return;
    }
    Writer open = lines;
    try {
      if (open == null) {
        open = start();
        lines = open;
      }
      open.write(what + ":" + pid + ":" + started.getAsLong() + "\n");
      open.flush();
    } catch (IOException e) {
      throw new TestbedException("cannot run sh: " + e.getMessage(), e);
    }
  }

  private static Writer start() throws IOException {
    return new ProcessBuilder("sh", "-c", SCRIPT)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start()
        .outputWriter(StandardCharsets.UTF_8);
  }
}
