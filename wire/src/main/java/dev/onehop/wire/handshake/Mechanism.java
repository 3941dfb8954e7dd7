package dev.onehop.wire.handshake;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * How connections authenticate as one user. Source: the drivers' specification "Authentication".
 *
 * <p>Thread-safe: all connections share it, with the keys and tokens that it keeps.
 */
public interface Mechanism {
  String EXTERNAL = "$external";

  /**
   * One connection's part.
   *
   * @param host the server's, as the client names it
   */
  Login login(String host);

  /** How long a user may take to log in, beyond what an opening may take; zero for no longer. */
  default Duration patience() {
    return Duration.ZERO;
  }

  /** Authenticates one connection. */
  interface Login {
    /** As whom, for messages; never with a secret. */
    String who();

    /** Adds to hello what saves a round trip. */
    default void addTo(BsonDocument hello) {}

    /** Authenticates after hello. */
    Mono<Void> run(BsonDocument helloReply, Commands commands);

    /** Authenticates anew. */
    default Mono<Void> again(Commands commands) {
      return run(new BsonDocument(), commands);
    }
  }

  /**
   * SCRAM.
   *
   * @param name SCRAM-SHA-1 or SCRAM-SHA-256, null for what the server prefers
   */
  static Mechanism scram(@Nullable String name, String user, String source, char[] password) {
    return new Scram(name, new UserCredential(user, source, password));
  }

  /**
   * MONGODB-X509, by the certificate of the TLS connection.
   *
   * @param user the certificate's subject, null to leave it to the server to read it
   */
  static Mechanism x509(@Nullable String user) {
    return new X509Mechanism(user);
  }

  /** PLAIN (RFC 4616): the password as it is, for a directory service behind the server. */
  static Mechanism plain(String user, String source, char[] password) {
    byte[] message = ("\0" + user + "\0" + new String(password)).getBytes(StandardCharsets.UTF_8);
    return new SaslMechanism(
        "PLAIN", "user " + user + "@" + source, source, host -> SaslSteps.single(message));
  }
}
