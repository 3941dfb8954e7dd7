package dev.onehop.resync;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A new member.
 *
 * @param host its name and port, as they enter the set's configuration
 * @param dbpath its data folder on this host; null if this program does not write the folder
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
