package dev.onehop.routing.internal.wire;

import com.ongres.scram.client.ScramClient;
import com.ongres.scram.common.ScramFunctions;
import com.ongres.scram.common.ScramMechanism;
import com.ongres.scram.common.ServerFirstMessage;
import com.ongres.scram.common.StringPreparation;
import com.ongres.scram.common.exception.ScramException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

/** The client's part of one SCRAM conversation. */
final class ScramConversation {
  private static final int NONCE_BYTES = 24;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final String mechanism;
  private final String user;
  private final char[] password;
  private final StringPreparation preparation;
  private final ScramKeys keys;
  private final String nonce;
  private ScramClient client;

  ScramConversation(WireCredential credential, String mechanism, ScramKeys keys) {
    this(credential, mechanism, keys, ScramFunctions.nonce(NONCE_BYTES, RANDOM));
  }

  ScramConversation(WireCredential credential, String mechanism, ScramKeys keys, String nonce) {
    boolean sha256 = mechanism.equals(WireCredential.SCRAM_SHA_256);
    char[] given = Objects.requireNonNull(credential.password());
    this.mechanism = mechanism;
    this.user = Objects.requireNonNull(credential.user());
    this.password = sha256 ? given : digested(user, given);
    this.preparation =
        sha256 ? StringPreparation.SASL_PREPARATION : StringPreparation.NO_PREPARATION;
    this.keys = keys;
    this.nonce = nonce;
    this.client =
        ScramClient.builder()
            .advertisedMechanisms(List.of(mechanism))
            .username(user)
            .password(password)
            .stringPreparation(preparation)
            .nonceSupplier(() -> nonce)
            .build();
  }

  String firstMessage() {
    return client.clientFirstMessage().toString();
  }

  String finalMessage(String answer) throws ScramException {
    ServerFirstMessage told = client.serverFirstMessage(answer);
    ScramKeys.Keys derived =
        keys.derive(ScramMechanism.byName(mechanism), preparation, password, told);
    // The library takes keys at the start only: the same conversation once more, with them.
    client =
        ScramClient.builder()
            .advertisedMechanisms(List.of(mechanism))
            .username(user)
            .clientAndServerKey(derived.client(), derived.server())
            .stringPreparation(preparation)
            .nonceSupplier(() -> nonce)
            .build();
    client.clientFirstMessage();
    client.serverFirstMessage(answer);
    return client.clientFinalMessage().toString();
  }

  /** Checks that the server knows the password, too. */
  void verify(String answer) throws ScramException {
    client.serverFinalMessage(answer);
  }

  /** What SCRAM-SHA-1 takes for the password: MD5 of {@code user:mongo:password}, in hex. */
  private static char[] digested(String user, char[] password) {
    try {
      byte[] digest =
          MessageDigest.getInstance("MD5")
              .digest((user + ":mongo:" + new String(password)).getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest).toCharArray();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("a Java runtime without MD5", e);
    }
  }
}
