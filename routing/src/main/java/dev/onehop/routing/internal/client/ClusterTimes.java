package dev.onehop.routing.internal.client;

import com.mongodb.ClientSessionOptions;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.routing.internal.affinity.ShardClients;
import java.time.Duration;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The cluster time of all clients. The driver passes the latest time that a client has seen on to
 * every mongos of that client; a mongos that this application's writes did not go through would not
 * know of them. It need not in most cases, as a shard answers by what it has. It must where a
 * mongos picks a time: at the beginning of a change stream and of a snapshot. So the others are
 * asked before that.
 *
 * <p>Thread-safe.
 */
final class ClusterTimes {
  private static final Logger log = LoggerFactory.getLogger(ClusterTimes.class);

  /** A mongos that does not answer so soon is no reason to wait. */
  private static final Duration TIMEOUT = Duration.ofSeconds(2);

  private static final ClientSessionOptions PLAIN =
      ClientSessionOptions.builder().causallyConsistent(false).build();
  private static final BsonDocument PING = new BsonDocument("ping", new BsonInt32(1));

  private final MongoClient nearest;
  private final ShardClients clients;

  ClusterTimes(MongoClient nearest, ShardClients clients) {
    this.nearest = nearest;
    this.clients = clients;
  }

  /** Makes a session's cluster time the latest that any mongos beside a shard knows. */
  Mono<Void> gather(ClientSession session) {
    return Flux.defer(() -> Flux.fromIterable(clients.all()))
        .filter(client -> client != nearest)
        .flatMap(ClusterTimes::time)
        .doOnNext(session::advanceClusterTime)
        .then();
  }

  /** A session on the nearest mongos with the latest cluster time; the caller closes it. */
  Mono<ClientSession> sessionNow() {
    return Mono.from(nearest.startSession(PLAIN))
        .flatMap(session -> gather(session).thenReturn(session));
  }

  private static Mono<BsonDocument> time(MongoClient client) {
    return Mono.usingWhen(
            client.startSession(PLAIN),
            session ->
                Mono.from(client.getDatabase("admin").runCommand(session, PING))
                    .then(Mono.fromSupplier(session::getClusterTime)),
            session -> Mono.fromRunnable(session::close))
        .timeout(TIMEOUT)
        .onErrorResume(
            failure -> {
              log.debug("no cluster time from a mongos: {}", failure.toString());
              return Mono.empty();
            });
  }
}
