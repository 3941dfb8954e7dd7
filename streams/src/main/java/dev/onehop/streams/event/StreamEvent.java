package dev.onehop.streams.event;

import com.mongodb.client.model.changestream.ChangeStreamDocument;
import dev.onehop.core.bson.BsonPath;
import dev.onehop.streams.internal.token.Tokens;
import java.time.Instant;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.Codec;
import org.bson.codecs.DecoderContext;
import org.jspecify.annotations.Nullable;

/** An element of a change stream. Immutable and thread-safe. */
public sealed interface StreamEvent {

  /**
   * The position directly after this event: a stream that starts from it emits neither this event
   * nor earlier ones.
   */
  Checkpoint checkpoint();

  /**
   * One event of the servers.
   *
   * @param shard the id of the event's shard; empty if the event does not come from a shard
   * @param token {@code _data} of its resume token
   * @param document the event of the server, not decoded
   * @param receivedNanos the time of its arrival, by {@link System#nanoTime}
   */
  record Change(
      String shard,
      String token,
      RawBsonDocument document,
      long receivedNanos,
      Checkpoint checkpoint)
      implements StreamEvent {
    private static final BsonPath WALL_TIME = BsonPath.of("wallTime");

    /** The cluster time of the change: when its shard committed it, in logical time. */
    public BsonTimestamp clusterTime() {
      return Tokens.clusterTime(token);
    }

    /**
     * The time of the change by the clock of the shard's primary, in milliseconds. Clocks of shards
     * differ, so it does not order events.
     *
     * @return null if the event has no {@code wallTime}: servers send it from feature compatibility
     *     version 6.0 on, and a pipeline may remove it
     */
    public @Nullable Instant wallTime() {
      BsonPath.Located found = WALL_TIME.find(document);
      return found == null || !found.value().isDateTime()
          ? null
          : Instant.ofEpochMilli(found.value().asDateTime().getValue());
    }

    /**
     * Decodes the event.
     *
     * @param codec a codec of {@link ChangeStreamDocument#createCodec}
     */
    public <T> ChangeStreamDocument<T> decode(Codec<ChangeStreamDocument<T>> codec) {
      return codec.decode(document.asBsonReader(), DecoderContext.builder().build());
    }
  }

  /**
   * The events of a transaction on one shard. Only if transactions are grouped, and then also for a
   * transaction with a single event. For a transaction over several shards, there is one object per
   * shard, with the same session and number. The servers' events do not contain whether and when
   * other shards committed their part.
   *
   * @param shard the id of the shard; empty if the events do not come from a shard
   * @param lsid the session of the transaction
   * @param txnNumber the transaction's number in the session
   * @param changes the events in order, at least one; each has the position after all of them
   * @param last whether these are the last events of the transaction on this shard; more follow if
   *     the events are larger than the buffer or if one of them is {@link TooLarge}, unless the
   *     shard has lost them
   */
  record Transaction(
      String shard,
      BsonDocument lsid,
      long txnNumber,
      List<Change> changes,
      boolean last,
      Checkpoint checkpoint)
      implements StreamEvent {
    public Transaction {
      changes = List.copyOf(changes);
    }
  }

  /** A new position without an event: no event passed the stream's pipeline. */
  record Progress(Checkpoint checkpoint) implements StreamEvent {}

  /**
   * Events of a shard are lost, because its oplog has rolled over. Only with {@link
   * HistoryLostPolicy#CONTINUE}.
   *
   * @param shard the shard's id
   * @param from the cluster time up to which the shard's events were emitted
   * @param to the cluster time at which the shard's events continue
   */
  record HistoryLost(String shard, BsonTimestamp from, BsonTimestamp to, Checkpoint checkpoint)
      implements StreamEvent {}

  /**
   * An event that is larger than the limit of a server. The stream continues after it.
   *
   * @param shard the id of the event's shard; empty if the event does not come from a shard
   * @param event the part of the event that the server can send: {@code _id}, {@code
   *     operationType}, {@code ns}, {@code documentKey} and {@code clusterTime}
   */
  record TooLarge(String shard, BsonDocument event, Checkpoint checkpoint) implements StreamEvent {}
}
