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
 * Keeps the information on the cluster current, in the background. At an interval, it refreshes
 * shards, mongoses and the routing tables in use. Between these refreshes, it reads the latest
 * entries of the change history. It follows the primaries. If host names do not show which mongos
 * is near a shard, it measures round trips. If a read fails, the previous information stays.
 */
public final class ClusterWatch implements RefreshListener, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ClusterWatch.class);
  private static final BsonDocument ALL = new BsonDocument();

  /** The round trips to a shard are measured again after this time. */
  private static final Duration MEASURED_FOR = Duration.ofMinutes(1);

  /** The number of refreshes after which the table of an unused collection is dropped. */
  private static final int ROUNDS_UNUSED = 30;

  /** The number of mongoses that are measured in parallel. */
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
  private final AtomicInteger requested = new AtomicInteger();
  private final AtomicBoolean measuring = new AtomicBoolean();
  private final AtomicInteger rounds = new AtomicInteger();

  /**
   * By shard id, the start of the last measurement as a value of {@link System#nanoTime}. A shard
   * without a suitable read is not in the map and is measured later.
   */
  private final Map<String, Long> measuredNanos = new ConcurrentHashMap<>();

  private final Map<String, Map<ServerAddressName, Distance>> distances = new ConcurrentHashMap<>();
  private final Set<ServerAddressName> saidUnreachable = new HashSet<>();
  private volatile Affinity affinity = Affinity.EMPTY;
  private volatile ClusterMembers members = ClusterMembers.NONE;

  /**
   * The settings that the application can change.
   *
   * @param refreshInterval the interval of refreshes of routing tables and mongoses
   * @param historyInterval the interval of reads of the change history; zero for never
   * @param measureRoundTrips whether round trips decide which mongoses are near a shard if no host
   *     names match
   * @param routers by shard id, the mongoses that the application maps to the shard
   * @param hostMapping maps the names in the metadata to the names that the application uses
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
   * Starts to watch.
   *
   * @param config reads the metadata
   * @param tables called after every refresh of a routing table
   * @param listener receives each new affinity
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

  /** Creates the object that follows the primaries. */
  public interface PrimaryWatchFactory {
    /**
     * Creates a watch without shards.
     *
     * @param changed called when a shard has another primary
     */
    PrimaryWatch create(Runnable changed);
  }

  /**
   * Completes after the first attempt to find the mongoses near the shards, whether it succeeded or
   * failed.
   */
  public Mono<Void> affinityReady() {
    return ready;
  }

  /** The routing tables in use. */
  public RoutingCatalog catalog() {
    return catalog;
  }

  /**
   * Starts a measurement if the new table names a shard that has no mongos and was never measured.
   * Without a table, the shard could not be measured.
   */
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
        .doOnError(e -> log.debug("the changes of routing tables were not read: {}", e.toString()))
        .onErrorComplete()
        .then();
  }

  private void readAffinityNow() {
    // If changes arrive while a read is running, one more read follows for all of them.
    if (requested.getAndIncrement() == 0) {
      Mono.defer(
              () -> {
                requested.set(1);
                return readAffinity();
              })
          .repeat(() -> !watching.isDisposed() && !requested.compareAndSet(1, 0))
          .subscribe();
    }
  }

  private Mono<Void> readAffinity() {
    return Mono.zip(config.find("shards", ALL), config.find("mongos", ALL))
        // The listener creates clients, which must not happen on an event loop.
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
        .doOnError(e -> log.debug("the shards and mongoses were not read: {}", e.toString()))
        .onErrorComplete()
        .then();
  }

  /**
   * Checks that the chosen mongoses belong to this cluster, and then chooses again. It leaves out
   * mongoses of other clusters.
   */
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

  /** Logs the mongoses that cannot be reached, each once. */
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
          "mongoses beside shards can't be reached: {}. Operations on these shards go to the"
              + " nearest mongos. If this application can't reach the names in config.mongos, set"
              + " hostMapping",
          failures);
    }
  }

  /**
   * Measures the round trips to the shards without a mongos on the primary's host or one set by
   * hand. This needs a read that only one shard executes, which is derived from the loaded routing
   * tables. If there is none for a shard, the shard is not measured.
   */
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
                        log.debug("round trips from mongoses to shards: {}", found);
                        distances.putAll(found);
                        return checked(choose());
                      }))
              .doOnNext(this::apply)
              .then();
        });
  }
}
