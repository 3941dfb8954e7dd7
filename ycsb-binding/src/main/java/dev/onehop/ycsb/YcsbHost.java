package dev.onehop.ycsb;

import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import site.ycsb.DBException;

/**
 * Makes failures outside of operations known to YCSB's caller.
 *
 * <p>YCSB swallows a binding's exceptions: its client thread and its shell print a stack trace and
 * end the process with exit code 0, as if nothing had happened. So where one of those called, the
 * binding itself says one line and ends the process. Any other caller gets the exception.
 */
final class YcsbHost {
  private static final Set<String> SWALLOWERS =
      Set.of("site.ycsb.ClientThread", "site.ycsb.CommandLine");
  private static final AtomicBoolean TOLD = new AtomicBoolean();

  private YcsbHost() {}

  /** Ends the process beneath YCSB; returns the exception to throw anywhere else. */
  static DBException initFailed(String line, Throwable cause) {
    if (isCaller()) {
      tell(line);
      System.exit(1);
    }
    return new DBException(line, cause);
  }

  /**
   * Says the line beneath YCSB, which goes on to print its measurements.
   *
   * @throws DBException anywhere else
   */
  static void cleanupFailed(String line, Throwable cause) throws DBException {
    if (!isCaller()) {
      throw new DBException(line, cause);
    }
    tell(line);
  }

  /** Whether a failure was told in this process. */
  static boolean hasFailed() {
    return TOLD.get();
  }

  private static void tell(String line) {
    // All threads fail alike: one line is enough.
    if (TOLD.compareAndSet(false, true)) {
      System.err.println("onehop: " + line);
    }
  }

  private static boolean isCaller() {
    return StackWalker.getInstance()
        .walk(frames -> frames.anyMatch(frame -> SWALLOWERS.contains(frame.getClassName())));
  }
}
