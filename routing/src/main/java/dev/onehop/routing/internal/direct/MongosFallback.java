package dev.onehop.routing.internal.direct;

import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.cluster.Retryability;
import dev.onehop.shards.command.ClusterCheck;
import dev.onehop.shards.command.TransactionCommands;
import dev.onehop.shards.command.TransactionPins;
import dev.onehop.shards.cursor.Cursors;
import dev.onehop.shards.request.ClusterFacts;
import dev.onehop.shards.request.CommandTrace;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.watch.ServerSet;
import java.io.IOException;
import org.bson.BsonDocument;
import reactor.core.publisher.Mono;

/**
 * Sends commands that direct mode does not execute itself to a mongos, if there is one. A
 * transaction stays with the mongos where it began, a cursor with the mongos that opened it.
 *
 * <p>Thread-safe.
 */
final class MongosFallback {
  private final ReplicaSet mongoses;
  private final ClusterCheck clusterCheck;
  private final Cursors cursors;

  private final TransactionPins transactions = new TransactionPins();

  MongosFallback(ReplicaSet mongoses, ClusterCheck clusterCheck, Cursors cursors) {
    this.mongoses = mongoses;
    this.clusterCheck = clusterCheck;
    this.cursors = cursors;
  }

  /** Whether the URI names a mongos. */
  Mono<Boolean> isPossible() {
    return clusterCheck.hasMongos();
  }

  /** Sends a command to a mongos while the config servers do not return the routing table. */
  Mono<BsonDocument> sendUnplaced(OpMsg command) {
    ClusterFacts facts = clusterCheck.known();
    return facts != null && facts.hasMongos()
        ? toMongos(command)
        : Mono.error(ClusterCheck.silent());
  }

  /**
   * Sends a command to a mongos.
   *
   * @param what describes the command, for the error if there is no mongos
   */
  Mono<BsonDocument> send(OpMsg command, String what) {
    return isPossible()
        .flatMap(possible -> possible ? toMongos(command) : Mono.error(refusal(what)));
  }

  private CommandFailure refusal(String what) {
    return CommandFailure.notSupported(
        what
            + " needs a mongos in direct mode, but the URI names config servers only, so the"
            + " command");
  }

  private Mono<BsonDocument> toMongos(OpMsg command) {
    boolean part = TransactionCommands.isPart(command);
    ServerAddressName pinned = part ? transactions.of(command) : null;
    Mono<Answer> sent =
        pinned == null
            ? mongoses.send(command, mongos -> pinned(command, part, mongos))
            : mongoses.sendTo(pinned, command);
    return Mono.deferContextual(
        context ->
            sent.map(
                    answer -> {
                      CommandTrace.in(context).handedOver(answer.server());
                      if (isToEndElsewhere(command, answer)) {
                        transactions.unpin(command);
                      }
                      return cursors.keep(mongoses, command, answer);
                    })
                // Another mongos can end the transaction, by its recovery token.
                .doOnError(IOException.class, e -> transactions.unpin(command)));
  }

  /**
   * Pins the transaction before the reply, because the transaction has begun at the mongos even if
   * the client cancels its first statement.
   */
  private OpMsg pinned(OpMsg command, boolean part, ServerSet.Server mongos) {
    if (part) {
      transactions.pin(command, mongos.name());
    }
    return command;
  }

  /**
   * Whether a mongos has failed to commit or abort a transaction because it shuts down. The driver
   * then sends the commit or abort again, and another mongos can execute it.
   */
  private static boolean isToEndElsewhere(OpMsg command, Answer answer) {
    return TransactionCommands.isEnd(command) && Retryability.WRITE.isAgainAfter(answer.document());
  }
}
