package dev.onehop.routing.internal.direct;

import dev.onehop.routing.internal.command.ClusterFacts;
import dev.onehop.routing.internal.command.Journey;
import dev.onehop.routing.internal.direct.cursor.Cursors;
import dev.onehop.routing.internal.direct.shard.CommandFailure;
import dev.onehop.routing.internal.direct.shard.ReplicaSet;
import dev.onehop.routing.internal.direct.shard.ReplicaSet.Answer;
import dev.onehop.routing.internal.direct.shard.Retryability;
import dev.onehop.routing.internal.wire.OpMsg;
import dev.onehop.routing.internal.wire.ServerAddressName;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Hands to a mongos what direct mode does not do itself, if there is one. A transaction stays with
 * the mongos where it began, a cursor with the one that opened it.
 *
 * <p>Thread-safe.
 */
final class MongosHandOver implements HandOver {
  private static final int MOST_TRANSACTIONS = 10_000;

  private final ReplicaSet mongoses;
  private final StartCheck startCheck;
  private final Cursors cursors;

  // By session; the oldest are forgotten, for the end of a session is not always announced.
  private final Map<BsonValue, Transaction> transactions =
      new LinkedHashMap<>(64, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<BsonValue, Transaction> eldest) {
          return size() > MOST_TRANSACTIONS;
        }
      };

  private record Transaction(BsonValue number, ServerAddressName mongos) {}

  MongosHandOver(ReplicaSet mongoses, StartCheck startCheck, Cursors cursors) {
    this.mongoses = mongoses;
    this.startCheck = startCheck;
    this.cursors = cursors;
  }

  @Override
  public Mono<Boolean> isPossible() {
    return startCheck.hasMongos();
  }

  /** Has a mongos execute a command while the config servers don't say where it belongs. */
  Mono<BsonDocument> sendUnplaced(OpMsg command) {
    ClusterFacts facts = startCheck.known();
    return facts != null && facts.hasMongos() ? toMongos(command) : Mono.error(StartCheck.silent());
  }

  @Override
  public Mono<BsonDocument> send(OpMsg command, String what) {
    return isPossible()
        .flatMap(possible -> possible ? toMongos(command) : Mono.error(refusal(what)));
  }

  private CommandFailure refusal(String what) {
    return CommandFailure.notSupported(
        what
            + ", which direct mode hands to a mongos if the URI names one (this one names config"
            + " servers),");
  }

  private Mono<BsonDocument> toMongos(OpMsg command) {
    ServerAddressName pinned = pinned(command);
    Mono<Answer> sent = pinned == null ? mongoses.send(command) : mongoses.sendTo(pinned, command);
    return Mono.deferContextual(
        context ->
            sent.map(
                    answer -> {
                      Journey.in(context).handedOver(answer.server());
                      if (isToEndElsewhere(command, answer)) {
                        unpin(command);
                      } else {
                        pin(command, answer.server());
                      }
                      return cursors.keep(mongoses, command, answer);
                    })
                // Another mongos can end it, by the recovery token.
                .doOnError(IOException.class, e -> unpin(command)));
  }

  /** A mongos that is going away: its answer to a commit has the client try that again. */
  private static boolean isToEndElsewhere(OpMsg command, Answer answer) {
    return Transactions.isEnd(command) && Retryability.WRITE.isAgainAfter(answer.document());
  }

  private @Nullable ServerAddressName pinned(OpMsg command) {
    if (!Transactions.isPart(command)) {
      return null;
    }
    synchronized (transactions) {
      Transaction known = known(command);
      return known == null ? null : known.mongos();
    }
  }

  private @Nullable Transaction known(OpMsg command) {
    Transaction known = transactions.get(command.body().get("lsid"));
    return known != null && known.number().equals(command.body().get("txnNumber")) ? known : null;
  }

  private void unpin(OpMsg command) {
    synchronized (transactions) {
      if (known(command) != null) {
        transactions.remove(command.body().get("lsid"));
      }
    }
  }

  private void pin(OpMsg command, ServerAddressName mongos) {
    BsonDocument body = command.body();
    if (Transactions.isPart(command) && body.containsKey("lsid")) {
      synchronized (transactions) {
        transactions.put(body.get("lsid"), new Transaction(body.get("txnNumber"), mongos));
      }
    }
  }
}
