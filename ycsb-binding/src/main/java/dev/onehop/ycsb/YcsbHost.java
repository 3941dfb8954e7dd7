package dev.onehop.ycsb;

import java.util.Set;
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
  private static boolean told;

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

  /** Says the line; the process ends with an exit code that says so, too. */
  static void failed(String line) {
    tell(line);
  }

  /** Whether a failure was told in this process. */
  static synchronized boolean hasFailed() {
    return told;
  }

  // The lock keeps the others from ending the process before the line is out.
  private static synchronized void tell(String line) {
    // All threads fail alike: one line is enough.
    if (!told) {
      told = true;
      System.err.println("onehop: " + line);
    }
  }

  private static boolean isCaller() {
    return StackWalker.getInstance()
        .walk(frames -> frames.anyMatch(frame -> SWALLOWERS.contains(frame.getClassName())));
  }
}
