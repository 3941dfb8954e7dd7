package dev.onehop.streams.internal.shard;

import dev.onehop.shards.cluster.ClusterClock;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.wire.NoAnswer;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.bson.BsonDocument;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Advances the clocks of idle servers. A heartbeat writes a note to the oplog of a replica set, and
 * a majority acknowledges it. After that, a change stream on these servers has a token after the
 * latest cluster time, and a majority read at this time does not wait. A majority read without a
 * note would also make an idle server write to its oplog. But the server does not flush its journal
 * for such a write. In a replica set with one member, the read then waits for the next periodic
 * flush, up to 100 ms.
 *
 * <p>Thread-safe.
 */
final class Heartbeats {
  private static final Logger log = LoggerFactory.getLogger(Heartbeats.class);
  private static final Duration MOST = Duration.ofSeconds(2);
  private static final BsonDocument NOTE =
      BsonDocument.parse(
          "{appendOplogNote: 1, data: {onehop: 'events wait for this server'},"
              + " writeConcern: {w: 'majority', wtimeout: "
              + MOST.toMillis()
              + "}}");

  private final ClusterClock clock;
  private final boolean wanted;
  private final Set<ReplicaSet> refusing = ConcurrentHashMap.newKeySet();

  /**
   * @param wanted whether heartbeats are enabled
   */
  Heartbeats(ClusterClock clock, boolean wanted) {
    this.clock = clock;
    this.wanted = wanted;
  }

  /**
   * Writes a note. Never fails.
   *
   * @return whether a majority has acknowledged the note
   */
  Mono<Boolean> write(ReplicaSet to) {
    return Mono.defer(() -> !wanted || refusing.contains(to) ? Mono.just(false) : append(to))
        .timeout(MOST, NoAnswer.within(MOST))
        .onErrorReturn(false);
  }

  private Mono<Boolean> append(ReplicaSet to) {
    BsonDocument note = NOTE.clone();
    clock.gossip(note);
    return to.run("admin", note)
        .doOnError(CommandFailure.class, why -> refused(to, why))
        .map(reply -> !reply.containsKey("writeConcernError"));
  }

  private void refused(ReplicaSet by, CommandFailure why) {
    if (why.code() == ErrorCodes.UNAUTHORIZED) {
      // The class Rights logs the consequences of the missing right.
      log.debug("no heartbeats: {}", why.getMessage());
      refusing.add(by);
    }
  }
}
