package dev.onehop.shards.request;

import dev.onehop.wire.ServerAddressName;
import java.time.Duration;
import org.bson.BsonDocument;
import org.bson.BsonString;

/** The identity that a router announces. Thread-safe. */
public interface RouterIdentity {
  /**
   * The router's address, as its replies contain it. The router need not listen at this address.
   */
  ServerAddressName advertised();

  /**
   * The version of the cluster's servers, such as {@code 6.0.5}; an empty text if the router passes
   * {@code buildInfo} on to the servers.
   */
  default String serverVersion() {
    return "";
  }

  /** The highest wire version that all of the cluster's shards support. */
  int maxWireVersion();

  default Duration uptime() {
    return Duration.ZERO;
  }

  /**
   * The fields of {@code hello} that define the router's type for clients. Without such fields,
   * clients treat the router as a standalone server.
   */
  default BsonDocument role() {
    return new BsonDocument("msg", new BsonString("isdbgrid"));
  }

  /**
   * The fields that the router adds to every reply that it creates itself. They identify the
   * router.
   */
  BsonDocument marks();
}
