package dev.onehop.resync;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A new member.
 *
 * @param host the member's name and port, as in the set's configuration
 * @param dbpath the member's data folder; null if this program does not need it
 */
public record Target(String host, @Nullable Path dbpath) {

  /** The port. */
  public int port() {
    return Integer.parseInt(host.substring(host.lastIndexOf(':') + 1));
  }

  /** The name or address without the port. */
  public String name() {
    return host.substring(0, host.lastIndexOf(':'));
  }
}
