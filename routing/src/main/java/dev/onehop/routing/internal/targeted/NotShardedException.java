package dev.onehop.routing.internal.targeted;

import com.mongodb.connection.ClusterType;

/** The URI leads to no mongos, or to one only, so there is nothing to route by. */
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
