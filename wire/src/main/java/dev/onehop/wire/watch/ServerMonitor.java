package dev.onehop.wire.watch;

import com.mongodb.connection.ClusterDescription;

/** What watches servers. Implementations MUST be thread-safe. */
public interface ServerMonitor extends AutoCloseable {
  /** What is known of the servers now. */
  ClusterDescription description();

  /** Checks the servers soon, and not only with the next heartbeat. Never blocks. */
  void checkNow();

  @Override
  void close();
}
