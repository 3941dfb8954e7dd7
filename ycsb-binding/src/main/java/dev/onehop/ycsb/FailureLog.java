package dev.onehop.ycsb;

import java.io.PrintStream;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import site.ycsb.Status;

/**
 * Reports the first failure of each kind on stderr, in one line. Later failures are only counted,
 * because an unavailable cluster would cause a line for each operation.
 */
final class FailureLog {
  private final PrintStream out;
  private final Set<String> reported = ConcurrentHashMap.newKeySet();

  FailureLog(PrintStream out) {
    this.out = out;
  }

  void failed(String operation, Status status, String why) {
    if (reported.add(operation + ' ' + status.getName())) {
      out.printf(
          "onehop: %s: %s (%s); further failures of this kind are only counted%n",
          operation, status.getName(), why);
    }
  }
}
