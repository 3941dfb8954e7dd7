package dev.onehop.streams.internal.shard;

import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;

/**
 * An event in fragments of {@code $changeStreamSplitLargeEvent}: each has some of the event's
 * fields, a separate token, and its number in {@code splitEvent}. Not thread-safe.
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
   * @return whether it was the last fragment
   * @throws CommandFailure if fragments are missing before it; the event then has to be read again
   */
  boolean add(RawBsonDocument fragment) {
    BsonValue split = fragment.get(SPLIT, ALONE);
    BsonDocument place = split.isDocument() ? split.asDocument() : ALONE;
    int number = place.getNumber("fragment").intValue();
    if (number != taken + 1) {
      throw new CommandFailure(
          ErrorCodes.CURSOR_NOT_FOUND,
          "CursorNotFound",
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
   * @param id the id of the event without a split; a stream can always continue after it
   */
  RawBsonDocument event(BsonValue id) {
    BsonDocument whole = new BsonDocument("_id", id);
    event.remove("_id");
    whole.putAll(event);
    return new RawBsonDocument(whole, CODEC);
  }
}
