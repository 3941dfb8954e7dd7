package dev.onehop.measure.results;

import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * A configuration of a measured client.
 *
 * @param mode the name of the mode, such as {@code targeted-async}
 * @param connections the pool size per server, or the number of shared sockets
 * @param pipelining whether many requests are in flight on each socket
 */
public record Client(String mode, int connections, boolean pipelining) {

  /**
   * Orders official drivers before OneHop's clients, and pipelined clients after the other clients
   * of their mode.
   */
  public static final Comparator<Client> ORDER =
      Comparator.<Client>comparingInt(client -> place(client.mode()))
          .thenComparing(Client::mode)
          .thenComparing(Client::pipelining)
          .thenComparing(Client::connections);

  private static final List<String> MODES =
      List.of(
          "legacy",
          "async",
          "targeted-async",
          "targeted-sync",
          "direct-async",
          "direct-sync",
          "near-mongos",
          "local-threshold-0",
          "pipelined-only");

  private static final Set<String> OFFICIAL =
      Set.of("legacy", "async", "near-mongos", "local-threshold-0");

  private static int place(String mode) {
    int at = MODES.indexOf(mode);
    return at < 0 ? MODES.size() : at;
  }

  /** The name of the client without the pool. */
  public String name() {
    return mode + (pipelining ? " (pipelined)" : "");
  }

  /** The name of the client with the pool. */
  public String label() {
    return name() + ", " + connections + (connections == 1 ? " connection" : " connections");
  }

  /** Whether the client is an official driver in a common configuration. */
  public boolean isOfficial() {
    return isOfficial(mode) && !pipelining;
  }

  /** Whether the client is a routing client of OneHop. */
  public boolean isRouted() {
    return mode.startsWith("targeted-") || mode.startsWith("direct-");
  }

  /** Whether a mode is an official driver in a common configuration. */
  public static boolean isOfficial(String mode) {
    return OFFICIAL.contains(mode);
  }
}
