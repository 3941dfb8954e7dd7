package dev.onehop.routing.internal.catalog;

import dev.onehop.core.table.RoutingTable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * The routing tables of the collections in use: one immutable snapshot each, swapped atomically and
 * never empty in between. Refreshes are single-flight per collection.
 *
 * <p>Thread-safe.
 */
public final class RoutingCatalog {
  private static final Logger log = LoggerFactory.getLogger(RoutingCatalog.class);

  /** A read of the metadata that takes longer has lost its server. */
  private static final Duration LOAD_TIMEOUT = Duration.ofSeconds(30);

  /** After failures: a quarter of a second, doubled up to a minute. */
  private static final Duration FIRST_PAUSE = Duration.ofMillis(250);

  private static final int MOST_DOUBLINGS = 8;

  private static final Duration FIRST_EVIDENCE_GAP = Duration.ofMillis(200);
  private static final Duration LONGEST_EVIDENCE_GAP = Duration.ofSeconds(5);

  private final RoutingTableLoader loader;
  private final RefreshListener listener;
  private final Map<String, Entry> entries = new ConcurrentHashMap<>();

  /** Told of every refresh; implementations MUST be quick and MUST NOT throw. */
  public interface RefreshListener {
    /** A listener that does nothing. */
    RefreshListener NONE = (namespace, table, took, failure) -> {};

    /**
     * A refresh ended.
     *
     * @param table the table now in force, null if the refresh failed
     * @param took from the first read to the swap
     * @param failure why it failed, null if it did not
     */
    void refreshed(
        String namespace, @Nullable RoutingTable table, Duration took, @Nullable Throwable failure);
  }

  private static final class Entry {
    volatile @Nullable RoutingTable table;
    volatile long loadedNanos;
    volatile boolean used = true;
    volatile int failures;
    volatile long notBeforeNanos = System.nanoTime();
    volatile Duration evidenceGap = FIRST_EVIDENCE_GAP;
    final AtomicLong nextEvidenceNanos = new AtomicLong(System.nanoTime());
    final AtomicReference<@Nullable Mono<RoutingTable>> inFlight = new AtomicReference<>();
  }

  /** A catalog for who talks to mongoses. */
  public RoutingCatalog(ConfigReader config, RefreshListener listener) {
    this(new RoutingTableLoader(config, false), listener);
  }

  private RoutingCatalog(RoutingTableLoader loader, RefreshListener listener) {
    this.loader = loader;
    this.listener = listener;
  }

  /**
   * A catalog for who talks to shards: a sharded time series collection, which a shard can't tell
   * from an unsharded one, is a {@link ShardedTimeSeriesException} instead of a table.
   */
  public static RoutingCatalog forShards(ConfigReader config, RefreshListener listener) {
    return new RoutingCatalog(new RoutingTableLoader(config, true), listener);
  }

  /** The table at hand, null if none was loaded yet. Never blocks and never asks the cluster. */
  public @Nullable RoutingTable cached(String namespace) {
    Entry entry = entries.get(namespace);
    if (entry == null) {
      return null;
    }
    if (!entry.used) {
      entry.used = true;
    }
    return entry.table;
  }

  /** The tables at hand. */
  public List<RoutingTable> tables() {
    List<RoutingTable> tables = new ArrayList<>();
    for (Entry entry : entries.values()) {
      RoutingTable table = entry.table;
      if (table != null) {
        tables.add(table);
      }
    }
    return tables;
  }

  /** How long ago the table at hand was found to be the newest; empty if there is none. */
  public Optional<Duration> age(String namespace) {
    Entry entry = entries.get(namespace);
    return entry == null || entry.table == null
        ? Optional.empty()
        : Optional.of(Duration.ofNanos(System.nanoTime() - entry.loadedNanos));
  }

  /** The table at hand, or else the one that is loaded now. */
  public Mono<RoutingTable> table(String namespace) {
    return Mono.defer(
        () -> {
          RoutingTable table = cached(namespace);
          return table != null ? Mono.just(table) : refresh(namespace, null);
        });
  }

  /**
   * A table other than {@code seen}: the one at hand if it was swapped meanwhile, else the result
   * of a refresh, which everybody who asks while it runs shares.
   *
   * @param seen the table that proved to be stale, null to take any
   */
  public Mono<RoutingTable> refresh(String namespace, @Nullable RoutingTable seen) {
    return Mono.defer(
        () -> {
          Entry entry = entries.computeIfAbsent(namespace, name -> new Entry());
          RoutingTable current = entry.table;
          return current != null && current != seen ? Mono.just(current) : flight(namespace, entry);
        });
  }

  /** Reads the collection's metadata again, whatever is at hand. */
  public Mono<RoutingTable> reload(String namespace) {
    return Mono.defer(
        () -> flight(namespace, entries.computeIfAbsent(namespace, name -> new Entry())));
  }

  /**
   * Reads the collection's metadata again, unless that failed a moment ago: after each failure the
   * pause doubles, up to a minute, give or take a half.
   */
  public Mono<RoutingTable> reloadIfDue(String namespace) {
    return Mono.defer(
        () -> {
          Entry entry = entries.computeIfAbsent(namespace, name -> new Entry());
          return System.nanoTime() - entry.notBeforeNanos < 0
              ? Mono.empty()
              : flight(namespace, entry);
        });
  }

  /**
   * Follows a hint that the table at hand is stale by reading again in the background. Hints that
   * lead to nothing new are followed less and less often, five seconds apart at the most.
   */
  public void suspect(String namespace) {
    Entry entry = entries.get(namespace);
    RoutingTable before = entry == null ? null : entry.table;
    if (entry == null || before == null) {
      return;
    }
    long now = System.nanoTime();
    long next = entry.nextEvidenceNanos.get();
    if (now - next < 0
        || !entry.nextEvidenceNanos.compareAndSet(
            next, now + Jitter.spread(entry.evidenceGap, 0.5).toNanos())) {
      return;
    }
    reloadIfDue(namespace)
        .subscribe(
            table -> {
              Duration doubled = entry.evidenceGap.multipliedBy(2);
              entry.evidenceGap =
                  isNewer(table, before)
                      ? FIRST_EVIDENCE_GAP
                      : doubled.compareTo(LONGEST_EVIDENCE_GAP) < 0
                          ? doubled
                          : LONGEST_EVIDENCE_GAP;
            },
            failure -> log.debug("{}: not refreshed: {}", namespace, failure.toString()));
  }

  /**
   * Forgets the collections that nobody has asked for since the last call, so that a collection
   * that was used once is not read again for ever.
   */
  public void forgetUnused() {
    entries.entrySet().removeIf(each -> !each.getValue().used);
    entries.values().forEach(entry -> entry.used = false);
  }

  /** The namespaces that have a table or had one asked for. */
  public Collection<String> namespaces() {
    return List.copyOf(entries.keySet());
  }

  /** Forgets a collection, after it was dropped. */
  public void forget(String namespace) {
    entries.remove(namespace);
  }

  private Mono<RoutingTable> flight(String namespace, Entry entry) {
    Mono<RoutingTable> running = entry.inFlight.get();
    if (running != null) {
      return running;
    }
    AtomicReference<@Nullable Mono<RoutingTable>> self = new AtomicReference<>();
    Mono<RoutingTable> started =
        load(namespace, entry)
            // Before the result is handed on, so that whoever is refused next starts a new one.
            .doOnTerminate(() -> entry.inFlight.compareAndSet(self.get(), null))
            .cache();
    self.set(started);
    if (entry.inFlight.compareAndSet(null, started)) {
      return started;
    }
    Mono<RoutingTable> other = entry.inFlight.get();
    return other != null ? other : flight(namespace, entry);
  }

  private Mono<RoutingTable> load(String namespace, Entry entry) {
    return Mono.defer(
        () -> {
          long start = System.nanoTime();
          return loader
              .load(namespace, entry.table)
              .timeout(LOAD_TIMEOUT)
              .doOnNext(
                  table -> {
                    entry.table = table;
                    entry.loadedNanos = System.nanoTime();
                    entry.failures = 0;
                    Duration took = Duration.ofNanos(System.nanoTime() - start);
                    log.debug("{}: table of {} read in {}", namespace, table.shards(), took);
                    listener.refreshed(namespace, table, took, null);
                  })
              .doOnError(
                  failure -> {
                    log.debug("{}: no new routing table: {}", namespace, failure.toString());
                    if (failure instanceof UnknownNamespaceException) {
                      // Dropped: what was known is of no use any more.
                      entry.table = null;
                    }
                    backOff(entry);
                    listener.refreshed(
                        namespace, null, Duration.ofNanos(System.nanoTime() - start), failure);
                  });
        });
  }

  private static void backOff(Entry entry) {
    int failures = Math.min(entry.failures, MOST_DOUBLINGS);
    entry.failures = failures + 1;
    Duration pause = Jitter.spread(FIRST_PAUSE.multipliedBy(1L << failures), 0.5);
    entry.notBeforeNanos = System.nanoTime() + pause.toNanos();
  }

  private static boolean isNewer(RoutingTable table, RoutingTable before) {
    return table.isSharded() != before.isSharded()
        || (table.isSharded()
            ? !table.version().equals(before.version())
            : !table.primaryShard().equals(before.primaryShard()));
  }
}
