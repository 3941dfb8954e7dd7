package dev.onehop.measure.points;

import dev.onehop.ycsb.Launcher;
import java.io.IOException;
import site.ycsb.Client;

/**
 * Main class of the bench's YCSB processes: YCSB's own client, or ours for operations at intended
 * times, which ends with the bench. A bench that is killed can't stop its children, but the pipe to
 * their standard input breaks.
 */
final class YcsbChild {

  private static final int KILLED = 137;

  private YcsbChild() {}

  /** Runs {@link Launcher}, if the first argument is its command, or {@link Client} with these. */
  public static void main(String[] args) {
    Thread watch = new Thread(YcsbChild::endWithTheBench, "end-with-bench");
    watch.setDaemon(true);
    watch.start();
    if (args[0].equals("run")) {
      Launcher.main(args);
    } else {
      Client.main(args);
    }
  }

  private static void endWithTheBench() {
    try {
      while (System.in.read() >= 0) {
        // Nothing is ever sent.
      }
    } catch (IOException e) {
      // As good as the end.
    }
    Runtime.getRuntime().halt(KILLED);
  }
}
