package dev.onehop.streams.internal.shard;

import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;

/**
 * An event in the fragments that {@code $changeStreamSplitLargeEvent} makes of it: each has some of
 * the event's fields, a token of its own, and in {@code splitEvent} its number. Not thread-safe.
 */
final class Fragments {
  private static final String SPLIT = "splitEvent";
  private static final BsonDocument ALONE = BsonDocument.parse("{fragment: 1, of: 1}");
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();

  private final BsonDocument event = new BsonDocument();
  private int taken;

  /**
   * Takes the next fragment, or an event that is not split.
   *
   * @return whether it was the last
   * @throws CommandFailure if it is not the one that follows, after which the event is to be read
   *     again
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
   * The event.
   *
   * @param id that it has where it is not split; the stream can go on after it in every way
   */
  RawBsonDocument event(BsonValue id) {
    BsonDocument whole = new BsonDocument("_id", id);
    event.remove("_id");
    whole.putAll(event);
    return new RawBsonDocument(whole, CODEC);
  }
}
