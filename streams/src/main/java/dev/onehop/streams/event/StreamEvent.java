package dev.onehop.streams.event;

import com.mongodb.client.model.changestream.ChangeStreamDocument;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.Codec;
import org.bson.codecs.DecoderContext;

/** What a change stream gives. Immutable and thread-safe. */
public sealed interface StreamEvent {

  /**
   * The place right after this event: a stream that starts from it gives neither it nor what was
   * before.
   */
  Checkpoint checkpoint();

  /**
   * One event of the servers.
   *
   * @param shard the id of the shard that it comes from; empty if it does not come from a shard
   * @param token {@code _data} of its resume token
   * @param document the event as the server sent it, not decoded
   * @param receivedNanos {@link System#nanoTime} when it arrived
   */
  record Change(
      String shard,
      String token,
      RawBsonDocument document,
      long receivedNanos,
      Checkpoint checkpoint)
      implements StreamEvent {

    /**
     * Decodes the event.
     *
     * @param codec as {@link ChangeStreamDocument#createCodec} makes it
     */
    public <T> ChangeStreamDocument<T> decode(Codec<ChangeStreamDocument<T>> codec) {
      return codec.decode(document.asBsonReader(), DecoderContext.builder().build());
    }
  }

  /**
   * The events of a transaction on one shard. Only if transactions are grouped, and then also for a
   * transaction with a single event. A transaction over several shards gives one of these for each
   * shard, with the same session and number; when its part on another shard was committed, or
   * whether there is one, the servers' events don't tell.
   *
   * @param shard the id of the shard that it comes from; empty if it does not come from a shard
   * @param lsid the session of the transaction
   * @param txnNumber its number in the session
   * @param changes in order, at least one; each has the place after all of them
   * @param last whether these are the last events of the transaction on this shard; more follow if
   *     they are larger than the buffer, if one between them is {@link TooLarge}, or unless the
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

  /** No event, but the place has moved: there were none that the stream's pipeline lets through. */
  record Progress(Checkpoint checkpoint) implements StreamEvent {}

  /**
   * Events of a shard are lost, since its oplog rolled over. Only with {@link
   * HistoryLostPolicy#CONTINUE}.
   *
   * @param shard the shard's id
   * @param from the last cluster time up to which its events were given
   * @param to the cluster time from which they are given again
   */
  record HistoryLost(String shard, BsonTimestamp from, BsonTimestamp to, Checkpoint checkpoint)
      implements StreamEvent {}

  /**
   * An event that is larger than a server can send. The stream goes on after it.
   *
   * @param shard the id of the shard that it comes from; empty if it does not come from a shard
   * @param event what of it the server can send: {@code _id}, {@code operationType}, {@code ns},
   *     {@code documentKey} and {@code clusterTime}
   */
  record TooLarge(String shard, BsonDocument event, Checkpoint checkpoint) implements StreamEvent {}
}
