package dev.onehop.routing.internal.affinity;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.routing.internal.affinity.Affinity.Beside;
import dev.onehop.routing.internal.affinity.RouterProbe.ShardRead;
import dev.onehop.shards.catalog.ChangeHistory;
import dev.onehop.shards.catalog.ConfigReader;
import dev.onehop.shards.catalog.Jitter;
import dev.onehop.shards.catalog.RoutingCatalog;
import dev.onehop.shards.catalog.RoutingCatalog.RefreshListener;
import dev.onehop.wire.ServerAddressName;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Keeps what is known of the cluster fresh, in the background: reads shards, mongoses and the
 * routing tables in use again from time to time, and between that the end of the change history;
 * follows primaries; measures round trips where names don't tell which mongos is beside a shard.
 * What can't be read stays as it was.
 */
public final class ClusterWatch implements RefreshListener, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ClusterWatch.class);
  private static final BsonDocument ALL = new BsonDocument();

  /** Measurements are taken again after that time. */
  private static final Duration MEASURED_FOR = Duration.ofMinutes(1);

  /** A collection that is not used is forgotten after this many rounds. */
  private static final int ROUNDS_UNUSED = 30;

  /** So many mongoses are measured at once. */
  private static final int PROBES = 4;

  private final ConfigReader config;
  private final RefreshListener tables;
  private final RoutingCatalog catalog;
  private final Consumer<Affinity> listener;
  private final Settings settings;
  private final AffinityRules rules;
  private final ClusterPin pin;
  private final RouterProbe probe;
  private final PrimaryWatch primaries;
  private final ChangeHistory history;
  private final Mono<Void> ready;
  private final Disposable.Composite watching = Disposables.composite();
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicBoolean measuring = new AtomicBoolean();
  private final AtomicInteger rounds = new AtomicInteger();

  /** By shard id, when its measurement began; a shard without any read is measured later. */
  private final Map<String, Long> measuredNanos = new ConcurrentHashMap<>();

  private final Map<String, Map<ServerAddressName, Distance>> distances = new ConcurrentHashMap<>();
  private final Set<ServerAddressName> saidUnreachable = new HashSet<>();
  private volatile Affinity affinity = Affinity.EMPTY;
  private volatile ClusterMembers members = ClusterMembers.NONE;

  /**
   * What the application says of it.
   *
   * @param refreshInterval how often routing tables and mongoses are read again
   * @param historyInterval how often the change history is looked at for moves; zero for never
   * @param measureRoundTrips whether round trips decide where names don't
   * @param routers per shard id the mongoses that the application maps to it
   * @param hostMapping from the names in the metadata to those that the application uses
   */
  public record Settings(
      Duration refreshInterval,
      Duration historyInterval,
      boolean measureRoundTrips,
      Map<String, List<ServerAddressName>> routers,
      UnaryOperator<ServerAddressName> hostMapping) {
    public Settings {
      routers = Map.copyOf(routers);
    }
  }

  /**
   * Begins.
   *
   * @param config reads the metadata
   * @param tables told of every refresh of a routing table
   * @param listener gets each affinity that is read
   */
  public ClusterWatch(
      ConfigReader config,
      RefreshListener tables,
      Consumer<Affinity> listener,
      Settings settings,
      ClusterPin pin,
      RouterProbe probe,
      PrimaryWatchFactory primaryWatch) {
    this.tables = tables;
    this.catalog = new RoutingCatalog(config, this);
    this.config = catalog.config();
    this.listener = listener;
    this.settings = settings;
    this.rules = new AffinityRules(settings.routers());
    this.pin = pin;
    this.probe = probe;
    this.primaries = primaryWatch.create(() -> readAffinityNow());
    this.history = new ChangeHistory(config);
    this.ready = readAffinity().cache();
    watching.add(
        Mono.defer(() -> Mono.delay(Jitter.spread(settings.refreshInterval(), 0.25)))
            .then(Mono.defer(this::readAgain))
            .repeat()
            .subscribe());
    if (!settings.historyInterval().isZero()) {
      watching.add(
          Mono.defer(() -> Mono.delay(Jitter.spread(settings.historyInterval(), 0.25)))
              .then(Mono.defer(this::followHistory))
              .repeat()
              .subscribe());
    }
  }

  /** Makes what follows the primaries. */
  public interface PrimaryWatchFactory {
    /**
     * Begins without any shard.
     *
     * @param changed called when a primary moved
     */
    PrimaryWatch create(Runnable changed);
  }

  /** Completes when the affinity was read for the first time, or could not be. */
  public Mono<Void> affinityReady() {
    return ready;
  }

  /** The routing tables in use. */
  public RoutingCatalog catalog() {
    return catalog;
  }

  /** The shards of a new table may be ones whose distances could not be measured so far. */
  @Override
  public void refreshed(
      String namespace, @Nullable RoutingTable table, Duration took, @Nullable Throwable failure) {
    tables.refreshed(namespace, table, took, failure);
    for (String shard : table == null ? Set.<String>of() : table.shards()) {
      if (affinity.ofShard(shard).source() == Affinity.Source.NONE
          && !measuredNanos.containsKey(shard)) {
        measureInBackground();
        return;
      }
    }
  }

  @Override
  public void forgotten(String namespace) {
    tables.forgotten(namespace);
  }

  @Override
  public void close() {
    watching.dispose();
    primaries.close();
    probe.close();
  }

  private Mono<Void> readAgain() {
    if (rounds.incrementAndGet() % ROUNDS_UNUSED == 0) {
      catalog.forgetUnused();
    }
    return readAffinity()
        .then(Mono.defer(() -> catalog.reloadChanged(catalog.namespaces())))
        .then(Mono.fromRunnable(this::measureInBackground));
  }

  private Mono<Void> followHistory() {
    if (catalog.namespaces().isEmpty()) {
      return Mono.empty();
    }
    return history
        .changed(catalog.namespaces())
        .flatMap(catalog::reloadChanged)
        .doOnError(e -> log.debug("change history not read: {}", e.toString()))
        .onErrorComplete()
        .then();
  }

  private void readAffinityNow() {
    // A burst of changes needs one more reading, not one for each.
    if (asked.getAndIncrement() == 0) {
      Mono.defer(
              () -> {
                asked.set(1);
                return readAffinity();
              })
          .repeat(() -> !watching.isDisposed() && !asked.compareAndSet(1, 0))
          .subscribe();
    }
  }

  private Mono<Void> readAffinity() {
    return Mono.zip(config.find("shards", ALL), config.find("mongos", ALL))
        // The listener makes clients, which the event loops should not have to do.
        .publishOn(Schedulers.boundedElastic())
        .map(read -> ClusterMembers.of(read.getT1(), read.getT2(), settings.hostMapping()))
        .flatMap(
            read -> {
              members = read;
              Map<String, List<ServerAddressName>> undecided = new HashMap<>(read.shards());
              undecided.keySet().retainAll(rules.undecidedByMembers(read));
              undecided.replaceAll((shard, names) -> names.stream().map(read.mapping()).toList());
              primaries.watch(undecided);
              distances.keySet().retainAll(read.shards().keySet());
              measuredNanos.keySet().retainAll(read.shards().keySet());
              return checked(choose());
            })
        .doOnNext(this::apply)
        .doOnError(e -> log.debug("shards and mongoses not read: {}", e.toString()))
        .onErrorComplete()
        .then();
  }

  /** Mongoses are asked for their cluster before they are used. */
  private Mono<Affinity> checked(Affinity chosen) {
    Set<ServerAddressName> used = new HashSet<>();
    chosen.shards().values().forEach(beside -> used.addAll(beside.routers()));
    return pin.check(List.copyOf(used)).then(Mono.fromSupplier(this::choose));
  }

  private Affinity choose() {
    return rules.apply(
        members, primaries.primaries(), distances, router -> !pin.isRefused(router), affinity);
  }

  private synchronized void apply(Affinity next) {
    if (!next.equals(affinity)) {
      log.debug("mongoses beside the shards: {}", next.shards());
    }
    sayUnreachable(next);
    affinity = next;
    listener.accept(next);
  }

  /** Once of each mongos. */
  private void sayUnreachable(Affinity next) {
    Map<String, String> failures = new TreeMap<>();
    for (Beside beside : next.shards().values()) {
      for (ServerAddressName router : beside.routers()) {
        String failure = pin.failure(router);
        if (failure != null && saidUnreachable.add(router)) {
          failures.put(router.toString(), failure);
        }
      }
    }
    if (!failures.isEmpty()) {
      log.warn(
          "mongoses beside shards can't be reached: {}. Operations of these shards go to the nearest"
              + " mongos. Where names of config.mongos lead nowhere from here, set hostMapping",
          failures);
    }
  }

  /** Measures for the shards that have no mongos by name, if something of theirs is in use. */
  private void measureInBackground() {
    if (!settings.measureRoundTrips() || !measuring.compareAndSet(false, true)) {
      return;
    }
    measure()
        .doFinally(signal -> measuring.set(false))
        .subscribe(done -> {}, e -> log.debug("not measured: {}", e.toString()));
  }

  private Mono<Void> measure() {
    return Mono.defer(
        () -> {
          long now = System.nanoTime();
          Set<String> due = new HashSet<>();
          affinity
              .shards()
              .forEach(
                  (shard, beside) -> {
                    Long measured = measuredNanos.get(shard);
                    boolean byName =
                        beside.source() == Affinity.Source.MAPPED
                            || beside.source() == Affinity.Source.SAME_HOST;
                    if (!byName && (measured == null || now - measured > MEASURED_FOR.toNanos())) {
                      due.add(shard);
                    }
                  });
          if (due.isEmpty()) {
            return Mono.empty();
          }
          Map<String, ShardRead> reads = ProbeReads.find(catalog.tables(), due);
          reads.keySet().forEach(shard -> measuredNanos.put(shard, now));
          if (reads.isEmpty()) {
            return Mono.empty();
          }
          Map<String, Map<ServerAddressName, Distance>> found = new ConcurrentHashMap<>();
          return Flux.fromIterable(affinity.routers())
              .flatMap(
                  router ->
                      probe
                          .measure(router, reads)
                          .doOnNext(
                              ways ->
                                  ways.forEach(
                                      (shard, way) ->
                                          found
                                              .computeIfAbsent(
                                                  shard, name -> new ConcurrentHashMap<>())
                                              .put(router, way)))
                          .doOnError(e -> log.debug("{} not measured: {}", router, e.toString()))
                          .onErrorComplete(),
                  PROBES)
              .then(
                  Mono.defer(
                      () -> {
                        log.debug("distances of shards by mongos: {}", found);
                        distances.putAll(found);
                        return checked(choose());
                      }))
              .doOnNext(this::apply)
              .then();
        });
  }
}
