package dev.onehop.routing.internal.transport;

import java.nio.charset.StandardCharsets;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;

/**
 * Who stands behind a lane, as far as its first hello tells: the client's metadata, its compressors
 * and server API, and the user that it is going to be. Lanes share sockets only among equals, so
 * that no request runs under another's name.
 *
 * @param hello the hello without what differs from one connection to the next
 * @param authenticates whether the lane will authenticate
 * @param mechanism the mechanism it starts with, "" if the hello does not say
 */
record Identity(BsonDocument hello, boolean authenticates, String mechanism) {

  /** The identity in a driver's first hello. */
  static Identity of(BsonDocument hello) {
    BsonDocument same = new BsonDocument();
    hello.forEach(
        (field, value) -> {
          if (!field.equals("speculativeAuthenticate")) {
            same.append(field, value);
          }
        });
    if (!hello.isDocument("speculativeAuthenticate")) {
      return new Identity(same, hello.containsKey("saslSupportedMechs"), "");
    }
    BsonDocument start = hello.getDocument("speculativeAuthenticate");
    String mechanism = string(start, "mechanism");
    same.append("mechanism", new BsonString(mechanism))
        .append("authenticationDatabase", new BsonString(string(start, "db")))
        .append("user", new BsonString(user(start)));
    return new Identity(same, true, mechanism);
  }

  /** Whether a socket that a lane authenticated may serve the other lanes of this identity. */
  boolean mayShare() {
    return mechanism.isEmpty() || SharingRules.isRepeatable(mechanism);
  }

  /**
   * Whether the hello alone makes a socket usable, so that the transport can open one by itself:
   * without credentials, and with a certificate, but not with SCRAM. Where each lane has to open a
   * socket, its TLS engine is left to it.
   */
  boolean isReplayable() {
    return !authenticates || (mechanism.equals("MONGODB-X509") && !authenticatesOnce());
  }

  /**
   * Whether a server refuses to authenticate a connection again, even as the same user: under the
   * strict stable API (error 5626703).
   */
  boolean authenticatesOnce() {
    return authenticates && hello.getBoolean("apiStrict", BsonBoolean.FALSE).getValue();
  }

  boolean isLoadBalanced() {
    return hello.containsKey("loadBalanced");
  }

  private static String user(BsonDocument start) {
    if (start.isString("user")) {
      return start.getString("user").getValue();
    }
    if (!start.isBinary("payload")) {
      return "";
    }
    // SCRAM's first message (RFC 5802): n,,n=user,r=nonce
    String payload = new String(start.getBinary("payload").getData(), StandardCharsets.UTF_8);
    int from = payload.indexOf("n=");
    int to = payload.indexOf(",r=");
    return from >= 0 && to > from ? payload.substring(from + 2, to) : payload;
  }

  private static String string(BsonDocument document, String field) {
    return document.isString(field) ? document.getString(field).getValue() : "";
  }
}
