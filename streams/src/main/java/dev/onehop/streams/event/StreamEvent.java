package dev.onehop.streams.event;

import com.mongodb.client.model.changestream.ChangeStreamDocument;
import dev.onehop.core.bson.BsonPath;
import dev.onehop.streams.internal.token.Tokens;
import java.time.Instant;
import java.util.List;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.Codec;
import org.bson.codecs.DecoderContext;
import org.jspecify.annotations.Nullable;

/** An element of a change stream. Immutable and thread-safe. */
public sealed interface StreamEvent {

  /**
   * The position directly after this event. A stream that starts at this position does not emit
   * this event or earlier events.
   */
  Checkpoint checkpoint();

  /**
   * One event of the servers.
   *
   * @param shard the id of the event's shard; empty if the event does not come from a shard
   * @param token {@code _data} of the event's resume token
   * @param document the event as the server has sent it, not decoded
   * @param receivedNanos the {@link System#nanoTime} when the event arrived in this process
   */
  record Change(
      String shard,
      String token,
      RawBsonDocument document,
      long receivedNanos,
      Checkpoint checkpoint)
      implements StreamEvent {
    private static final BsonPath WALL_TIME = BsonPath.of("wallTime");

    /** The cluster time at which the shard committed the change. */
    public BsonTimestamp clusterTime() {
      return Tokens.clusterTime(token);
    }

    /**
     * The time of the change by the clock of the shard's primary, in milliseconds. It does not
     * order events of different shards, because the clocks of shards differ.
     *
     * @return null if the event has no {@code wallTime}. Servers send this field from feature
     *     compatibility version 6.0 on, and a pipeline may remove it
     */
    public @Nullable Instant wallTime() {
      return WALL_TIME.value(document) instanceof BsonDateTime time
          ? Instant.ofEpochMilli(time.getValue())
          : null;
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
   * The events of a transaction on one shard. A stream emits this element only if transactions are
   * grouped, and then also for a transaction with a single event. A transaction over several shards
   * has one element per shard, with the same session and number. The servers' events do not contain
   * whether and when other shards committed their part.
   *
   * @param shard the id of the shard; empty if the events do not come from a shard
   * @param lsid the session of the transaction
   * @param txnNumber the transaction's number in the session
   * @param changes the events in order, at least one; the position of each event is the position
   *     after all events of this element
   * @param last whether these are the last events of the transaction on this shard. If false, the
   *     transaction is larger than the buffer or has an event that is {@link TooLarge}, and the
   *     next elements have the rest; or the shard has lost the rest
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

  /**
   * A new position without an event. The stream emits it when no event has passed the stream's
   * pipeline for some time.
   */
  record Progress(Checkpoint checkpoint) implements StreamEvent {}

  /**
   * Events of a shard are lost, because its oplog has overwritten them or because the shard was
   * removed. A stream emits this element only with {@link HistoryLostPolicy#CONTINUE}.
   *
   * @param shard the shard's id
   * @param from the cluster time up to which the shard's events were emitted
   * @param to the cluster time at which the shard's events continue, or the time of the shard's
   *     removal
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
