package dev.onehop.shards.catalog;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.wire.LateErrors;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The routing tables of the collections in use. Each table is an immutable snapshot. A refresh
 * replaces it atomically, and operations use the old table until then. A collection has at most one
 * refresh at a time.
 *
 * <p>Thread-safe.
 */
public final class RoutingCatalog {
  private static final Logger log = LoggerFactory.getLogger(RoutingCatalog.class);

  /**
   * The longest wait for a table by an operation that can also run without the table. The time is
   * enough to connect, to authenticate and to read the table with a round trip of 200 ms.
   */
  public static final Duration MOMENT = Duration.ofSeconds(2);

  /**
   * The servers count as silent after this time without a reply. The time is shorter than {@link
   * #MOMENT}, so the servers already count as silent when a caller times out.
   */
  private static final Duration SILENCE = Duration.ofMillis(1500);

  /** The pause after the first failed load. It doubles with each failure, up to a minute. */
  private static final Duration FIRST_PAUSE = Duration.ofMillis(250);

  private static final int MOST_DOUBLINGS = 8;

  /**
   * The most collections with an entry. At this number, the tables of unused collections are
   * dropped early.
   */
  private static final int MOST_COLLECTIONS = 10_000;

  private static final Duration FIRST_EVIDENCE_GAP = Duration.ofMillis(200);
  private static final Duration LONGEST_EVIDENCE_GAP = Duration.ofSeconds(5);

  /**
   * The longest gap between refreshes after hints, for clients of shards. Shards refuse commands
   * with a stale table, so these clients need hints only for commands that go to several shards.
   * The gap may therefore be longer than {@link #LONGEST_EVIDENCE_GAP}.
   */
  private static final Duration LONGEST_EVIDENCE_GAP_FOR_SHARDS = Duration.ofMinutes(1);

  private final Duration longestEvidenceGap;
  private final @Nullable Views views;
  private final ConfigAnswers config;
  private final RoutingTableLoader loader;
  private final ChangedTables changes;
  private final RefreshListener listener;
  private final Map<String, Entry> entries = new ConcurrentHashMap<>();

  /** Called for every refresh. Implementations MUST be quick and MUST NOT throw. */
  public interface RefreshListener {
    /** A listener that does nothing. */
    RefreshListener NONE = (namespace, table, took, failure) -> {};

    /**
     * Called after a refresh.
     *
     * @param table the current table, null if the refresh failed
     * @param took the time from the first read to the replacement of the table
     * @param failure the failure, null if the refresh succeeded
     */
    void refreshed(
        String namespace, @Nullable RoutingTable table, Duration took, @Nullable Throwable failure);

    /**
     * Called when a table is dropped, because the collection was dropped or is not used any more.
     */
    default void forgotten(String namespace) {}
  }

  private static final class Entry {
    volatile @Nullable RoutingTable table;
    volatile long loadedNanos;

    /** The error if the namespace is a view; null if the namespace may have a table. */
    volatile @Nullable ViewException view;

    /** The {@code nanoTime} of the last check whether the namespace is a collection or a view. */
    volatile long kindNanos;

    volatile boolean used = true;
    volatile int failures;

    /** Whether an operation has timed out while waiting for the current load. */
    volatile boolean tooSlow;

    volatile long notBeforeNanos = System.nanoTime();
    volatile Duration evidenceGap = FIRST_EVIDENCE_GAP;
    final AtomicLong nextEvidenceNanos = new AtomicLong(System.nanoTime());
    final AtomicReference<@Nullable Mono<RoutingTable>> inFlight = new AtomicReference<>();
  }

  /** Creates a catalog for clients of mongoses. */
  public RoutingCatalog(ConfigReader config, RefreshListener listener) {
    this(config, false, null, listener);
  }

  private RoutingCatalog(
      ConfigReader config, boolean forShards, @Nullable Views views, RefreshListener listener) {
    this.longestEvidenceGap = forShards ? LONGEST_EVIDENCE_GAP_FOR_SHARDS : LONGEST_EVIDENCE_GAP;
    this.views = views;
    this.config = new ConfigAnswers(config);
    this.loader = new RoutingTableLoader(this.config, forShards, views);
    this.changes = new ChangedTables(this.config, loader::shardNames);
    this.listener = listener;
  }

  /**
   * Creates a catalog for clients of shards. For a view, the result is an error, a {@link
   * ViewException}, and no table. A sharded time series collection is an error, too. A shard would
   * treat the name of the time series as an unsharded collection.
   *
   * @param views finds views; null if views get tables, as unsharded collections do
   */
  public static RoutingCatalog forShards(
      ConfigReader config, @Nullable Views views, RefreshListener listener) {
    return new RoutingCatalog(config, true, views, listener);
  }

  /** The reader of the metadata that the catalog uses. */
  public ConfigReader config() {
    return config;
  }

  /** The loaded table, null if there is none. Never blocks and never queries the cluster. */
  public @Nullable RoutingTable cached(String namespace) {
    Entry entry = entries.get(namespace);
    if (entry == null) {
      return null;
    }
    if (!entry.used) {
      entry.used = true;
    }
    RoutingTable table = entry.table;
    return table != null && isKindKnown(namespace, entry, table) ? entry.table : null;
  }

  /**
   * Whether the namespace of a table is still known to be a collection. False if the last check is
   * too old, because the namespace may have become a view since then.
   */
  private boolean isKindKnown(String namespace, Entry entry, RoutingTable table) {
    if (table.isSharded() || views == null) {
      return true;
    }
    long age = System.nanoTime() - entry.kindNanos;
    long validFor = views.validFor().toNanos();
    if (age > validFor / 2) {
      loadInBackground(namespace);
    }
    // As long as a new check fails or gets no reply, the result of the last check stays valid.
    return age < validFor || entry.failures > 0 || entry.tooSlow;
  }

  /** The loaded tables. */
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

  /** The time since the loaded table was last confirmed as the newest; empty if there is none. */
  public Optional<Duration> age(String namespace) {
    Entry entry = entries.get(namespace);
    return entry == null || entry.table == null
        ? Optional.empty()
        : Optional.of(Duration.ofNanos(System.nanoTime() - entry.loadedNanos));
  }

  /** The ages of all loaded tables, in order of their namespaces. */
  public SortedMap<String, Duration> ages() {
    SortedMap<String, Duration> ages = new TreeMap<>();
    entries.keySet().forEach(namespace -> age(namespace).ifPresent(a -> ages.put(namespace, a)));
    return ages;
  }

  /** The loaded table. If no table is loaded, loads it now. */
  public Mono<RoutingTable> table(String namespace) {
    return Mono.defer(
        () -> {
          RoutingTable table = cached(namespace);
          if (table != null) {
            return Mono.just(table);
          }
          Entry entry = entry(namespace);
          ViewException view = validView(entry);
          if (view != null) {
            return Mono.error(view);
          }
          RoutingTable old = entry.table;
          return old == null
              ? refresh(namespace, null)
              : refresh(namespace, old)
                  .timeout(MOMENT, Mono.fromRunnable(() -> entry.tooSlow = true))
                  .defaultIfEmpty(old)
                  .onErrorResume(
                      failure ->
                          failure instanceof ViewException
                                  || failure instanceof UnknownNamespaceException
                              ? Mono.error(failure)
                              : Mono.just(old));
        });
  }

  /**
   * The error for a namespace that is a view; null if the namespace is no view, or if the last
   * check is too old.
   */
  private @Nullable ViewException validView(Entry entry) {
    ViewException view = entry.view;
    return view != null
            && views != null
            && System.nanoTime() - entry.kindNanos < views.validFor().toNanos()
        ? view
        : null;
  }

  /**
   * Like {@link #table}, for an operation that can also run without the table. Waits {@link
   * #MOMENT} at most. Does not wait if an earlier operation has timed out while it waited for this
   * load, or if the servers do not reply. The result is empty if there is no table by then. The
   * load continues in the background.
   */
  public Mono<RoutingTable> soon(String namespace) {
    return Mono.defer(
        () -> {
          RoutingTable table = cached(namespace);
          if (table != null) {
            return Mono.just(table);
          }
          Entry entry = entry(namespace);
          if (entry.table != null || validView(entry) != null) {
            return table(namespace);
          }
          if (entry.tooSlow || isSilent()) {
            loadInBackground(namespace);
            return Mono.empty();
          }
          return refresh(namespace, null)
              .timeout(
                  MOMENT, Mono.fromRunnable(() -> entry.tooSlow = entry.inFlight.get() != null));
        });
  }

  /** Whether the servers with the metadata do not reply. */
  public boolean isSilent() {
    return config.areMissingFor(SILENCE);
  }

  /**
   * Whether the table is missing and the last load failed or is too slow. Operations then do not
   * wait for the table.
   */
  public boolean isMissing(String namespace) {
    Entry entry = entries.get(namespace);
    return entry == null
        ? isSilent()
        : entry.table == null && (entry.failures > 0 || entry.tooSlow || isSilent());
  }

  /**
   * Loads the collection's metadata, unless a load is in flight or the pause after a failure is not
   * over.
   */
  public void loadInBackground(String namespace) {
    if (entry(namespace).inFlight.get() == null) {
      reloadIfDue(namespace)
          .subscribe(
              table -> {},
              failure -> log.debug("{}: not loaded: {}", namespace, failure.toString()),
              null,
              LateErrors.LOGGED);
    }
  }

  private Entry entry(String namespace) {
    Entry entry = entries.get(namespace);
    if (entry != null) {
      return entry;
    }
    if (entries.size() >= MOST_COLLECTIONS) {
      makeRoom();
    }
    return entries.computeIfAbsent(namespace, name -> new Entry());
  }

  private void makeRoom() {
    forgetUnused();
    Iterator<String> any = entries.keySet().iterator();
    while (entries.size() >= MOST_COLLECTIONS && any.hasNext()) {
      forget(any.next());
    }
  }

  /**
   * Returns a newer table than {@code seen}. If the loaded table is not {@code seen}, another
   * caller has already refreshed it, and the method returns the loaded table. Otherwise the method
   * refreshes the table. Concurrent callers share one refresh.
   *
   * @param seen the table that is known to be stale, null if no table is
   */
  public Mono<RoutingTable> refresh(String namespace, @Nullable RoutingTable seen) {
    return Mono.defer(
        () -> {
          Entry entry = entry(namespace);
          RoutingTable current = entry.table;
          return current != null && current != seen ? Mono.just(current) : flight(namespace, entry);
        });
  }

  /**
   * Reads the collection's metadata again, unless the pause after a failure is not over. The pause
   * doubles with each failure, up to a minute. Each pause is longer or shorter at random, by half
   * at most.
   */
  public Mono<RoutingTable> reloadIfDue(String namespace) {
    return Mono.defer(
        () -> {
          Entry entry = entry(namespace);
          return System.nanoTime() - entry.notBeforeNanos < 0
              ? Mono.empty()
              : flight(namespace, entry);
        });
  }

  /**
   * Refreshes the given collections whose metadata have changed. The check takes a few reads for
   * all collections together.
   */
  public Mono<Void> reloadChanged(Collection<String> namespaces) {
    return Mono.defer(
        () -> {
          long start = System.nanoTime();
          List<RoutingTable> known = new ArrayList<>();
          List<String> due = new ArrayList<>();
          for (String namespace : namespaces) {
            Entry entry = entries.get(namespace);
            RoutingTable table = entry == null ? null : entry.table;
            if (table != null) {
              known.add(table);
            } else if (entry != null) {
              due.add(namespace);
            }
          }
          return changes
              .among(known)
              .doOnNext(changed -> known.forEach(table -> confirm(table, changed, start)))
              // A table that was dropped during the check is not loaded again.
              .doOnNext(changed -> changed.stream().filter(entries::containsKey).forEach(due::add))
              .onErrorResume(
                  failure -> {
                    log.debug("the changes were not read: {}", failure.toString());
                    return Mono.empty();
                  })
              .thenMany(Flux.fromIterable(due))
              .concatMap(namespace -> reloadIfDue(namespace).onErrorComplete())
              .then();
        });
  }

  private void confirm(RoutingTable table, Set<String> changed, long start) {
    Entry entry = entries.get(table.namespace());
    if (entry != null
        && entry.table == table
        && !changed.contains(table.namespace())
        && start - entry.loadedNanos > 0) {
      entry.loadedNanos = start;
    }
  }

  /**
   * Refreshes a table in the background after a hint that it is stale. As long as these refreshes
   * find no newer table, the gap between them grows. The gap is at most five seconds. For clients
   * of shards, it is at most a minute.
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
                      : doubled.compareTo(longestEvidenceGap) < 0 ? doubled : longestEvidenceGap;
            },
            failure -> log.debug("{}: not refreshed: {}", namespace, failure.toString()),
            null,
            LateErrors.LOGGED);
  }

  /**
   * Drops the tables of collections that no operation has used since the last call, so that they
   * are not refreshed for ever.
   */
  public void forgetUnused() {
    entries.forEach(
        (namespace, entry) -> {
          if (!entry.used) {
            forget(namespace);
          }
          entry.used = false;
        });
  }

  /** The namespaces with a table or with a requested table. */
  public Collection<String> namespaces() {
    return List.copyOf(entries.keySet());
  }

  /** Drops a collection's table. */
  public void forget(String namespace) {
    if (entries.remove(namespace) != null) {
      listener.forgotten(namespace);
    }
  }

  private Mono<RoutingTable> flight(String namespace, Entry entry) {
    Mono<RoutingTable> running = entry.inFlight.get();
    if (running != null) {
      return running;
    }
    AtomicReference<@Nullable Mono<RoutingTable>> self = new AtomicReference<>();
    Mono<RoutingTable> started =
        load(namespace, entry)
            // The load is removed from the entry before its result is emitted. A refusal after this
            // result therefore starts a new load.
            .doOnTerminate(() -> entry.inFlight.compareAndSet(self.get(), null))
            .contextWrite(LateErrors::logged)
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
              .doOnNext(
                  table -> {
                    entry.table = table;
                    entry.loadedNanos = System.nanoTime();
                    entry.kindNanos = entry.loadedNanos;
                    entry.view = null;
                    entry.failures = 0;
                    entry.tooSlow = false;
                    Duration took = Duration.ofNanos(System.nanoTime() - start);
                    log.debug("{}: table of {} read in {}", namespace, table.shards(), took);
                    report(namespace, entry, table, took, null);
                  })
              .doOnError(
                  failure -> {
                    log.debug("{}: no new routing table: {}", namespace, failure.toString());
                    if (failure instanceof ViewException view) {
                      entry.view = view;
                      entry.kindNanos = System.nanoTime();
                    } else {
                      backOff(entry);
                    }
                    if (failure instanceof ViewException
                        || failure instanceof UnknownNamespaceException) {
                      // The collection was dropped, so the old table is invalid.
                      entry.table = null;
                      listener.forgotten(namespace);
                    }
                    if (!(failure instanceof TimeoutException)) {
                      entry.tooSlow = false;
                    }
                    Duration took = Duration.ofNanos(System.nanoTime() - start);
                    report(namespace, entry, null, took, failure);
                  });
        });
  }

  private void report(
      String namespace,
      Entry entry,
      @Nullable RoutingTable table,
      Duration took,
      @Nullable Throwable failure) {
    // A table that was dropped during the load is not reported.
    if (entries.get(namespace) == entry) {
      listener.refreshed(namespace, table, took, failure);
    }
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
