package dev.onehop.routing.internal.client;

import com.mongodb.MongoSocketException;
import com.mongodb.MongoSocketOpenException;
import com.mongodb.WriteConcern;
import com.mongodb.client.model.DeleteManyModel;
import com.mongodb.client.model.UpdateManyModel;
import com.mongodb.client.model.WriteModel;
import java.util.List;
import java.util.function.Supplier;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Sends a write once more of which certainly nothing was sent.
 *
 * <p>A write that waits for a new connection when the mongos dies fails with the handshake, and
 * driver 5.8 retries only what has a connection. That nothing was sent is known in two cases. There
 * was no connection at all, which {@link MongoSocketOpenException} says of any single command. Or
 * the network error of a retryable write lacks the label {@code RetryableWriteError}, which the
 * driver must give to every such error from the moment it has a connection on (MongoDB's
 * specification "Retryable Writes"). By then the driver holds that mongos for unknown, and selects
 * the next one.
 */
final class NothingSent {
  private static final Logger log = LoggerFactory.getLogger(NothingSent.class);
  private static final String MAY_BE_SENT = "RetryableWriteError";

  private final boolean retryWrites;

  /**
   * @param retryWrites the client's setting
   */
  NothingSent(boolean retryWrites) {
    this.retryWrites = retryWrites;
  }

  /**
   * A write outside of transactions.
   *
   * @param onlySingle whether each statement writes one document at most
   * @param write called at once and, if nothing was sent, once more
   */
  <R> Mono<R> again(
      boolean onlySingle, WriteConcern writeConcern, Supplier<? extends Publisher<R>> write) {
    return Mono.from(write.get())
        .onErrorResume(
            failure -> {
              if (!isUnsent(failure, onlySingle, writeConcern)) {
                return Mono.error(failure);
              }
              return Mono.from(write.get());
            });
  }

  /**
   * Whether a write's failure proves that nothing was sent.
   *
   * @param onlySingle whether each statement writes one document at most
   */
  boolean isUnsent(Throwable failure, boolean onlySingle, WriteConcern writeConcern) {
    boolean unsent =
        failure instanceof MongoSocketException socket
            && !socket.hasErrorLabel(MAY_BE_SENT)
            && (socket instanceof MongoSocketOpenException
                || (retryWrites && onlySingle && writeConcern.isAcknowledged()));
    if (unsent) {
      log.debug("nothing was sent, so it is sent by another way", failure);
    }
    return unsent;
  }

  /** Whether the driver may retry a bulk of these. */
  static boolean onlySingle(List<? extends WriteModel<?>> models) {
    return models.stream()
        .noneMatch(
            model -> model instanceof UpdateManyModel<?> || model instanceof DeleteManyModel<?>);
  }
}
