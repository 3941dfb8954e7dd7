package dev.onehop.wire.watch;

import com.mongodb.connection.ClusterDescription;

/** Monitors servers. Implementations MUST be thread-safe. */
public interface ServerMonitor extends AutoCloseable {
  /** The current state of the servers. */
  ClusterDescription description();

  /** Checks the servers soon, before the next heartbeat. Never blocks. */
  void checkNow();

  @Override
  void close();
}
