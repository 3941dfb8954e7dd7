package dev.onehop.routing.internal.targeted;

import com.mongodb.connection.ClusterType;

/** The URI leads to a server that is not a mongos, so operations cannot be routed. */
public final class NotShardedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public NotShardedException(ClusterType type) {
    super(
        "the URI leads to "
            + switch (type) {
              case REPLICA_SET -> "a replica set";
              case STANDALONE -> "a standalone server";
              default -> type.name();
            }
            + ", not to a mongos");
  }
}
