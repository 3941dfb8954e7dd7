package dev.onehop.measure.frame;

import org.jspecify.annotations.Nullable;

/**
 * Which processors the parts of a run on one machine are kept to, as lists of taskset(1).
 *
 * @param client those of the YCSB process; null if it is not kept to any
 * @param text for a person
 */
public record Processors(@Nullable String client, String text) {

  /** With fewer, the client would have one alone, for its compilers and collectors, too. */
  private static final int LEAST = 8;

  /** Keeps servers to processors. */
  interface Pinning {
    /**
     * Does it.
     *
     * @param routers those of all routers
     * @param mongods those of all config servers and shard members
     * @return whether that could be done
     */
    boolean pin(String routers, String mongods);
  }

  /**
   * Keeps servers to processors by their role, where there are enough: a quarter for the client, a
   * quarter for the routers, the rest for the mongods.
   *
   * @param available how many processors there are
   */
  static Processors divide(int available, Pinning servers) {
    int quarter = available / 4;
    String client = range(0, quarter);
    String routers = range(quarter, 2 * quarter);
    String mongods = range(2 * quarter, available);
    if (available < LEAST || !servers.pin(routers, mongods)) {
      return new Processors(
          null, "client, routers, mongods and links share all " + available + " processors");
    }
    return new Processors(
        client,
        "client %s, routers %s, mongods %s of %d processors; links on all"
            .formatted(client, routers, mongods, available));
  }

  private static String range(int from, int to) {
    return to - from <= 1 ? String.valueOf(from) : from + "-" + (to - 1);
  }
}
