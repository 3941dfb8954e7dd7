package dev.onehop.streams.event;

import dev.onehop.streams.internal.token.Tokens;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BinaryOperator;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * A position in a change stream: for each shard, the token up to which the shard's events were
 * emitted. A position does not depend on the pipeline or on the other options of the stream.
 *
 * <p>Immutable and thread-safe.
 */
public final class Checkpoint {
  private static final int FORMAT = 1;
  private static final String TYPE_BITS = "_typeBits";

  private final String cap;
  private final List<String> shards;

  // One token per shard, in the order of the shards. This is an array and not a map, because each
  // event creates a checkpoint.
  private final String[] tokens;

  // The field _typeBits of the resume token whose _data is the cap. Null if the token has no such
  // field. If it has one, a server cannot read the token without the field.
  private final @Nullable BsonValue typeBits;

  private Checkpoint(
      String cap, @Nullable BsonValue typeBits, List<String> shards, String[] tokens) {
    this.cap = cap;
    this.typeBits = typeBits;
    this.shards = shards;
    this.tokens = tokens;
  }

  /**
   * The position that a stream of the official driver has reached.
   *
   * @param resumeToken the resume token of an event or of a batch, from a mongos, a shard or a
   *     replica set
   * @throws IllegalArgumentException if the argument is not a resume token
   */
  public static Checkpoint ofResumeToken(BsonDocument resumeToken) {
    if (!(resumeToken.get("_data") instanceof BsonString data)) {
      throw new IllegalArgumentException(
          "a resume token needs the field _data with a string, but this document does not have it: "
              + resumeToken.toJson());
    }
    return new Checkpoint(
        Tokens.checked(data.getValue()), resumeToken.get(TYPE_BITS), List.of(), new String[0]);
  }

  /** The position before the first event of a cluster time. */
  public static Checkpoint before(BsonTimestamp clusterTime) {
    return at(Tokens.highWater(clusterTime));
  }

  /**
   * The position at a token, the same for all shards. An event's resume token may have other fields
   * than {@code _data}. {@link #ofResumeToken} keeps these fields, this method does not. A server
   * may refuse the {@link #resumeToken} of a position without these fields.
   *
   * @param token {@code _data} of the token
   */
  public static Checkpoint at(String token) {
    return new Checkpoint(token, null, List.of(), new String[0]);
  }

  /**
   * A position that differs by shard.
   *
   * @param shards the shards' ids, an immutable list
   * @param tokens {@code _data} of the tokens up to which the shards' events were emitted, in the
   *     order of the ids; the array is not copied
   * @param cap {@code _data} of the token that counts for every other shard: all events of other
   *     shards up to this token were emitted
   */
  public static Checkpoint of(List<String> shards, String[] tokens, String cap) {
    if (shards.size() != tokens.length) {
      throw new IllegalArgumentException(
          tokens.length + " tokens for " + shards.size() + " shards");
    }
    return new Checkpoint(cap, null, shards, tokens);
  }

  /**
   * Parses a document of {@link #toDocument}.
   *
   * @throws IllegalArgumentException if the document is not a checkpoint
   */
  public static Checkpoint parse(BsonDocument document) {
    if (!(document.get("format") instanceof BsonInt32 format)
        || format.getValue() != FORMAT
        || !(document.get("low") instanceof BsonString low)
        || !(document.get("shards") instanceof BsonDocument each)) {
      throw new IllegalArgumentException("not a checkpoint: " + document.toJson());
    }
    String[] tokens = new String[each.size()];
    int next = 0;
    for (BsonValue token : each.values()) {
      if (!token.isString()) {
        throw new IllegalArgumentException("not a checkpoint: " + document.toJson());
      }
      tokens[next++] = Tokens.checked(token.asString().getValue());
    }
    return new Checkpoint(
        Tokens.checked(low.getValue()),
        document.get(TYPE_BITS),
        List.copyOf(each.keySet()),
        tokens);
  }

  /**
   * A document to store, of a few hundred bytes. The names of its fields are not part of the API.
   */
  public BsonDocument toDocument() {
    BsonDocument each = new BsonDocument();
    byShard().forEach((shard, token) -> each.append(shard, new BsonString(token)));
    BsonDocument document =
        new BsonDocument("format", new BsonInt32(FORMAT))
            .append("low", new BsonString(cap))
            .append("shards", each);
    return withTypeBits(document);
  }

  private BsonDocument withTypeBits(BsonDocument document) {
    return typeBits == null ? document : document.append(TYPE_BITS, typeBits);
  }

  /** The shards' tokens by shard, without the tokens that equal the cap. */
  private Map<String, String> byShard() {
    Map<String, String> others = new TreeMap<>();
    for (int i = 0; i < tokens.length; i++) {
      if (!tokens[i].equals(cap)) {
        others.put(shards.get(i), tokens[i]);
      }
    }
    return others;
  }

  /**
   * Whether an event is at or before this position.
   *
   * @param shard the id of the event's shard
   * @param token {@code _data} of the event's resume token
   */
  public boolean includes(String shard, String token) {
    return token.compareTo(token(shard)) <= 0;
  }

  /** The position that includes the events of both positions: for each shard, the later token. */
  public Checkpoint union(Checkpoint other) {
    return combined(other, Tokens::max);
  }

  /**
   * The position that includes only events which both positions include: for each shard, the
   * earlier token.
   */
  public Checkpoint intersection(Checkpoint other) {
    return combined(other, Tokens::min);
  }

  private Checkpoint combined(Checkpoint other, BinaryOperator<String> choice) {
    Set<String> names = new TreeSet<>(shards);
    names.addAll(other.shards);
    List<String> all = List.copyOf(names);
    String[] chosen = new String[all.size()];
    for (int i = 0; i < chosen.length; i++) {
      String shard = all.get(i);
      chosen[i] = choice.apply(token(shard), other.token(shard));
    }
    String at = choice.apply(cap, other.cap);
    return new Checkpoint(at, at.equals(cap) ? typeBits : other.typeBits, all, chosen);
  }

  /** The latest cluster time up to which the events of all shards were emitted. */
  public BsonTimestamp clusterTime() {
    return Tokens.clusterTime(low());
  }

  /**
   * A token for {@code resumeAfter} of the official driver, on a mongos or a replica set. A stream
   * that starts there emits every event that was not emitted yet. If the shards' tokens differ, the
   * stream starts at the cluster time of the least token, and repeats events of the other shards.
   * With {@link Order#TOTAL} and without grouped transactions, nothing is repeated.
   */
  public BsonDocument resumeToken() {
    String low = low();
    // The token of a shard's event is not valid in a stream without this event. The token of a
    // cluster time is valid in every stream.
    return tokens.length == 0
        ? withTypeBits(new BsonDocument("_data", new BsonString(low)))
        : new BsonDocument("_data", new BsonString(Tokens.highWater(Tokens.clusterTime(low))));
  }

  /**
   * {@code _data} of the token up to which the events of a shard were emitted.
   *
   * @param shard the shard's id. For a shard that this position does not list, the result is the
   *     token that counts for all other shards. The empty id stands for a mongos or a replica set;
   *     its result is {@link #low}
   */
  public String token(String shard) {
    int known = shards.indexOf(shard);
    if (known >= 0) {
      return tokens[known];
    }
    return shard.isEmpty() ? low() : cap;
  }

  /**
   * {@code _data} of the least token of all shards: the events of every shard up to this token were
   * emitted.
   */
  public String low() {
    String low = cap;
    for (String token : tokens) {
      low = Tokens.min(low, token);
    }
    return low;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Checkpoint that
        && cap.equals(that.cap)
        && byShard().equals(that.byShard());
  }

  @Override
  public int hashCode() {
    return Objects.hash(cap, byShard());
  }

  @Override
  public String toString() {
    return toDocument().toJson();
  }
}
