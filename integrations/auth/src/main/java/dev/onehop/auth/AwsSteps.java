package dev.onehop.auth;

import com.mongodb.AwsCredential;
import dev.onehop.wire.handshake.SaslSteps;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Base64;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;

/**
 * The steps of MONGODB-AWS. The client signs an AWS request for its identity, and the server sends
 * this request to AWS. Source: the drivers' specification "Authentication".
 */
final class AwsSteps implements SaslSteps {
  private static final String BODY = "Action=GetCallerIdentity&Version=2011-06-15";
  private static final int NONCE_BYTES = 32;
  private static final int GS2_NO_BINDING = 'n';
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final DateTimeFormatter TIMESTAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
  private static final Pattern HOST = Pattern.compile("[^.\\s]+(\\.[^.\\s]+)*");

  private final Supplier<AwsCredential> credentials;
  private final Clock clock;
  private final byte[] nonce = new byte[NONCE_BYTES];
  private int step;

  AwsSteps(Supplier<AwsCredential> credentials, Clock clock) {
    this.credentials = credentials;
    this.clock = clock;
    RANDOM.nextBytes(nonce);
  }

  @Override
  public byte[] next(byte[] challenge) throws Exception {
    return switch (step++) {
      case 0 ->
          Payloads.bytes(
              new BsonDocument("r", new BsonBinary(nonce))
                  .append("p", new BsonInt32(GS2_NO_BINDING)));
      case 1 -> signed(Payloads.document(challenge));
      default -> throw new IllegalStateException("the server sent an unexpected challenge");
    };
  }

  @Override
  public boolean isComplete() {
    return step > 1;
  }

  private byte[] signed(BsonDocument challenge) throws GeneralSecurityException {
    byte[] serverNonce = challenge.getBinary("s").getData();
    String host = challenge.getString("h").getValue();
    if (serverNonce.length != 2 * NONCE_BYTES
        || !Arrays.equals(nonce, 0, NONCE_BYTES, serverNonce, 0, NONCE_BYTES)) {
      throw new IllegalArgumentException(
          "the server's nonce does not begin with the client's nonce");
    }
    if (host.length() > 255 || !HOST.matcher(host).matches()) {
      throw new IllegalArgumentException("the server returned an invalid AWS host");
    }
    AwsCredential used = credentials.get();
    String timestamp = TIMESTAMP.format(clock.instant());
    String token = used.getSessionToken();
    String names =
        "content-length;content-type;host;x-amz-date;"
            + (token == null ? "" : "x-amz-security-token;")
            + "x-mongodb-gs2-cb-flag;x-mongodb-server-nonce";
    String request =
        "POST\n/\n\n"
            + "content-length:"
            + BODY.length()
            + "\ncontent-type:application/x-www-form-urlencoded\nhost:"
            + host
            + "\nx-amz-date:"
            + timestamp
            + (token == null ? "" : "\nx-amz-security-token:" + token)
            + "\nx-mongodb-gs2-cb-flag:n\nx-mongodb-server-nonce:"
            + Base64.getEncoder().encodeToString(serverNonce)
            + "\n\n"
            + names
            + "\n"
            + AwsSignature.sha256(BODY);
    BsonDocument answer =
        new BsonDocument(
                "a",
                new BsonString(
                    AwsSignature.authorization(
                        used, timestamp, region(host), "sts", names, request)))
            .append("d", new BsonString(timestamp));
    if (token != null) {
      answer.append("t", new BsonString(token));
    }
    return Payloads.bytes(answer);
  }

  /**
   * Returns the region of a host: the second label of its name, or {@code us-east-1} if the name
   * has no region.
   */
  static String region(String host) {
    String[] labels = host.split("\\.", -1);
    return labels.length == 1 || host.equals("sts.amazonaws.com") ? "us-east-1" : labels[1];
  }
}
