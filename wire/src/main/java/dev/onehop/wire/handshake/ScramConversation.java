package dev.onehop.wire.handshake;

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

/** The client's side of one SCRAM conversation. */
final class ScramConversation implements SaslSteps {
  private static final int NONCE_BYTES = 24;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final String mechanism;
  private final String user;
  private final char[] password;
  private final StringPreparation preparation;
  private final ScramKeys keys;
  private final String nonce;
  private ScramClient client;
  private int step;

  ScramConversation(UserCredential credential, String mechanism, ScramKeys keys) {
    this(credential, mechanism, keys, ScramFunctions.nonce(NONCE_BYTES, RANDOM));
  }

  ScramConversation(UserCredential credential, String mechanism, ScramKeys keys, String nonce) {
    boolean sha256 = mechanism.equals(Scram.SHA_256);
    char[] given = credential.password();
    this.mechanism = mechanism;
    this.user = credential.user();
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

  String mechanism() {
    return mechanism;
  }

  @Override
  public byte[] next(byte[] challenge) {
    String text = new String(challenge, StandardCharsets.UTF_8);
    try {
      String answer =
          switch (step++) {
            case 0 -> firstMessage();
            case 1 -> finalMessage(text);
            case 2 -> {
              verify(text);
              yield "";
            }
            default -> throw new IllegalStateException("the server sent an unexpected challenge");
          };
      return answer.getBytes(StandardCharsets.UTF_8);
    } catch (ScramException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  /** Whether the server has proved that it has the password. */
  @Override
  public boolean isComplete() {
    return step > 2;
  }

  @Override
  public boolean mayBlock() {
    return false;
  }

  String firstMessage() {
    return client.clientFirstMessage().toString();
  }

  String finalMessage(String answer) throws ScramException {
    ServerFirstMessage first = client.serverFirstMessage(answer);
    ScramKeys.Keys derived =
        keys.derive(ScramMechanism.byName(mechanism), preparation, password, first);
    // The library accepts keys only at the start, so the conversation is repeated with the keys.
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

  /** Checks the server's proof that it has the password. */
  void verify(String answer) throws ScramException {
    client.serverFinalMessage(answer);
  }

  /** The password for SCRAM-SHA-1: MD5 of {@code user:mongo:password}, in hex. */
  private static char[] digested(String user, char[] password) {
    try {
      byte[] digest =
          MessageDigest.getInstance("MD5")
              .digest((user + ":mongo:" + new String(password)).getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest).toCharArray();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this Java runtime has no MD5", e);
    }
  }
}
