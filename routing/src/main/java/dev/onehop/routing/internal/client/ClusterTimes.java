package dev.onehop.routing.internal.client;

import com.mongodb.ClientSessionOptions;
import com.mongodb.MongoClientSettings;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoDatabase;
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
   *
   * @param deadline of the operation for which that is, null for none
   */
  Mono<Void> agree(ClientSession session, @Nullable Deadline deadline) {
    return gather(session)
        .then(
            Mono.defer(
                () -> {
                  BsonDocument latest = session.getClusterTime();
                  return latest == null
                      ? Mono.empty()
                      : everyClient().flatMap(client -> ping(client, latest)).then();
                }))
        .timeout(Deadline.preparing(deadline, TIMEOUT.multipliedBy(2)), Mono.empty());
  }

  /** Whether operations go by way of several clients, so that there is something to agree on. */
  boolean areSeveral() {
    return clients.all().stream().anyMatch(client -> client != nearest);
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

  /**
   * Gives the nearest client the latest cluster time. It sends it with every command.
   *
   * @param deadline of the operation for which that is, null for none
   */
  Mono<Void> tellNearest(@Nullable Deadline deadline) {
    return Mono.usingWhen(
            nearest.startSession(PLAIN),
            session ->
                gather(session)
                    .then(Mono.defer(() -> ping(nearest, session.getClusterTime())))
                    .then(),
            session -> Mono.fromRunnable(session::close))
        .timeout(Deadline.preparing(deadline, TIMEOUT), Mono.empty());
  }

  /** Tells a mongos a time, if there is one, and asks for its own, which is then no earlier. */
  private static Mono<BsonDocument> ping(MongoClient client, @Nullable BsonDocument told) {
    MongoDatabase admin =
        client
            .getDatabase("admin")
            .withCodecRegistry(MongoClientSettings.getDefaultCodecRegistry());
    return HiddenCommands.hidden(
            Mono.usingWhen(
                client.startSession(PLAIN),
                session -> {
                  session.advanceClusterTime(told);
                  return Mono.from(admin.runCommand(session, PING))
                      .then(Mono.fromSupplier(session::getClusterTime));
                },
                session -> Mono.fromRunnable(session::close)))
        .timeout(TIMEOUT)
        .onErrorResume(
            failure -> {
              log.debug("no cluster time from a mongos: {}", failure.toString());
              return Mono.empty();
            });
  }
}
