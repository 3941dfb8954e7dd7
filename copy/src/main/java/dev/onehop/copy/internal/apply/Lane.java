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
 * <p>A document of the destination is <em>ahead</em> if it was read from the source after the time
 * of the last applied event. The document then already has the changes of its next events. These
 * events can't be applied to it again: fields would change their order, and paths of an update may
 * not exist.
 *
 * <p>The <em>horizon</em> is a cluster time. While events are before the horizon, any document may
 * be ahead, because the full phase or an earlier term has read it at an unknown time. An update of
 * such a document is not applied. Instead, the document is read from the source at a known time,
 * and its events up to that time are left out. When events are after the horizon, only documents
 * that this lane has read since can be ahead. The lane stores these documents with the times of the
 * reads.
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
    // The methods that Java generates for a record take several times as long as these methods.
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
   * @param horizon a cluster time of the source, at or after the times of all earlier reads
   */
  Lane(long term, BsonTimestamp horizon) {
    this.term = term;
    this.horizon = horizon;
    this.exactFrom = horizon;
  }

  long term() {
    return term;
  }

  /**
   * Whether a document of the destination already has the change of an event, because the document
   * was read after the event.
   *
   * @param time the cluster time of the event
   */
  synchronized boolean has(Document document, BsonTimestamp time) {
    BsonTimestamp read = ahead.isEmpty() ? null : ahead.get(document);
    return read != null && time.compareTo(read) <= 0;
  }

  /**
   * Whether a document may be ahead of an event because it was read at an unknown time.
   *
   * @param named the same document, identified by the name of its collection and not by the UUID,
   *     which changes if the collection is resharded
   */
  synchronized boolean isUncertain(Document document, Document named, BsonTimestamp time) {
    return isUncertain(time)
        ? !ahead.containsKey(document)
        : has(named, time) && !ahead.containsKey(document);
  }

  /** Whether any document may be ahead of an event with this time. */
  synchronized boolean isUncertain(BsonTimestamp time) {
    return time.compareTo(horizon) <= 0;
  }

  /** Records that a document was written in the state that it had at the source at a given time. */
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

  /**
   * Records that a document may differ from the source's document until all events up to a time are
   * applied.
   */
  synchronized void exactAfter(BsonTimestamp time) {
    exactFrom = max(exactFrom, time);
  }

  /** Records that all events up to a time are applied. */
  synchronized void reached(BsonTimestamp time) {
    Iterator<BsonTimestamp> oldest = ahead.values().iterator();
    while (oldest.hasNext() && oldest.next().compareTo(time) < 0) {
      oldest.remove();
    }
  }

  /**
   * A cluster time of the source. When all events up to it are applied, the documents of this lane
   * equal the source's documents.
   */
  BsonTimestamp exactFrom() {
    return exactFrom;
  }

  private static BsonTimestamp max(BsonTimestamp one, BsonTimestamp other) {
    return one.compareTo(other) >= 0 ? one : other;
  }
}
