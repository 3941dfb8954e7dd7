package dev.onehop.testbed.standin.command;

import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;

/**
 * A batch while it is filled, up to as many documents as were asked for and as many bytes as a
 * server gives at once. The first document fits, whatever its size.
 */
public final class Batch {
  /** As {@code FindCommon::kMaxBytesToReturnToClientAtOnce}. */
  static final int MOST_BYTES = 16 * 1024 * 1024;

  // A document's place in an array: its type and its index in decimal digits.
  private static final int OVERHEAD = 12;

  private final int wanted;
  private final boolean exact;
  private final List<BsonDocument> documents = new ArrayList<>();
  private long bytes;

  private Batch(int wanted, boolean exact) {
    this.wanted = wanted;
    this.exact = exact;
  }

  /** A batch for a client that has said how many documents it wants. */
  public static Batch of(int wanted) {
    return new Batch(wanted, true);
  }

  /** A batch for a client that takes what it gets. */
  static Batch ofAtMost(int documents) {
    return new Batch(documents, false);
  }

  /** How many documents are missing that the client wants; 0 if it has not said how many. */
  int missing() {
    return exact ? wanted - documents.size() : 0;
  }

  /** Whether there are as many documents as were asked for. */
  public boolean isComplete() {
    return documents.size() >= wanted;
  }

  /** Whether a document of that size fits in beside the others. */
  public boolean hasRoomFor(int size) {
    return documents.isEmpty() || bytes + size + OVERHEAD <= MOST_BYTES;
  }

  /**
   * Adds a document.
   *
   * @param size in bytes, or more
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
