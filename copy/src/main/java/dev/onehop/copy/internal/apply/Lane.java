package dev.onehop.copy.internal.apply;

import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * The state of the documents that a channel's owner writes in one term.
 *
 * <p>A document of the destination is <em>ahead</em> if it was read from the source at a later time
 * than the events have reached. An event that such a document includes can't be applied to it
 * again: fields would change their order, and paths would not exist. Up to the <em>horizon</em> any
 * document may be ahead, because the copy or an earlier term has read it at an unknown time. There
 * an update is not applied: the document is read again as of a known time, and its events up to
 * that time are left out. After the horizon only documents that were read since can be ahead, and
 * the lane knows these.
 *
 * <p>Thread-safe.
 */
final class Lane {
  private static final int MOST = 40_000;

  private final long term;
  private final Map<Document, BsonTimestamp> ahead = new LinkedHashMap<>();
  private BsonTimestamp horizon;
  private volatile BsonTimestamp exactFrom;

  /** The identity of a document. */
  record Document(Object collection, ByteBuffer id) {
    // The methods of a record cost several times as much.
    @Override
    public int hashCode() {
      return 31 * collection.hashCode() + id.hashCode();
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Document same
          && id.equals(same.id)
          && collection.equals(same.collection);
    }
  }

  /**
   * @param horizon a time of the source at or after all earlier reads of it
   */
  Lane(long term, BsonTimestamp horizon) {
    this.term = term;
    this.horizon = horizon;
    this.exactFrom = horizon;
  }

  long term() {
    return term;
  }

  /** Whether a document includes an event already. */
  synchronized boolean has(Document document, BsonTimestamp time) {
    BsonTimestamp read = ahead.isEmpty() ? null : ahead.get(document);
    return read != null && time.compareTo(read) <= 0;
  }

  /**
   * Whether a document may be ahead of an event by an unknown time.
   *
   * @param named the same document, with the name of its collection instead of the UUID, which a
   *     resharding changes
   */
  synchronized boolean isUncertain(Document document, Document named, BsonTimestamp time) {
    return isUncertain(time)
        ? !ahead.containsKey(document)
        : has(named, time) && !ahead.containsKey(document);
  }

  /** Whether any document may be newer than an event. */
  synchronized boolean isUncertain(BsonTimestamp time) {
    return time.compareTo(horizon) <= 0;
  }

  /** Notes that a document was written as it was at a time. */
  synchronized void wrote(Document document, BsonTimestamp time) {
    ahead.remove(document);
    ahead.put(document, time);
    exactAfter(time);
    while (ahead.size() > MOST) {
      Iterator<BsonTimestamp> oldest = ahead.values().iterator();
      horizon = max(horizon, oldest.next());
      oldest.remove();
    }
  }

  /** Notes that a document differs from the source's until the events up to a time are applied. */
  synchronized void exactAfter(BsonTimestamp time) {
    exactFrom = max(exactFrom, time);
  }

  /** Notes that all events up to a time are applied. */
  synchronized void reached(BsonTimestamp time) {
    Iterator<BsonTimestamp> oldest = ahead.values().iterator();
    while (oldest.hasNext() && oldest.next().compareTo(time) < 0) {
      oldest.remove();
    }
  }

  /** The documents equal the source's once the events have passed this time. */
  BsonTimestamp exactFrom() {
    return exactFrom;
  }

  private static BsonTimestamp max(BsonTimestamp one, BsonTimestamp other) {
    return one.compareTo(other) >= 0 ? one : other;
  }
}
