package dev.onehop.wire.handshake;

import com.ongres.scram.common.ScramFunctions;
import com.ongres.scram.common.ScramMechanism;
import com.ongres.scram.common.ServerFirstMessage;
import com.ongres.scram.common.StringPreparation;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The keys that SCRAM (RFC 5802) derives from one user's password, with the salt and the iterations
 * that the server sends. The derivation is slow on purpose, some ten milliseconds. A server sends
 * the same values for every connection, so the keys are cached.
 *
 * <p>Thread-safe.
 */
final class ScramKeys {
  // Limits the cache if a server sends a new salt each time. No client has so many servers.
  private static final int MOST = 1_000;

  private final Map<Derivation, Keys> known = new ConcurrentHashMap<>();

  private record Derivation(ScramMechanism mechanism, String salt, int iterations) {}

  /** The keys that prove the client to the server, and the server to the client. */
  @SuppressWarnings("ArrayRecordComponent") // keys are never compared
  record Keys(byte[] client, byte[] server) {}

  /** The keys for a conversation, from the server's first message. */
  Keys derive(
      ScramMechanism mechanism,
      StringPreparation preparation,
      char[] password,
      ServerFirstMessage answer) {
    if (known.size() >= MOST) {
      known.clear();
    }
    return known.computeIfAbsent(
        new Derivation(mechanism, answer.getSalt(), answer.getIterationCount()),
        derivation -> {
          byte[] salted =
              ScramFunctions.saltedPassword(
                  mechanism,
                  preparation,
                  password,
                  Base64.getDecoder().decode(derivation.salt()),
                  derivation.iterations());
          return new Keys(
              ScramFunctions.clientKey(mechanism, salted),
              ScramFunctions.serverKey(mechanism, salted));
        });
  }
}
