package dev.onehop.routing.internal.client;

import com.mongodb.ClientSessionOptions;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.routing.internal.affinity.ShardClients;
import java.time.Duration;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The cluster time of all clients. The driver passes the latest time that a client has seen on to
 * every mongos of that client; a mongos that this application's writes did not go through would not
 * know of them. It need not in most cases, as a shard answers by what it has. It must where a time
 * is picked: at the beginning of a change stream and of a snapshot. So all are asked before that,
 * and for a snapshot told: what is written after it began, on whatever way, has to be later.
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

  /**
   * Makes a session's cluster time the latest that any mongos in use knows, and tells it to all of
   * them.
   */
  Mono<Void> agree(ClientSession session) {
    return gather(session)
        .then(
            Mono.defer(
                () -> {
                  BsonDocument latest = session.getClusterTime();
                  return latest == null
                      ? Mono.empty()
                      : everyClient().flatMap(client -> ping(client, latest)).then();
                }));
  }

  private Mono<Void> gather(ClientSession session) {
    return everyClient()
        .flatMap(client -> ping(client, null))
        .doOnNext(session::advanceClusterTime)
        .then();
  }

  private Flux<MongoClient> everyClient() {
    return Flux.defer(() -> Flux.fromIterable(clients.all())).startWith(nearest).distinct();
  }

  /** A session on the nearest mongos with the latest cluster time; the caller closes it. */
  Mono<ClientSession> sessionNow() {
    return Mono.from(nearest.startSession(PLAIN))
        .flatMap(session -> gather(session).thenReturn(session));
  }

  /** Tells a mongos a time, if there is one, and asks for its own, which is then no earlier. */
  private static Mono<BsonDocument> ping(MongoClient client, @Nullable BsonDocument told) {
    return Mono.usingWhen(
            client.startSession(PLAIN),
            session -> {
              session.advanceClusterTime(told);
              return Mono.from(client.getDatabase("admin").runCommand(session, PING))
                  .then(Mono.fromSupplier(session::getClusterTime));
            },
            session -> Mono.fromRunnable(session::close))
        .timeout(TIMEOUT)
        .onErrorResume(
            failure -> {
              log.debug("no cluster time from a mongos: {}", failure.toString());
              return Mono.empty();
            });
  }
}
