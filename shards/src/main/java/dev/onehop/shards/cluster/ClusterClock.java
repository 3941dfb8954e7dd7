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
 * The highest {@code $clusterTime} that any server has returned. When a shard refuses a stale
 * command, OneHop reads the metadata again. With this time, the read is causally later than the
 * shard's refusal.
 *
 * <p>The cluster time in an application's command is not recorded here, because OneHop cannot check
 * its signature. The shard checks the signature, and the time in the shard's reply is recorded. If
 * the config servers reject a command because of a recorded time, this time is dropped: the server
 * that returned it has a wrong clock.
 *
 * <p>Thread-safe.
 */
public final class ClusterClock {
  private static final byte TIMESTAMP = 0x11;
  // The encoding in a document: type, name and terminator.
  private static final String TIME = "\u0011clusterTime\0";

  /**
   * A time and its encoded document. The time of the next message is compared without decoding this
   * document again.
   */
  private record Latest(BsonTimestamp time, BsonDocument document) {}

  private final AtomicReference<@Nullable Latest> latest = new AtomicReference<>();

  /** Records the time of a message, if it has one. */
  public void observe(BsonDocument message) {
    BsonValue value = message.get("$clusterTime");
    if (value == null || !value.isDocument()) {
      return;
    }
    BsonDocument candidate = value.asDocument();
    latest.accumulateAndGet(
        new Latest(time(candidate), candidate),
        (current, next) ->
            current == null || current.time().compareTo(next.time()) < 0 ? next : current);
  }

  /**
   * Records the time of an encoded message.
   *
   * @param at the index of the {@code $clusterTime} document, negative if there is none
   */
  public void observe(ByteBuf message, int at) {
    if (at < 0) {
      return;
    }
    Latest known = latest.get();
    // The first element of the document is the time: type, name, NUL, value.
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

  /** Drops a time that a server has rejected, unless a later time has arrived since then. */
  void forget(BsonDocument refused) {
    latest.updateAndGet(
        current ->
            current == null || current.time().compareTo(time(refused)) <= 0 ? null : current);
  }

  /** The signed time in the format of the servers; null before a server has returned a time. */
  public @Nullable BsonDocument clusterTime() {
    Latest known = latest.get();
    return known == null ? null : known.document();
  }

  /** The latest known cluster time; null before a server has returned one. */
  public @Nullable BsonTimestamp now() {
    Latest known = latest.get();
    return known == null ? null : known.time();
  }

  /**
   * Returns a reply with the two times that a mongos adds: {@code $clusterTime} and {@code
   * operationTime}. The reply of a shard already contains both. To a merged reply, the latest known
   * time is added, because no part of the reply is newer.
   */
  public BsonDocument stamped(BsonDocument reply) {
    Latest now = latest.get();
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
   * Adds the time to a command, unless the command has a later one. Otherwise a server would refuse
   * to read at a time that it has not received.
   */
  public void gossip(BsonDocument command) {
    Latest now = latest.get();
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
