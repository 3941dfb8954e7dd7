package dev.onehop.testbed;

import dev.onehop.testbed.internal.process.ProcFs;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Ends processes, or lets frozen ones go on, when this JVM has ended, also by {@code kill -9}. A
 * shell does that, whose standard input ends with the JVM. Thread-safe.
 */
public final class Watchdog {

  /**
   * Each line says what to do, and has a process id and when that process started, so that a later
   * one with the same id is left alone. What one has started itself ends with it if it leads a
   * group.
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

  private static @Nullable Writer lines; // guarded by the class

  private Watchdog() {}

  /**
   * Ends a process with this JVM, and the group of processes that it leads, if any. No-op for one
   * that has ended.
   *
   * @throws TestbedException if no shell can be started
   */
  public static void watch(ProcessHandle process) {
    add("end", process.pid());
  }

  /**
   * Lets a process that is about to be frozen go on when this JVM ends. No-op for one that has
   * ended.
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
