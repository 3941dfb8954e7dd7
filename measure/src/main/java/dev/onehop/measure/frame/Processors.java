package dev.onehop.measure.frame;

import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The processors to which the parts of a run on one machine are bound, as lists in the format of
 * taskset(1).
 *
 * @param client the processors of the YCSB process; null if it is not bound
 * @param text the division in words
 */
public record Processors(@Nullable String client, String text) {

  /**
   * The least number of processors to divide. With fewer, the client would get a single processor,
   * which its compilers and garbage collector also need.
   */
  private static final int LEAST = 8;

  /**
   * Divides the processors by role, if there are enough. The client gets a quarter, the routers get
   * a quarter, and the mongods get the rest.
   *
   * @param available the number of processors
   * @param pin binds all routers to the first processors, and all config servers and shard members
   *     to the second; returns whether all servers are bound
   */
  static Processors divide(int available, BiPredicate<String, String> pin) {
    int quarter = available / 4;
    String client = range(0, quarter);
    String routers = range(quarter, 2 * quarter);
    String mongods = range(2 * quarter, available);
    if (available < LEAST || !pin.test(routers, mongods)) {
      return new Processors(
          null, "client, routers, mongods and links share all " + available + " processors");
    }
    return new Processors(
        client,
        "client on %s, routers on %s, mongods on %s of %d processors; links on all"
            .formatted(client, routers, mongods, available));
  }

  private static String range(int from, int to) {
    return to - from <= 1 ? String.valueOf(from) : from + "-" + (to - 1);
  }
}
