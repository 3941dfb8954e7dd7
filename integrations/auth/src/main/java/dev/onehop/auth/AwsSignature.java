package dev.onehop.auth;

import com.mongodb.AwsCredential;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signs requests with AWS Signature Version 4. Source: the AWS General Reference. */
final class AwsSignature {
  private static final String ALGORITHM = "AWS4-HMAC-SHA256";

  private AwsSignature() {}

  /**
   * Returns the value of the header {@code Authorization} for a request.
   *
   * @param timestamp the time, such as {@code 20150830T123600Z}
   * @param signedHeaders the names of the signed headers, sorted and separated by semicolons
   * @param canonicalRequest the whole request in canonical form
   */
  static String authorization(
      AwsCredential credential,
      String timestamp,
      String region,
      String service,
      String signedHeaders,
      String canonicalRequest)
      throws GeneralSecurityException {
    String scope = timestamp.substring(0, 8) + "/" + region + "/" + service + "/aws4_request";
    String toSign = String.join("\n", ALGORITHM, timestamp, scope, sha256(canonicalRequest));
    byte[] key = bytes("AWS4" + credential.getSecretAccessKey());
    for (String part : scope.split("/", -1)) {
      key = hmac(key, part);
    }
    return ALGORITHM
        + " Credential="
        + credential.getAccessKeyId()
        + "/"
        + scope
        + ", SignedHeaders="
        + signedHeaders
        + ", Signature="
        + HexFormat.of().formatHex(hmac(key, toSign));
  }

  static String sha256(String text) throws GeneralSecurityException {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes(text)));
  }

  private static byte[] hmac(byte[] key, String text) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    return mac.doFinal(bytes(text));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
