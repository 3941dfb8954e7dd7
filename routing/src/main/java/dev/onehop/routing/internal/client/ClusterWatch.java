package dev.onehop.routing.internal.client;

import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.routing.internal.affinity.Affinity;
import dev.onehop.routing.internal.affinity.ShardClients;
import dev.onehop.routing.internal.catalog.ConfigReader;
import dev.onehop.routing.internal.catalog.RoutingCatalog;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.bson.BsonDocument;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Reads shards, mongoses and the routing tables in use again from time to time, in the background.
 * What can't be read stays as it was.
 */
final class ClusterWatch implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ClusterWatch.class);
  private static final BsonDocument ALL = new BsonDocument();

  /** How long operations that chose a replaced client may still need it. */
  private static final Duration LINGER = Duration.ofMinutes(2);

  private final ConfigReader config;
  private final RoutingCatalog catalog;
  private final ShardClients clients;
  private final RoutingMetrics metrics;
  private final Mono<Void> ready;
  private final Disposable watching;
  private volatile Affinity affinity = Affinity.EMPTY;

  ClusterWatch(
      ConfigReader config,
      RoutingCatalog catalog,
      ShardClients clients,
      RoutingMetrics metrics,
      Duration interval) {
    this.config = config;
    this.catalog = catalog;
    this.clients = clients;
    this.metrics = metrics;
    this.ready = readAffinity().cache();
    this.watching =
        Mono.defer(() -> Mono.delay(jittered(interval)))
            .then(Mono.defer(this::readAgain))
            .repeat()
            .subscribe();
  }

  /** Completes when the affinity was read for the first time, or could not be. */
  Mono<Void> affinityReady() {
    return ready;
  }

  Affinity affinity() {
    return affinity;
  }

  @Override
  public void close() {
    watching.dispose();
  }

  private Mono<Void> readAgain() {
    return readAffinity()
        .thenMany(Flux.fromIterable(List.copyOf(catalog.namespaces())))
        .concatMap(namespace -> catalog.reload(namespace).onErrorComplete())
        .then();
  }

  private Mono<Void> readAffinity() {
    return Mono.zip(config.find("shards", ALL, ALL), config.find("mongos", ALL, ALL))
        .doOnNext(read -> apply(Affinity.byHost(read.getT1(), read.getT2())))
        .doOnError(e -> log.debug("shards and mongoses not read: {}", e.toString()))
        .onErrorComplete()
        .then();
  }

  private void apply(Affinity next) {
    if (!next.equals(affinity)) {
      log.info("mongoses beside the shards: {}", next.beside());
    }
    affinity = next;
    metrics.shardsWithRouter(next.shardsWithRouter().size());
    for (MongoClient unused : clients.update(next)) {
      Mono.delay(LINGER).subscribe(later -> unused.close());
    }
  }

  /** Spreads the reads of many clients: between 75 % and 125 % of the interval. */
  private static Duration jittered(Duration interval) {
    double factor = ThreadLocalRandom.current().nextDouble(0.75, 1.25);
    return Duration.ofNanos((long) (interval.toNanos() * factor));
  }
}
