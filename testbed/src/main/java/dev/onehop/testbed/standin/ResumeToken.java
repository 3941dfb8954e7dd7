package dev.onehop.testbed.standin;

import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import java.util.HexFormat;
import java.util.Locale;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;

/**
 * A change stream's resume token: {@code {_data: <hex>}}. The hex is a key string that begins with
 * the event's cluster time. The order of the hex strings is therefore the order of all shards'
 * events. Source: {@code src/mongo/db/pipeline/resume_token.h}; observed on 6.0.5.
 *
 * @param document the token in the format for clients
 * @param data the hex, in upper case
 */
record ResumeToken(BsonDocument document, String data) implements Comparable<ResumeToken> {
  private static final String DATA = "_data";
  private static final int TYPE_TIMESTAMP = 0x82;
  private static final int TIMESTAMP_BYTES = 8;
  private static final int ZERO = 0x29;
  private static final int LARGEST_POSITIVE = 0x32;
  private static final int TRUE = 0x6F;
  // Three numbers are between the time and the flag: version, token type and index in the
  // transaction.
  private static final int NUMBERS = 3;

  /**
   * Reads a token.
   *
   * @throws CommandFailure if the token is malformed
   */
  public static ResumeToken of(BsonValue token) {
    if (!token.isDocument() || !token.asDocument().isString(DATA)) {
      throw malformed(token);
    }
    String data = token.asDocument().getString(DATA).getValue().toUpperCase(Locale.ROOT);
    ResumeToken read = new ResumeToken(token.asDocument(), data);
    if (read.at(0) != TYPE_TIMESTAMP) {
      throw malformed(token);
    }
    return read;
  }

  private static CommandFailure malformed(BsonValue token) {
    return new CommandFailure(
        ErrorCodes.INVALID_RESUME_TOKEN, "InvalidResumeToken", "not a resume token: " + token);
  }

  /** The cluster time of the event, or the time up to which all events have been returned. */
  public BsonTimestamp clusterTime() {
    if (data.length() < 2 * (1 + TIMESTAMP_BYTES)) {
      throw malformed(document);
    }
    try {
      return new BsonTimestamp(HexFormat.fromHexDigitsToLong(data, 2, 2 * (1 + TIMESTAMP_BYTES)));
    } catch (NumberFormatException e) {
      throw malformed(document);
    }
  }

  /**
   * Whether the event invalidated the stream: the stream then resumes only after this event's time.
   */
  public boolean isFromInvalidate() {
    int position = 1 + TIMESTAMP_BYTES;
    for (int i = 0; i < NUMBERS; i++) {
      int type = at(position);
      if (type < ZERO || type > LARGEST_POSITIVE) {
        return false;
      }
      position += 1 + Math.max(0, type - ZERO - 1);
    }
    return at(position) == TRUE;
  }

  /** Returns the byte at a position, or -1 after the end. */
  private int at(int position) {
    int from = 2 * position;
    try {
      return from + 2 <= data.length() ? HexFormat.fromHexDigits(data, from, from + 2) : -1;
    } catch (NumberFormatException e) {
      throw malformed(document);
    }
  }

  @Override
  public int compareTo(ResumeToken other) {
    return data.compareTo(other.data);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ResumeToken token && data.equals(token.data);
  }

  @Override
  public int hashCode() {
    return data.hashCode();
  }
}
