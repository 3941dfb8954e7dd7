package dev.onehop.cli.bench;

import java.io.IOException;
import site.ycsb.Client;

/**
 * Main class of the bench's YCSB processes: YCSB's own client, which ends with the bench. A bench
 * that is killed can't stop its children, but the pipe to their standard input breaks.
 */
final class YcsbChild {

  private static final int KILLED = 137;

  private YcsbChild() {}

  /** Runs {@link Client} with these arguments. */
  public static void main(String[] args) {
    Thread watch = new Thread(YcsbChild::endWithTheBench, "end-with-bench");
    watch.setDaemon(true);
    watch.start();
    Client.main(args);
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
