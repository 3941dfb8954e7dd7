package dev.onehop.wire.handshake;

import com.ongres.scram.common.ScramFunctions;
import com.ongres.scram.common.ScramMechanism;
import com.ongres.scram.common.StringPreparation;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import org.bson.BsonDocument;

/** The server's side of SCRAM (RFC 5802), with a salt and a nonce that never change. */
final class ScramServer {
  private static final byte[] SALT = "a salt of 16 by.".getBytes(StandardCharsets.US_ASCII);
  private static final int ITERATIONS = 4096;

  private final ScramMechanism mechanism;
  private final char[] password;
  private String first = "";
  private String second = "";

  ScramServer(ScramMechanism mechanism, char[] password) {
    this.mechanism = mechanism;
    this.password = password;
  }

  /** Answers the client's first message. */
  BsonDocument begin(BsonDocument start) {
    first = text(start).substring("n,,".length());
    second =
        first.substring(first.indexOf("r="))
            + "more,s="
            + Base64.getEncoder().encodeToString(SALT)
            + ",i="
            + ITERATIONS;
    return ScriptedConnection.payload(false, second.getBytes(StandardCharsets.UTF_8));
  }

  /** Checks the client's proof, and returns the server's proof. */
  BsonDocument end(BsonDocument step) {
    String last = text(step);
    String withoutProof = last.substring(0, last.lastIndexOf(",p="));
    byte[] proof = Base64.getDecoder().decode(last.substring(last.lastIndexOf(",p=") + 3));
    byte[] salted =
        ScramFunctions.saltedPassword(
            mechanism, StringPreparation.NO_PREPARATION, password, SALT, ITERATIONS);
    String message = first + "," + second + "," + withoutProof;
    byte[] key = ScramFunctions.clientKey(mechanism, salted);
    byte[] signature =
        ScramFunctions.clientSignature(
            mechanism, ScramFunctions.storedKey(mechanism, key), message);
    if (!MessageDigest.isEqual(proof, ScramFunctions.clientProof(key, signature))) {
      return BsonDocument.parse("{ok: 0, code: 18, errmsg: 'Authentication failed.'}");
    }
    byte[] own =
        ScramFunctions.serverSignature(
            mechanism, ScramFunctions.serverKey(mechanism, salted), message);
    return ScriptedConnection.payload(
        true, ("v=" + Base64.getEncoder().encodeToString(own)).getBytes(StandardCharsets.UTF_8));
  }

  private static String text(BsonDocument command) {
    return new String(command.getBinary("payload").getData(), StandardCharsets.UTF_8);
  }
}
