package dev.onehop.ycsb;

import java.io.PrintStream;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import site.ycsb.Status;

/**
 * Tells of failed operations on stderr: the first of each kind in one line, the others are only
 * counted. A cluster that goes away would otherwise print a line for each of a million operations.
 */
final class FailureLog {
  private final PrintStream out;
  private final Set<String> told = ConcurrentHashMap.newKeySet();

  FailureLog(PrintStream out) {
    this.out = out;
  }

  void failed(String operation, Status status, String why) {
    if (told.add(operation + ' ' + status.getName())) {
      out.printf(
          "onehop: %s: %s (%s); more of this kind are only counted%n",
          operation, status.getName(), why);
    }
  }
}
