package dev.onehop.shards.cluster;

import dev.onehop.wire.message.BsonFields;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicReference;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The highest {@code $clusterTime} that any server has told. Gossiping it with a read of the
 * metadata makes that read causally later than the refusal which caused it.
 *
 * <p>What an application's session tells is not believed: it goes with that session's command to
 * the shard, which looks at the signature, and comes back from there. Nor is a server believed
 * whose time the others refuse, for its clock jumped.
 *
 * <p>Thread-safe.
 */
public final class ClusterClock {
  private static final byte TIMESTAMP = 0x11;
  // As it stands in a document: type, name and end of the name.
  private static final String TIME = "\u0011clusterTime\0";

  /** The time itself beside its document, so that the next message is compared without decoding. */
  private record Told(BsonTimestamp time, BsonDocument document) {}

  private final AtomicReference<@Nullable Told> latest = new AtomicReference<>();

  /** Takes note of the time that a message carries, if it carries one. */
  public void observe(BsonDocument message) {
    BsonValue told = message.get("$clusterTime");
    if (told == null || !told.isDocument()) {
      return;
    }
    BsonDocument candidate = told.asDocument();
    latest.accumulateAndGet(
        new Told(time(candidate), candidate),
        (current, next) ->
            current == null || current.time().compareTo(next.time()) < 0 ? next : current);
  }

  /**
   * Takes note of the time in a message.
   *
   * @param at where the document is, negative if there is none
   */
  public void observe(ByteBuf message, int at) {
    if (at < 0) {
      return;
    }
    Told known = latest.get();
    // Its first element is the time: type, name, NUL, value.
    int time = at + 4 + TIME.length();
    if (message.getByte(at + 4) != TIMESTAMP
        || !message
            .toString(at + 5, TIME.length() - 2, StandardCharsets.US_ASCII)
            .equals("clusterTime")
        || known == null
        || Long.compareUnsigned(message.getLongLE(time), known.time().getValue()) > 0) {
      observe(
          new BsonDocument(
              "$clusterTime", BsonFields.rawDocument(message, at, BsonFields.endOf(message, at))));
    }
  }

  /** Forgets a time that a server refused, unless a later one was told meanwhile. */
  void forget(BsonDocument refused) {
    latest.updateAndGet(
        current ->
            current == null || current.time().compareTo(time(refused)) <= 0 ? null : current);
  }

  /** The signed time as servers pass it on, null before the first one was seen. */
  public @Nullable BsonDocument clusterTime() {
    Told known = latest.get();
    return known == null ? null : known.document();
  }

  /**
   * A reply with the times that a mongos tells: those that a shard told if there are, else the
   * latest, which no part of the answer is newer than.
   */
  public BsonDocument stamped(BsonDocument reply) {
    Told now = latest.get();
    if (now == null || (reply.containsKey("operationTime") && reply.containsKey("$clusterTime"))) {
      return reply;
    }
    BsonDocument copy = new BsonDocument();
    copy.putAll(reply);
    copy.put("$clusterTime", now.document());
    if (!copy.containsKey("operationTime")) {
      copy.put("operationTime", now.time());
    }
    return copy;
  }

  /**
   * Adds the time to a command, unless it carries a later one. A server reads at no time that it
   * has not heard of.
   */
  public void gossip(BsonDocument command) {
    Told now = latest.get();
    if (now != null
        && (!command.isDocument("$clusterTime")
            || time(command.getDocument("$clusterTime")).compareTo(now.time()) < 0)) {
      command.put("$clusterTime", now.document());
    }
  }

  public static BsonTimestamp time(BsonDocument clusterTime) {
    return clusterTime.getTimestamp("clusterTime");
  }
}
