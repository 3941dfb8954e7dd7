package dev.onehop.copy.verify;

import com.mongodb.MongoClientSettings;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.internal.structure.StructureReader;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Compares the collections of two clusters or replica sets: their documents byte by byte, their
 * options, indexes and shard keys. Both may be written to meanwhile, if the destination follows the
 * source, as during a copy.
 *
 * <p>Documents are matched by {@code _id}, those of a time series by their time. Each side is read
 * in ranges of keys, from the primaries of the shards that own them, so that what migrations leave
 * behind is not seen. What differs is looked at again until it is equal or has stood still for
 * longer than the destination may be behind.
 *
 * <p>The memory it takes does not grow with the data.
 *
 * <pre>{@code
 * VerifyReport report = ClusterVerification.builder(sourceUrl, destinationUrl).build().run();
 * }</pre>
 *
 * <p>Thread-safe; a verification runs once.
 */
public final class ClusterVerification {
  /** The phase in which servers are asked what they are. */
  public static final String CONNECTING = "connecting";

  private static final Set<String> OF_THE_SERVERS = Set.of("admin", "config", "local");

  private static final int MEGABYTES = 96;
  private static final int MOST_ROUNDS = 10;

  private final Builder settings;
  private final Mapping mapping;
  private final AtomicInteger details;

  private final AtomicLong documents = new AtomicLong();
  private final AtomicLong expected = new AtomicLong();
  private final AtomicInteger ranges = new AtomicInteger();
  private final AtomicInteger allRanges = new AtomicInteger();
  private final AtomicInteger resumed = new AtomicInteger();
  private final AtomicLong differing = new AtomicLong();
  private volatile String phase = CONNECTING;
  private volatile @Nullable SecondLooks looks;

  private ClusterVerification(Builder settings, Mapping mapping) {
    this.settings = settings;
    this.mapping = mapping;
    this.details = new AtomicInteger(settings.details);
  }

  /**
   * Starts from the URLs of mongoses or replica sets.
   *
   * @param from the source
   * @param to the destination
   */
  public static Builder builder(String from, String to) {
    return new Builder(from, to);
  }

  /** Collects what a verification is. Not thread-safe. */
  public static final class Builder {
    private final String from;
    private final String to;
    private Consumer<MongoClientSettings.Builder> changeFrom = client -> {};
    private Consumer<MongoClientSettings.Builder> changeTo = client -> {};
    private List<String> included = List.of();
    private List<String> excluded = List.of();
    private Map<String, String> renamed = Map.of();
    private Map<String, BsonDocument> filters = Map.of();
    private @Nullable Path state;
    private Duration settle = Duration.ofSeconds(10);
    private double rate;
    private int parallel = 4;
    private int details = 20;
    private boolean throughMongos;
    private long perRange = 20_000;

    private Builder(String from, String to) {
      this.from = Objects.requireNonNull(from, "from");
      this.to = Objects.requireNonNull(to, "to");
    }

    /** Changes the settings of the clients of the source: credentials, TLS. */
    public Builder applyToSource(Consumer<MongoClientSettings.Builder> change) {
      this.changeFrom = Objects.requireNonNull(change, "change");
      return this;
    }

    /** Changes the settings of the clients of the destination: credentials, TLS. */
    public Builder applyToDestination(Consumer<MongoClientSettings.Builder> change) {
      this.changeTo = Objects.requireNonNull(change, "change");
      return this;
    }

    /**
     * Which collections of the source are compared, each {@code database} or {@code
     * database.collection}, where {@code *} stands for any characters; by default all but those of
     * {@code admin}, {@code config} and {@code local} and system collections.
     */
    public Builder include(List<String> patterns) {
      this.included = List.copyOf(patterns);
      return this;
    }

    /** Which are not, even if they are included. */
    public Builder exclude(List<String> patterns) {
      this.excluded = List.copyOf(patterns);
      return this;
    }

    /**
     * What has another name at the destination: from database to database, or from {@code
     * database.collection} to {@code database.collection}.
     */
    public Builder rename(Map<String, String> names) {
      this.renamed = Map.copyOf(names);
      return this;
    }

    /**
     * Of which documents the destination should have those that a query filter selects, by
     * collection of the source.
     */
    public Builder filter(Map<String, BsonDocument> byCollection) {
      this.filters = Map.copyOf(byCollection);
      return this;
    }

    /**
     * A file that says what is done. A verification that is started again with it goes on with the
     * ranges that are not done.
     */
    public Builder state(Path file) {
      this.state = file;
      return this;
    }

    /**
     * By how much the destination may be behind the source, which is how long a difference must
     * stand still to be one; 10 seconds by default.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public Builder settle(Duration time) {
      if (time.isNegative()) {
        throw new IllegalArgumentException("settle must not be negative: " + time);
      }
      this.settle = time;
      return this;
    }

    /**
     * How many keys a second are compared, at most; by default there is no limit.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public Builder maxRate(double perSecond) {
      if (!(perSecond > 0)) {
        throw new IllegalArgumentException("maxRate must be positive: " + perSecond);
      }
      this.rate = perSecond;
      return this;
    }

    /**
     * How many ranges are compared at the same time, at most, from 1 to 64; 4 by default.
     *
     * @throws IllegalArgumentException if it is out of range
     */
    public Builder parallel(int count) {
      if (count < 1 || count > 64) {
        throw new IllegalArgumentException("parallel must be from 1 to 64: " + count);
      }
      this.parallel = count;
      return this;
    }

    /**
     * How many differing keys the report names, at most; 20 by default.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public Builder details(int count) {
      if (count < 0) {
        throw new IllegalArgumentException("details must not be negative: " + count);
      }
      this.details = count;
      return this;
    }

    /**
     * Whether sharded clusters are read through their mongoses only. By default their shards are
     * read themselves, where they can be reached and know the user.
     */
    public Builder throughMongos(boolean only) {
      this.throughMongos = only;
      return this;
    }

    /**
     * How many documents a range has, about, which is what is read again of each range that was
     * being compared when a verification was killed; 20,000 by default, and fewer where they are
     * large. A collection has 4,096 ranges at most.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public Builder documentsPerRange(long count) {
      if (count < 1) {
        throw new IllegalArgumentException("documentsPerRange must be positive: " + count);
      }
      this.perRange = count;
      return this;
    }

    /**
     * A verification that has not begun.
     *
     * @throws IllegalArgumentException if a pattern or a name is malformed, or two collections get
     *     the same name
     */
    public ClusterVerification build() {
      return new ClusterVerification(this, new Mapping(included, excluded, renamed, filters, null));
    }
  }

  /** How far it is. */
  public VerifyProgress progress() {
    SecondLooks now = looks;
    return new VerifyProgress(
        phase,
        documents.get(),
        expected.get(),
        ranges.get(),
        allRanges.get(),
        now == null ? 0 : now.waiting(),
        differing.get());
  }

  /**
   * Compares, and returns when all is compared. Both clusters are only read.
   *
   * @throws IllegalArgumentException if a URL names something else than a cluster or a replica set,
   *     both name the same, or the state is another verification's
   * @throws UncheckedIOException if the state can't be read or written
   * @throws com.mongodb.MongoException if a cluster can't be read
   * @throws IllegalStateException if collections or indexes are changed faster than they can be
   *     compared
   * @throws InterruptedException if the thread is interrupted; then nothing goes on
   */
  public VerifyReport run() throws InterruptedException {
    try (Side source =
            Side.connect("source", settings.from, settings.changeFrom, settings.throughMongos);
        Side destination =
            Side.connect("destination", settings.to, settings.changeTo, settings.throughMongos)) {
      if (mapping.renamed().isEmpty()) {
        refuseSameCluster(source, destination);
      }
      if (settings.state == null) {
        return new Run(source, destination, null).compare();
      }
      try (StateFile state = StateFile.open(settings.state, what(source, destination))) {
        return new Run(source, destination, state).compare();
      }
    } catch (RuntimeException e) {
      if (Waits.isInterruption(e)) {
        InterruptedException interrupted = new InterruptedException();
        interrupted.initCause(e);
        throw interrupted;
      }
      throw e;
    }
  }

  private static void refuseSameCluster(Side source, Side destination) {
    if (source.identity().equals(destination.identity())) {
      throw new IllegalArgumentException(
          "source and destination are the same cluster, "
              + source.identity()
              + ": rename what is compared with something else there");
    }
  }

  /** What is compared, as far as it has to be the same when it is resumed. */
  private BsonDocument what(Side source, Side destination) {
    BsonDocument names = new BsonDocument();
    new TreeMap<>(mapping.renamed()).forEach((from, to) -> names.append(from, new BsonString(to)));
    BsonDocument selected = new BsonDocument();
    new TreeMap<>(mapping.filters())
        .forEach((from, filter) -> selected.append(from, new BsonString(filter.toJson())));
    return new BsonDocument("from", new BsonString(source.identity()))
        .append("to", new BsonString(destination.identity()))
        .append("included", strings(mapping.included()))
        .append("excluded", strings(mapping.excluded()))
        .append("renamed", names)
        .append("filters", selected);
  }

  private static BsonArray strings(List<String> values) {
    return new BsonArray(values.stream().sorted().map(BsonString::new).toList());
  }

  /** One run over two clusters. */
  private final class Run implements CollectionWork.Shared {
    private final Side source;
    private final Side destination;
    private final @Nullable StateFile state;
    private final Map<String, CollectionWork> compared = new LinkedHashMap<>();

    Run(Side source, Side destination, @Nullable StateFile state) {
      this.source = source;
      this.destination = destination;
      this.state = state;
    }

    VerifyReport compare() throws InterruptedException {
      Set<MetadataDifference> before = null;
      for (int round = 0; round < MOST_ROUNDS; round++) {
        phase = "reading collections and indexes";
        long begun = System.nanoTime();
        MetadataComparison metadata = metadata();
        List<CollectionPair> changed = new ArrayList<>();
        for (CollectionPair pair : metadata.pairs()) {
          CollectionWork known = compared.get(pair.namespace());
          if (known == null || !known.pair().isSameAs(pair)) {
            changed.add(pair);
          }
        }
        compared
            .keySet()
            .retainAll(metadata.pairs().stream().map(CollectionPair::namespace).toList());
        Set<MetadataDifference> now = new HashSet<>(metadata.differences());
        // What was there before and still is, is no change that is still on its way.
        if (before != null && changed.isEmpty() && before.containsAll(now)) {
          return report(metadata.differences());
        }
        if (!changed.isEmpty()) {
          compareDocuments(changed);
        }
        if (!now.isEmpty()) {
          phase = "waiting before collections and indexes are read again";
          long left = settings.settle.toNanos() - (System.nanoTime() - begun);
          TimeUnit.NANOSECONDS.sleep(Math.max(0, left));
        }
        before = now;
      }
      throw new IllegalStateException(
          "collections, options or indexes keep being changed: they can't be compared");
    }

    private VerifyReport report(List<MetadataDifference> metadata) {
      long[] sums = new long[5];
      List<Difference> found = new ArrayList<>();
      for (CollectionWork collection : compared.values()) {
        for (RangeWork range : collection.ranges()) {
          RangeWork.Result result = range.result();
          sums[0] += result.compared();
          sums[1] += result.missing();
          sums[2] += result.extra();
          sums[3] += result.different();
          sums[4] += result.unsettled();
          found.addAll(result.details());
        }
      }
      if (state != null && sums[4] == 0) {
        state.finish();
      }
      return new VerifyReport(
          sums[0],
          sums[1],
          sums[2],
          sums[3],
          sums[4],
          metadata,
          found.subList(0, Math.min(settings.details, found.size())),
          resumed.get());
    }

    private MetadataComparison metadata() throws InterruptedException {
      SortedMap<String, CollectionSpec> from = read(source, mapping::concerns, this::destinationOf);
      SortedMap<String, CollectionSpec> to =
          read(
              destination,
              database -> !OF_THE_SERVERS.contains(database),
              namespace -> isExpected(namespace) ? namespace : null);
      if (from.isEmpty() && to.isEmpty() && !mapping.included().isEmpty()) {
        throw new IllegalArgumentException(
            "neither cluster has a collection that is included and not excluded");
      }
      if (from.keySet().stream().anyMatch(name -> name.equals(mapping.destination(name)))) {
        refuseSameCluster(source, destination);
      }
      MetadataComparison metadata =
          new MetadataComparison(
              mapping, source.cluster().isSharded() && destination.cluster().isSharded());
      metadata.compare(from, to);
      return metadata;
    }

    private static SortedMap<String, CollectionSpec> read(
        Side side, Predicate<String> databases, Function<String, @Nullable String> destinations)
        throws InterruptedException {
      SortedMap<String, CollectionSpec> specs = new TreeMap<>();
      for (CollectionSpec spec :
          new StructureReader(side.cluster(), databases, destinations).read()) {
        specs.put(spec.namespace(), spec);
      }
      return specs;
    }

    /** The buckets of a time series are what the server makes of its documents. */
    private @Nullable String destinationOf(String namespace) {
      return namespace.startsWith(Mapping.databaseOf(namespace) + ".system.")
          ? null
          : mapping.destination(namespace);
    }

    /** Whether a collection of the source could be mapped to this one. */
    private boolean isExpected(String namespace) {
      String database = Mapping.databaseOf(namespace);
      String name = namespace.substring(database.length() + 1);
      List<String> candidates = new ArrayList<>(List.of(namespace));
      mapping
          .renamed()
          .forEach(
              (from, to) -> {
                if (to.equals(namespace)) {
                  candidates.add(from);
                } else if (to.equals(database)) {
                  candidates.add(from + "." + name);
                }
              });
      return candidates.stream().anyMatch(candidate -> namespace.equals(destinationOf(candidate)));
    }

    private void compareDocuments(List<CollectionPair> pairs) throws InterruptedException {
      List<RangeWork> todo = new ArrayList<>();
      for (CollectionPair pair : pairs) {
        phase = "dividing collections into ranges";
        CollectionWork collection = plan(pair);
        compared.put(pair.namespace(), collection);
        for (RangeWork range : collection.ranges()) {
          if (!range.isDone()) {
            todo.add(range);
          }
        }
      }
      // Neighbours are on the same shard, mostly.
      Collections.shuffle(todo, new Random(1));
      phase = "comparing documents";
      compareRanges(todo);
    }

    private CollectionWork plan(CollectionPair pair) throws InterruptedException {
      List<BsonValue> bounds = state == null ? null : state.bounds(pair);
      CollectionWork collection =
          CollectionWork.plan(pair, source, destination, this, bounds, settings.perRange);
      allRanges.addAndGet(collection.ranges().size());
      int done = 0;
      if (state != null && bounds == null) {
        state.begin(pair, collection.bounds());
      } else if (state != null) {
        for (Map.Entry<Integer, RangeWork.Result> entry : state.done(pair).entrySet()) {
          collection.ranges().get(entry.getKey()).restore(entry.getValue());
          details.addAndGet(-entry.getValue().details().size());
          done++;
        }
      }
      resumed.addAndGet(done);
      ranges.addAndGet(done);
      int all = collection.ranges().size();
      expected.addAndGet(collection.estimate() * (all - done) / all);
      return collection;
    }

    private void compareRanges(List<RangeWork> todo) throws InterruptedException {
      SecondLooks second = new SecondLooks(settings.settle);
      looks = second;
      Pace pace = new Pace(settings.rate);
      Semaphore memory = new Semaphore(MEGABYTES);
      ExecutorService threads =
          Executors.newFixedThreadPool(
              settings.parallel + 1, task -> new Thread(task, "onehop-verify"));
      try {
        CompletionService<@Nullable Void> tasks = new ExecutorCompletionService<>(threads);
        tasks.submit(second);
        for (RangeWork range : todo) {
          tasks.submit(
              () -> {
                int megabytes = Math.min(MEGABYTES, Math.max(1, range.collection().megabytes()));
                memory.acquire(megabytes);
                try {
                  range.read(second, pace);
                } finally {
                  memory.release(megabytes);
                }
                return null;
              });
        }
        int left = todo.size();
        if (left == 0) {
          second.complete();
        }
        for (int i = 0; i <= todo.size(); i++) {
          tasks.take().get();
          // The second looks end last, as they wait for what the ranges find.
          if (--left == 0) {
            phase = "looking again at what differs";
            second.complete();
          }
        }
      } catch (ExecutionException e) {
        throw rethrown(e.getCause());
      } finally {
        threads.shutdownNow();
        if (!threads.awaitTermination(1, TimeUnit.MINUTES)) {
          phase = "waiting for reads to end";
        }
        looks = null;
      }
    }

    private RuntimeException rethrown(@Nullable Throwable cause) throws InterruptedException {
      if (cause instanceof InterruptedException interrupted) {
        throw interrupted;
      }
      if (cause instanceof RuntimeException failure) {
        return failure;
      }
      if (cause instanceof Error error) {
        throw error;
      }
      return new CancellationException(String.valueOf(cause));
    }

    @Override
    public void counted() {
      documents.incrementAndGet();
    }

    @Override
    public boolean wantsDetail() {
      differing.incrementAndGet();
      return details.get() > 0 && details.getAndDecrement() > 0;
    }

    @Override
    public void done(RangeWork range) {
      // What keeps changing is compared again by the next run.
      if (state != null && range.result().unsettled() == 0) {
        state.done(range);
      }
      ranges.incrementAndGet();
    }
  }
}
