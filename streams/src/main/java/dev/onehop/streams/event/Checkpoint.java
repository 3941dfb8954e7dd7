package dev.onehop.streams.event;

import dev.onehop.streams.internal.token.Tokens;
import java.util.Map;
import java.util.TreeMap;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;

/**
 * A place in a change stream: up to which token the events of each shard were given.
 * It does not depend on the pipeline or on the other options of the stream.
 *
 * <p>Immutable and thread-safe.
 */
public final class Checkpoint {
  private static final int FORMAT = 1;

  private final String low;
  private final Map<String, String> shards;

  private Checkpoint(String low, Map<String, String> shards) {
    this.low = low;
    this.shards = shards;
  }

  /**
   * The place that a stream of the official driver has reached.
   *
   * @param resumeToken of an event or of a batch, from a mongos, a shard or a replica set
   * @throws IllegalArgumentException if it is no resume token
   */
  public static Checkpoint ofResumeToken(BsonDocument resumeToken) {
    if (!(resumeToken.get("_data") instanceof BsonString data)) {
      throw new IllegalArgumentException(
          "a resume token has a string \"_data\": " + resumeToken.toJson());
    }
    return new Checkpoint(Tokens.checked(data.getValue()), Map.of());
  }

  /** The place before the first event of a cluster time. */
  public static Checkpoint before(BsonTimestamp clusterTime) {
    return new Checkpoint(Tokens.highWater(clusterTime), Map.of());
  }

  /**
   * Made by the stream itself.
   *
   * @param low {@code _data} of the token up to which the events of all other shards were given
   * @param shards the same by shard id, where it is more
   */
  public static Checkpoint of(String low, Map<String, String> shards) {
    return new Checkpoint(low, Map.copyOf(shards));
  }

  /**
   * Reads what {@link #toDocument} has written.
   *
   * @throws IllegalArgumentException if it is something else
   */
  public static Checkpoint parse(BsonDocument document) {
    if (!document.isInt32("format")
        || document.getInt32("format").getValue() != FORMAT
        || !document.isString("low")
        || !document.isDocument("shards")) {
      throw new IllegalArgumentException("not a checkpoint: " + document.toJson());
    }
    Map<String, String> shards = new TreeMap<>();
    document
        .getDocument("shards")
        .forEach(
            (shard, token) -> {
              if (!token.isString()) {
                throw new IllegalArgumentException("not a checkpoint: " + document.toJson());
              }
              shards.put(shard, Tokens.checked(token.asString().getValue()));
            });
    return new Checkpoint(
        Tokens.checked(document.getString("low").getValue()), Map.copyOf(shards));
  }

  /** To store it. It is a few hundred bytes; its fields are not for reading. */
  public BsonDocument toDocument() {
    BsonDocument each = new BsonDocument();
    new TreeMap<>(shards).forEach((shard, token) -> each.append(shard, new BsonString(token)));
    return new BsonDocument("format", new BsonInt32(FORMAT))
        .append("low", new BsonString(low))
        .append("shards", each);
  }

  /** The cluster time up to which the events of every shard were given. */
  public BsonTimestamp clusterTime() {
    return Tokens.clusterTime(low());
  }

  /**
   * A token for {@code resumeAfter} of the official driver, on a mongos or a replica set. Such a
   * stream gives every event that was not given; those of shards which are ahead of the others it
   * gives a second time. With {@link Order#TOTAL} there are none of these.
   */
  public BsonDocument resumeToken() {
    String least = low();
    // The token of one shard's event is unknown to a mongos' other shards, a mere time is not.
    return new BsonDocument(
        "_data",
        new BsonString(
            shards.isEmpty() ? least : Tokens.highWater(Tokens.clusterTime(least))));
  }

  /** {@code _data} of the token up to which the events of a shard were given. */
  public String token(String shard) {
    return shards.getOrDefault(shard, low);
  }

  /** {@code _data} of the token up to which the events of every shard were given. */
  public String low() {
    return low;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Checkpoint that && low.equals(that.low) && shards.equals(that.shards);
  }

  @Override
  public int hashCode() {
    return 31 * low.hashCode() + shards.hashCode();
  }

  @Override
  public String toString() {
    return toDocument().toJson();
  }
}
