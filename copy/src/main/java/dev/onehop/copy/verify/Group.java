package dev.onehop.copy.verify;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** All documents of one key in one cluster. Documents can be added. Not thread-safe. */
final class Group {
  private final byte[] order;
  private final BsonValue key;
  private @Nullable ByteBuffer only;
  private Fingerprint sum = Fingerprint.NONE;

  /**
   * @param order the key as bytes that sort as servers sort the keys
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

  /** The document of a group with one document. */
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

  /** Compares the bytes of the documents, or the fingerprints if a group has several documents. */
  boolean sameAs(Group other) {
    return (only != null && other.only != null)
        ? only.equals(other.only)
        : fingerprint().equals(other.fingerprint());
  }
}
