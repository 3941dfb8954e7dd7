package dev.onehop.ycsb;

import java.util.Set;
import site.ycsb.DBException;

/**
 * Reports failures outside of operations to YCSB's caller.
 *
 * <p>YCSB ignores a binding's exceptions: its client thread and its shell print a stack trace, and
 * the process exits with 0. If YCSB's client thread or shell is the caller, the binding prints one
 * line, and the process exits with another code. Another caller gets the exception.
 */
final class YcsbHost {
  private static final Set<String> SWALLOWERS =
      Set.of("site.ycsb.ClientThread", "site.ycsb.CommandLine");
  private static boolean reported;

  private YcsbHost() {}

  /** Ends the process if YCSB is the caller. Returns the exception to throw for another caller. */
  static DBException initFailed(String line, Throwable cause) {
    if (isCaller()) {
      report(line);
      System.exit(1);
    }
    return new DBException(line, cause);
  }

  /**
   * Prints the line if YCSB is the caller, which then prints its measurements.
   *
   * @throws DBException if YCSB is not the caller
   */
  static void cleanupFailed(String line, Throwable cause) throws DBException {
    if (!isCaller()) {
      throw new DBException(line, cause);
    }
    report(line);
  }

  /** Prints the line; the process then ends with an exit code for a failure. */
  static void failed(String line) {
    report(line);
  }

  /** Whether this process has reported a failure. */
  static synchronized boolean hasFailed() {
    return reported;
  }

  // The lock prevents other threads from ending the process before the line is printed.
  private static synchronized void report(String line) {
    // All threads fail in the same way, so one line is enough.
    if (!reported) {
      reported = true;
      System.err.println("onehop: " + line);
    }
  }

  private static boolean isCaller() {
    return StackWalker.getInstance()
        .walk(frames -> frames.anyMatch(frame -> SWALLOWERS.contains(frame.getClassName())));
  }
}
