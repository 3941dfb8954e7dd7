package dev.onehop.copy.verify;

import com.mongodb.MongoClientSettings;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.Waits;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/**
 * Compares the collections of two clusters or replica sets: the bytes of the documents, the
 * options, the indexes and the shard keys. The source may receive writes during the comparison if
 * the destination follows the source, as in a copy.
 *
 * <p>Documents of the two clusters are matched by their {@code _id}, in a time series by their
 * time. Both clusters are read in ranges of keys, from the primaries of the owning shards, without
 * orphaned documents. Documents that differ are read again, because the destination may be behind
 * the source. They count as different only if they have not changed for a given time, {@link
 * Builder#settle}.
 *
 * <p>The memory that the comparison needs does not grow with the data.
 *
 * <pre>{@code
 * VerifyReport report = ClusterVerification.builder(sourceUrl, destinationUrl).build().run();
 * }</pre>
 *
 * <p>Thread-safe. A verification runs once.
 */
public final class ClusterVerification {
  /** The phase in which the verification connects to both sides. */
  public static final String CONNECTING = "connecting";

  private final Builder settings;
  private final Mapping mapping;
  private final VerifyMeter meter;

  private ClusterVerification(Builder settings, Mapping mapping) {
    this.settings = settings;
    this.mapping = mapping;
    this.meter = new VerifyMeter(settings.details);
  }

  /**
   * Creates a builder from two URLs, each of mongoses or of a replica set.
   *
   * @param from the source's URL
   * @param to the destination's URL
   */
  public static Builder builder(String from, String to) {
    return new Builder(from, to);
  }

  /** Collects the settings of a verification. Not thread-safe. */
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
    private int details = 20;
    private boolean throughMongos;
    Duration settle = Duration.ofSeconds(10);
    double rate = Double.POSITIVE_INFINITY;
    int parallel = 4;
    long perRange = 20_000;

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
     * Sets which collections of the source are compared: patterns {@code database} or {@code
     * database.collection}, where {@code *} matches any characters. The default is all collections,
     * except system collections and the databases {@code admin}, {@code config} and {@code local}.
     */
    public Builder include(List<String> patterns) {
      this.included = List.copyOf(patterns);
      return this;
    }

    /** Sets patterns of collections that are not compared, even if they are included. */
    public Builder exclude(List<String> patterns) {
      this.excluded = List.copyOf(patterns);
      return this;
    }

    /**
     * Sets the names that are different at the destination. The keys are names of the source, the
     * values are names of the destination. A key and its value are either both {@code database} or
     * both {@code database.collection}.
     */
    public Builder rename(Map<String, String> names) {
      this.renamed = Map.copyOf(names);
      return this;
    }

    /**
     * Sets query filters. The destination of a collection with a filter is expected to have only
     * the documents that match the filter.
     *
     * @param byCollection the filters by the name of the source's collection, {@code
     *     database.collection}
     */
    public Builder filter(Map<String, BsonDocument> byCollection) {
      this.filters = Map.copyOf(byCollection);
      return this;
    }

    /**
     * Sets a file that records finished ranges. A later verification with this file compares only
     * the other ranges.
     */
    public Builder state(Path file) {
      this.state = file;
      return this;
    }

    /**
     * Sets how far the destination may be behind the source; 10 seconds by default. Documents count
     * as different only if they have not changed for this time.
     *
     * @throws IllegalArgumentException if the time is negative
     */
    public Builder settle(Duration time) {
      if (time.isNegative()) {
        throw new IllegalArgumentException("settle must not be negative: " + time);
      }
      this.settle = time;
      return this;
    }

    /**
     * Limits how many keys are compared per second; by default there is no limit.
     *
     * @throws IllegalArgumentException if the limit is not positive
     */
    public Builder maxRate(double perSecond) {
      if (!(perSecond > 0)) {
        throw new IllegalArgumentException("maxRate must be positive: " + perSecond);
      }
      this.rate = perSecond;
      return this;
    }

    /**
     * Sets the largest number of ranges that are compared at the same time: from 1 to 64, 4 by
     * default.
     *
     * @throws IllegalArgumentException if the number is out of range
     */
    public Builder parallel(int count) {
      if (count < 1 || count > 64) {
        throw new IllegalArgumentException("parallel must be from 1 to 64: " + count);
      }
      this.parallel = count;
      return this;
    }

    /**
     * Sets the most differing keys that the report names; 20 by default.
     *
     * @throws IllegalArgumentException if the number is negative
     */
    public Builder details(int count) {
      if (count < 0) {
        throw new IllegalArgumentException("details must not be negative: " + count);
      }
      this.details = count;
      return this;
    }

    /**
     * Sets whether sharded clusters are read only through their mongoses. By default their shards
     * are read directly, if they are reachable and accept the user.
     */
    public Builder throughMongos(boolean only) {
      this.throughMongos = only;
      return this;
    }

    /**
     * Sets the approximate number of documents in a range: 20,000 by default. A range has fewer
     * documents if they are large. If the process is killed, a later verification with the same
     * state file reads the unfinished ranges again. A collection has at most 4,096 ranges, so the
     * ranges of a very large collection have more documents.
     *
     * @throws IllegalArgumentException if the number is not positive
     */
    public Builder documentsPerRange(long count) {
      if (count < 1) {
        throw new IllegalArgumentException("documentsPerRange must be positive: " + count);
      }
      this.perRange = count;
      return this;
    }

    /**
     * Creates a verification. It does not connect yet.
     *
     * @throws IllegalArgumentException if a pattern or a name is malformed, or two collections get
     *     the same name
     */
    public ClusterVerification build() {
      return new ClusterVerification(this, new Mapping(included, excluded, renamed, filters, null));
    }
  }

  /** Returns the progress of the verification. */
  public VerifyProgress progress() {
    return meter.progress();
  }

  /**
   * Runs the verification and returns its result. It only reads from the two clusters.
   *
   * @throws IllegalArgumentException if a URL names config servers or one shard of a cluster, a
   *     cluster is too old, a collection would be compared with itself, or the state file belongs
   *     to another verification
   * @throws UncheckedIOException if the state file can't be read or written
   * @throws com.mongodb.MongoException if a cluster can't be read
   * @throws IllegalStateException if collections or indexes change faster than they can be compared
   * @throws InterruptedException if the thread is interrupted; the verification has stopped then
   */
  public VerifyReport run() throws InterruptedException {
    try (Side source =
            Side.connect("source", settings.from, settings.changeFrom, settings.throughMongos);
        Side destination =
            Side.connect("destination", settings.to, settings.changeTo, settings.throughMongos)) {
      if (mapping.renamed().isEmpty()) {
        source.refuseSameCluster(destination);
      }
      if (settings.state == null) {
        return compare(source, destination, null);
      }
      try (StateFile state = StateFile.open(settings.state, what(source, destination))) {
        VerifyReport report = compare(source, destination, state);
        if (report.unsettled() == 0) {
          state.finish();
        }
        return report;
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

  private VerifyReport compare(Side source, Side destination, @Nullable StateFile state)
      throws InterruptedException {
    DocumentComparison documents =
        new DocumentComparison(source, destination, settings, state, meter);
    return new Rounds(source, destination, mapping, settings.settle, documents, meter)
        .compare(settings.details);
  }

  /** The clusters and settings that must be the same when a state file is used again. */
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
}
