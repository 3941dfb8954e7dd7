package dev.onehop.copy.verify;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A fingerprint of all documents of one key: the number of documents, and the sums of the first and
 * the second 64 bits of the documents' SHA-256 hashes. It does not depend on the order of the
 * documents.
 */
record Fingerprint(int count, long high, long low) {
  static final Fingerprint NONE = new Fingerprint(0, 0, 0);

  Fingerprint plus(ByteBuffer document) {
    ByteBuffer hash = ByteBuffer.wrap(sha256(document));
    return new Fingerprint(count + 1, high + hash.getLong(), low + hash.getLong());
  }

  Fingerprint plus(Fingerprint other) {
    return new Fingerprint(count + other.count, high + other.high, low + other.low);
  }

  private static byte[] sha256(ByteBuffer document) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(document);
      return digest.digest();
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java has SHA-256", e);
    }
  }
}
