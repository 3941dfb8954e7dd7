package dev.onehop.streams.channel;

import com.mongodb.reactivestreams.client.ClientSession;
import org.reactivestreams.Publisher;

/** Writes a batch within the transaction of a {@link FencedSink}. Thread-safe. */
@FunctionalInterface
public interface TransactionWriter {

  /**
   * Writes what the events of a batch say. It may be called several times for a batch, when the
   * transaction is tried again.
   *
   * @param session of the open transaction; every write MUST be made with it, one after the other
   * @return completes when the writes are done; an error aborts the transaction, which is tried
   *     again if the error has the label of a transient one
   */
  Publisher<Void> write(ClientSession session, ChannelBatch batch);
}
