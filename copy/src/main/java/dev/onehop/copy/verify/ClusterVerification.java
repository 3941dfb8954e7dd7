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

  private final Builder settings;
  private final Mapping mapping;
  private final VerifyMeter meter;

  private ClusterVerification(Builder settings, Mapping mapping) {
    this.settings = settings;
    this.mapping = mapping;
    this.meter = new VerifyMeter(settings.details);
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
    return meter.progress();
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
}
