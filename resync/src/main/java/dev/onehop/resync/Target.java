package dev.onehop.resync;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A member that is to be.
 *
 * @param host its name and port, as the set's configuration is to have it
 * @param dbpath its data folder, as it is reached from here; null if nothing is done there
 */
public record Target(String host, @Nullable Path dbpath) {

  /** The port. */
  public int port() {
    return Integer.parseInt(host.substring(host.lastIndexOf(':') + 1));
  }

  /** The name or address alone. */
  public String name() {
    return host.substring(0, host.lastIndexOf(':'));
  }
}
