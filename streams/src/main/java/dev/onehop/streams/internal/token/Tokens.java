package dev.onehop.streams.internal.token;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.bson.BsonTimestamp;

/**
 * The field {@code _data} of resume tokens, called token here. It is a sortable key in upper-case
 * hexadecimal digits, which starts with the cluster time. The tokens of all shards therefore sort
 * in the order of their events.
 */
public final class Tokens {
  private static final String TIMESTAMP = "82";
  private static final int TIME_DIGITS = 16;
  private static final int LEAST_LENGTH = TIMESTAMP.length() + TIME_DIGITS;

  // The rest of a token that belongs to no event: version 1, the type "high-water mark",
  // transaction index 0, not from an invalidation, no UUID.
  private static final String HIGH_WATER = "2B0229296E04";
  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  private Tokens() {}

  /**
   * The least token of a cluster time. It is before all events of this time, and valid on every
   * server.
   */
  public static String highWater(BsonTimestamp time) {
    return TIMESTAMP + HEX.toHexDigits(time.getValue()) + HIGH_WATER;
  }

  /** The least token that is after all events of a cluster time. */
  public static String after(BsonTimestamp time) {
    return highWater(next(time));
  }

  /** The cluster time of a token. */
  public static BsonTimestamp clusterTime(String token) {
    return new BsonTimestamp(
        HexFormat.fromHexDigitsToLong(token, TIMESTAMP.length(), LEAST_LENGTH));
  }

  /** The next possible cluster time. */
  public static BsonTimestamp next(BsonTimestamp time) {
    return new BsonTimestamp(time.getValue() + 1);
  }

  /**
   * Checks a token and returns it.
   *
   * @throws IllegalArgumentException if it is not a resume token of MongoDB 4.2 or later
   */
  public static String checked(String token) {
    if (token.length() < LEAST_LENGTH
        || !token.startsWith(TIMESTAMP)
        || !token.chars().allMatch(HexFormat::isHexDigit)
        || token.getBytes(StandardCharsets.US_ASCII).length != token.length()) {
      throw new IllegalArgumentException("not a resume token: " + token);
    }
    return token;
  }

  public static String max(String one, String other) {
    return one.compareTo(other) >= 0 ? one : other;
  }

  public static String min(String one, String other) {
    return one.compareTo(other) <= 0 ? one : other;
  }
}
