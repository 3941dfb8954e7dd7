package dev.onehop.routing.internal.router;

import dev.onehop.routing.internal.wire.ServerAddressName;
import java.time.Duration;
import org.bson.BsonDocument;

/** Who a router says it is. Thread-safe. */
public interface RouterIdentity {
  /** Where clients reach it, as far as they can. */
  ServerAddressName advertised();

  /** The version of the cluster's servers, such as {@code 6.0.5}. */
  String serverVersion();

  /** The highest wire version that all of the cluster's shards speak. */
  int maxWireVersion();

  Duration uptime();

  /** Whether clients may take it for a mongos; a standalone server they may not. */
  default boolean isMongos() {
    return true;
  }

  /** Fields that every answer of its own bears, which say what it really is. */
  BsonDocument marks();
}
