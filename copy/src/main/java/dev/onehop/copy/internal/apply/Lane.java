package dev.onehop.copy.internal.apply;

import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * What a channel's owner knows of the documents that it writes in one term.
 *
 * <p>A document of the destination is <em>ahead</em> if it was read from the source at a later time
 * than the events have come to. What such a document has met already can't be applied to it once
 * more: fields would change their order, and paths lead nowhere. Up to the <em>horizon</em> any
 * document may be ahead, for the copy, or an earlier term, has read it at a time that nobody knows.
 * There an update is not applied: the document is read anew, as of a time that is known, and its
 * events up to that time are left out. After the horizon only documents that were read since can be
 * ahead, and these are known.
 *
 * <p>Thread-safe.
 */
final class Lane {
  private static final int MOST = 40_000;

  private final long term;
  private final Map<Document, BsonTimestamp> ahead = new LinkedHashMap<>();
  private BsonTimestamp horizon;
  private volatile BsonTimestamp exactFrom;

  /** A document's name. */
  record Document(Object collection, ByteBuffer id) {
    // What a record has by itself costs several times as much.
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
   * @param horizon a time of the source at or after everything that was read of it before
   */
  Lane(long term, BsonTimestamp horizon) {
    this.term = term;
    this.horizon = horizon;
    this.exactFrom = horizon;
  }

  long term() {
    return term;
  }

  /** Whether a document has met an event already. */
  synchronized boolean has(Document document, BsonTimestamp time) {
    BsonTimestamp read = ahead.isEmpty() ? null : ahead.get(document);
    return read != null && time.compareTo(read) <= 0;
  }

  /**
   * Whether a document may be ahead of an event, and it is not known how far.
   *
   * @param named the same by the name of its collection, which gets another UUID when it is
   *     resharded
   */
  synchronized boolean isUncertain(Document document, Document named, BsonTimestamp time) {
    return isUncertain(time)
        ? !ahead.containsKey(document)
        : has(named, time) && !ahead.containsKey(document);
  }

  /** Whether anything may be newer than an event. */
  synchronized boolean isUncertain(BsonTimestamp time) {
    return time.compareTo(horizon) <= 0;
  }

  /** A document was written as it was at a time. */
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

  /** A document is not as at the source before the events up to a time are applied. */
  synchronized void exactAfter(BsonTimestamp time) {
    exactFrom = max(exactFrom, time);
  }

  /** All events up to a time are applied. */
  synchronized void reached(BsonTimestamp time) {
    Iterator<BsonTimestamp> oldest = ahead.values().iterator();
    while (oldest.hasNext() && oldest.next().compareTo(time) < 0) {
      oldest.remove();
    }
  }

  /** The time from which on the documents are as at the source when the events come to it. */
  BsonTimestamp exactFrom() {
    return exactFrom;
  }

  private static BsonTimestamp max(BsonTimestamp one, BsonTimestamp other) {
    return one.compareTo(other) >= 0 ? one : other;
  }
}
