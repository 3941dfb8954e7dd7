package dev.onehop.testbed.standin.command;

import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;

/**
 * A batch of documents under construction, limited by the requested number of documents and by the
 * server's maximum of bytes. The first document fits at any size.
 */
public final class Batch {
  /** The value of {@code FindCommon::kMaxBytesToReturnToClientAtOnce}. */
  static final int MOST_BYTES = 16 * 1024 * 1024;

  // The bytes that a document adds to an array in addition to its own: the type and the index in
  // decimal digits.
  private static final int OVERHEAD = 12;

  private final int wanted;
  private final boolean exact;
  private final List<BsonDocument> documents = new ArrayList<>();
  private long bytes;

  private Batch(int wanted, boolean exact) {
    this.wanted = wanted;
    this.exact = exact;
  }

  /** A batch for a client that has requested this number of documents. */
  public static Batch of(int wanted) {
    return new Batch(wanted, true);
  }

  /** A batch of at most this number of documents, for a client that has not requested a number. */
  static Batch ofAtMost(int documents) {
    return new Batch(documents, false);
  }

  /**
   * The number of requested documents that are missing; 0 if the client has not requested a number.
   */
  int missing() {
    return exact ? wanted - documents.size() : 0;
  }

  /** Whether the batch has the requested number of documents. */
  public boolean isComplete() {
    return documents.size() >= wanted;
  }

  /** Whether the batch has room for a document of this size in bytes. */
  public boolean hasRoomFor(int size) {
    return documents.isEmpty() || bytes + size + OVERHEAD <= MOST_BYTES;
  }

  /**
   * Adds a document.
   *
   * @param size the size of the document in bytes, or an upper bound of it
   */
  public void add(BsonDocument document, int size) {
    documents.add(document);
    bytes += size + OVERHEAD;
  }

  public boolean isEmpty() {
    return documents.isEmpty();
  }

  public List<BsonDocument> documents() {
    return documents;
  }
}
