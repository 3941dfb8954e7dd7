package dev.onehop.wire.handshake;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The authentication of one user. Source: the drivers' specification "Authentication".
 *
 * <p>Thread-safe: all connections share a mechanism and its cached keys and tokens.
 */
public interface Mechanism {
  String EXTERNAL = "$external";

  /**
   * Creates the login of one connection.
   *
   * @param host the server's host in the client's settings
   */
  Login login(String host);

  /**
   * The time that a person may need to log in. The time limit of the handshake is at least as long.
   * Zero if no person takes part.
   */
  default Duration patience() {
    return Duration.ZERO;
  }

  /** Authenticates one connection. */
  interface Login {
    /** The user, for messages; never contains a secret. */
    String who();

    /** Adds fields to hello that save a round trip. */
    default void addTo(BsonDocument hello) {}

    /** Authenticates after hello. */
    Mono<Void> run(BsonDocument helloReply, Commands commands);

    /** Authenticates again. */
    default Mono<Void> again(Commands commands) {
      return run(new BsonDocument(), commands);
    }
  }

  /**
   * SCRAM.
   *
   * @param name SCRAM-SHA-1 or SCRAM-SHA-256, null for the server's choice
   */
  static Mechanism scram(@Nullable String name, String user, String source, char[] password) {
    return new Scram(name, new UserCredential(user, source, password));
  }

  /**
   * MONGODB-X509, by the certificate of the TLS connection.
   *
   * @param user the certificate's subject, null if the server should read it from the certificate
   */
  static Mechanism x509(@Nullable String user) {
    return new X509Mechanism(user);
  }

  /**
   * PLAIN (RFC 4616): sends the password as plain text, which the server passes to a directory
   * service.
   */
  static Mechanism plain(String user, String source, char[] password) {
    byte[] message = ("\0" + user + "\0" + new String(password)).getBytes(StandardCharsets.UTF_8);
    return new SaslMechanism(
        "PLAIN", "user " + user + "@" + source, source, host -> SaslSteps.single(message));
  }
}
