package dev.onehop.streams.internal.shard;

import dev.onehop.wire.message.CommandFailure;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;

/**
 * Joins the fragments of an event that {@code $changeStreamSplitLargeEvent} has split. Each
 * fragment has some of the event's fields, its own token, and its number in the field {@code
 * splitEvent}. Not thread-safe.
 */
final class Fragments {
  private static final String SPLIT = "splitEvent";
  private static final BsonDocument ALONE = BsonDocument.parse("{fragment: 1, of: 1}");
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();

  private final BsonDocument event = new BsonDocument();
  private int taken;

  /**
   * Adds the next fragment, or an event that is not split.
   *
   * @return whether the event is complete now
   * @throws CommandFailure if the fragments before this one are missing; the event then has to be
   *     read again
   */
  boolean add(RawBsonDocument fragment) {
    BsonValue split = fragment.get(SPLIT, ALONE);
    BsonDocument place = split.isDocument() ? split.asDocument() : ALONE;
    int number = place.getNumber("fragment").intValue();
    if (number != taken + 1) {
      throw Failures.cursorNotFound(
          "fragment " + number + " of an event came after fragment " + taken);
    }
    taken = number;
    event.putAll(fragment);
    event.remove(SPLIT);
    return number == place.getNumber("of").intValue();
  }

  /**
   * The complete event.
   *
   * @param id the {@code _id} (resume token) of the event when it is not split. A stream can always
   *     continue after this token, but not after the token of a fragment
   */
  RawBsonDocument event(BsonValue id) {
    BsonDocument whole = new BsonDocument("_id", id);
    event.remove("_id");
    whole.putAll(event);
    return new RawBsonDocument(whole, CODEC);
  }
}
