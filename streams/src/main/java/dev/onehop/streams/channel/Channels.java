package dev.onehop.streams.channel;

import dev.onehop.core.bson.BsonPath;
import dev.onehop.core.bson.HashedKey;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import java.util.StringJoiner;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;

/**
 * Assigns events to channels. The hashes of {@code _id} are divided into ranges of the same size,
 * one range per channel. The ranges are the same for all shards and collections. A document
 * therefore stays in its channel when it moves to another shard, and documents with the same {@code
 * _id} are in the same channel.
 */
public final class Channels {
  /** The most channels. */
  public static final int MOST = 128;

  /** The result of {@link #of} for an event that concerns more than one document. */
  public static final int ALL = -1;

  static final int DEFAULT_BATCH = 1_000;
  static final int DEFAULT_UNACKNOWLEDGED = 1 << 16;

  private static final BsonPath ID = BsonPath.of("documentKey._id");

  private Channels() {}

  /**
   * The channel of an event.
   *
   * @param event the event in the server's format, with its {@code documentKey}
   * @param count the number of channels
   * @return the channel's number from 0, or {@link #ALL}
   */
  public static int of(RawBsonDocument event, int count) {
    BsonPath.Located id = ID.find(event);
    if (id == null) {
      return ALL;
    }
    return count == 1 ? 0 : ofHash(HashedKey.hash(id), count);
  }

  /** The channel of documents with this {@code _id}. */
  public static int of(BsonValue id, int count) {
    return ofHash(HashedKey.hash(id), count);
  }

  /** The channel of a hash. The range of channel 0 begins at the least hash, which is negative. */
  static int ofHash(long hash, int count) {
    long upper = (hash ^ Long.MIN_VALUE) >>> Integer.SIZE;
    return (int) ((upper * count) >>> Integer.SIZE);
  }

  /** The number of bytes of an event in the server's reply; 0 for a notice. */
  static long bytes(StreamEvent event) {
    if (event instanceof StreamEvent.Transaction transaction) {
      return transaction.changes().stream().mapToLong(Channels::bytes).sum();
    }
    return event instanceof StreamEvent.Change change
        ? change.document().getByteBuffer().remaining()
        : 0;
  }

  /**
   * The numbers of channels as a text for the log, such as {@code 0-3, 7}. The argument is
   * ascending.
   */
  static String ranges(List<Integer> channels) {
    StringJoiner ranges = new StringJoiner(", ");
    for (int from = 0; from < channels.size(); ) {
      int to = from;
      while (to + 1 < channels.size() && channels.get(to + 1) == channels.get(to) + 1) {
        to++;
      }
      ranges.add(
          from == to ? channels.get(from) + "" : channels.get(from) + "-" + channels.get(to));
      from = to + 1;
    }
    return channels.isEmpty() ? "none" : ranges.toString();
  }

  static int checked(int count) {
    if (count < 1 || count > MOST) {
      throw new IllegalArgumentException("channels must be from 1 to " + MOST + ": " + count);
    }
    return count;
  }

  static int positive(String name, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(name + " must be positive: " + value);
    }
    return value;
  }
}
