package dev.onehop.copy.verify;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** All documents of one key on one side. Mutable while documents are added. Not thread-safe. */
final class Group {
  private final byte[] order;
  private final BsonValue key;
  private @Nullable ByteBuffer only;
  private Fingerprint sum = Fingerprint.NONE;

  /**
   * @param order the key as bytes in the servers' order
   */
  Group(byte[] order, BsonValue key, ByteBuffer document) {
    this.order = order;
    this.key = key;
    this.only = document;
  }

  byte[] order() {
    return order;
  }

  BsonValue key() {
    return key;
  }

  /** The document, while there is only one. */
  ByteBuffer onlyDocument() {
    return Objects.requireNonNull(only);
  }

  void add(ByteBuffer document) {
    sum = fingerprint().plus(document);
    only = null;
  }

  Fingerprint fingerprint() {
    return only == null ? sum : Fingerprint.NONE.plus(only.duplicate());
  }

  /** Compares bytes, or fingerprints if several documents have the key. */
  boolean sameAs(Group other) {
    return (only != null && other.only != null)
        ? only.equals(other.only)
        : fingerprint().equals(other.fingerprint());
  }
}
