package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.Set;

/**
 * A configuration of a client that is measured.
 *
 * @param mode its mode, such as {@code targeted-async}
 * @param connections the pool size per server, or how many sockets requests share
 * @param pipelining whether many requests are in flight on each socket
 */
public record Client(String mode, int connections, boolean pipelining) {

  private static final Set<String> OFFICIAL =
      Set.of("legacy", "async", "near-mongos", "local-threshold-0");

  /** Whether it is an official driver as anyone can configure it, to compare with. */
  @JsonIgnore
  public boolean isOfficial() {
    return isOfficial(mode) && !pipelining;
  }

  /** Whether it is one of ours that routes. */
  @JsonIgnore
  public boolean isRouted() {
    return mode.startsWith("targeted-") || mode.startsWith("direct-");
  }

  /** Whether that is the mode of an official driver as anyone can configure it. */
  public static boolean isOfficial(String mode) {
    return OFFICIAL.contains(mode);
  }
}
