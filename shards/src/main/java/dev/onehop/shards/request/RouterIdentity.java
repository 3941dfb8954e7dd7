package dev.onehop.shards.request;

import dev.onehop.wire.ServerAddressName;
import java.time.Duration;
import org.bson.BsonDocument;
import org.bson.BsonString;

/** Who a router says it is. Thread-safe. */
public interface RouterIdentity {
  /** Where clients reach it, as far as they can. */
  ServerAddressName advertised();

  /** The version of the cluster's servers, such as {@code 6.0.5}; "" if they say it themselves. */
  default String serverVersion() {
    return "";
  }

  /** The highest wire version that all of the cluster's shards speak. */
  int maxWireVersion();

  default Duration uptime() {
    return Duration.ZERO;
  }

  /** The fields of its {@code hello} that say what clients may take it for, if not a standalone. */
  default BsonDocument role() {
    return new BsonDocument("msg", new BsonString("isdbgrid"));
  }

  /** Fields that every answer of its own bears, which say what it really is. */
  BsonDocument marks();
}
