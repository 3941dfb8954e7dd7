package dev.onehop.copy;

import com.mongodb.MongoClientSettings;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.structure.ReadOrder;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/**
 * Copies a replica set or a sharded cluster to another one, while the source receives writes and
 * ranges move at both.
 *
 * <pre>{@code
 * try (ClusterCopy copy =
 *     ClusterCopy.builder("mongodb://old1,old2/", "mongodb://new1,new2/").job("move").build()) {
 *   copy.run();
 * }
 * }</pre>
 *
 * <p>Documents are read directly from the primaries of the source's shards, each range from its
 * owner with a shard version. They are written over the destination's mongoses. The destination
 * stores the state of the copy in the database {@value #STATE_DATABASE}, without any password, so
 * that another process can resume it. One process at a time works on a job. Another one can take it
 * over when the first has not renewed its lease. Late writes of the first have no effect then.
 *
 * <p>Thread-safe.
 */
public final class ClusterCopy implements AutoCloseable {
  /** The database of the state. It can be dropped when the copy is done. */
  public static final String STATE_DATABASE = Mapping.STATE_DATABASE;

  private final CopyRun run;

  private ClusterCopy(CopySettings settings) {
    this.run = new CopyRun(settings);
  }

  /**
   * Starts a builder with two connection strings and their usual options.
   *
   * @param from the connection string of the source: mongoses of a sharded cluster, or a replica
   *     set
   * @param to the connection string of the destination
   * @throws IllegalArgumentException if one is malformed
   */
  public static Builder builder(String from, String to) {
    return new Builder(from, to);
  }

  /**
   * Runs all phases of the settings. Called once. It waits while servers are unreachable, and then
   * continues.
   *
   * @throws CopyException if it can't begin or can't continue
   * @throws InterruptedException if the thread is interrupted; the job can be resumed
   */
  public void run() throws InterruptedException {
    run.run();
  }

  /** Returns the progress. Never blocks. */
  public CopyProgress progress() {
    return run.progress();
  }

  /** Ends {@link #run} if it runs, and closes all connections. The job can be resumed. */
  @Override
  public void close() {
    run.close();
  }

  /** How a copy begins. */
  public enum Begin {
    /** Begins a job. Refuses a destination that has the job, or collections of the copy. */
    NEW,
    /** Continues the job. */
    RESUME,
    /** Drops the job and the collections to copy, and begins a job. */
    OVERWRITE
  }

  /** Collects the settings of a copy. Not thread-safe. */
  public static final class Builder {
    private static final int MOST_READERS = 64;
    private static final int MOST_DOCUMENTS = 100_000;
    private static final Duration LEAST_LEASE = Duration.ofSeconds(2);

    private final String from;
    private final String to;
    private Consumer<MongoClientSettings.Builder> fromSettings = settings -> {};
    private Consumer<MongoClientSettings.Builder> toSettings = settings -> {};
    private String job = "copy";
    private Begin begin = Begin.NEW;
    private Set<CopyPhase> phases =
        EnumSet.of(CopyPhase.STRUCTURE, CopyPhase.FULL, CopyPhase.INDEXES);
    private final List<String> included = new ArrayList<>();
    private final List<String> excluded = new ArrayList<>();
    private final Map<String, String> renamed = new HashMap<>();
    private final Map<String, BsonDocument> filters = new HashMap<>();
    private @Nullable BiFunction<String, RawBsonDocument, @Nullable BsonDocument> transformation;
    private Set<CopyOperation> operations = EnumSet.allOf(CopyOperation.class);
    private int readersPerShard = 4;
    private int batchSize = 1_000;
    private long rangeBytes = 32L << 20;
    private double documentsPerSecond = Double.POSITIVE_INFINITY;
    private double bytesPerSecond = Double.POSITIVE_INFINITY;
    private Duration lease = Duration.ofSeconds(10);
    private boolean reverse;
    private boolean ignoreSpace;
    private @Nullable ReadOrder order;

    private Builder(String from, String to) {
      this.from = Objects.requireNonNull(from, "from");
      this.to = Objects.requireNonNull(to, "to");
    }

    /** Changes the driver's settings of all connections to the source, such as credentials. */
    public Builder fromSettings(Consumer<MongoClientSettings.Builder> change) {
      this.fromSettings = Objects.requireNonNull(change, "change");
      return this;
    }

    /** Changes the driver's settings of all connections to the destination. */
    public Builder toSettings(Consumer<MongoClientSettings.Builder> change) {
      this.toSettings = Objects.requireNonNull(change, "change");
      return this;
    }

    /** Sets the name under which the state is stored; {@code copy} by default. */
    public Builder job(String name) {
      if (name.isBlank()) {
        throw new IllegalArgumentException("a job has a name");
      }
      this.job = name;
      return this;
    }

    /** Sets how the copy begins; {@link Begin#NEW} by default. */
    public Builder begin(Begin wanted) {
      this.begin = Objects.requireNonNull(wanted, "wanted");
      return this;
    }

    /**
     * Sets the phases to run; structure, full and indexes by default.
     *
     * @throws IllegalArgumentException if the set is empty
     */
    public Builder phases(Set<CopyPhase> wanted) {
      if (wanted.isEmpty()) {
        throw new IllegalArgumentException("no phase");
      }
      this.phases = EnumSet.copyOf(wanted);
      return this;
    }

    /**
     * Copies only these collections; by default all except the servers' own.
     *
     * @param patterns {@code database} or {@code database.collection}, where {@code *} matches any
     *     characters
     */
    public Builder include(List<String> patterns) {
      included.addAll(patterns);
      return this;
    }

    /** Leaves these collections out, even if they are included. */
    public Builder exclude(List<String> patterns) {
      excluded.addAll(patterns);
      return this;
    }

    /**
     * Gives a database or a collection another name at the destination. Views that read a renamed
     * collection by {@code $lookup} are not changed.
     *
     * @param name {@code database}, or {@code database.collection}, which has precedence
     * @param newName of the same kind
     */
    public Builder rename(String name, String newName) {
      renamed.put(name, newName);
      return this;
    }

    /** Copies only the documents of a collection that a query filter selects. */
    public Builder filter(String namespace, Bson filter) {
      filters.put(namespace, filter.toBsonDocument());
      return this;
    }

    /**
     * Changes or leaves out documents during the copy.
     *
     * @param change receives the collection at the source and a document, and returns the document
     *     to write, or null for none. It MUST keep {@code _id} and the fields of the shard key, and
     *     return the same result for the same document. Several threads call it
     */
    public Builder transform(BiFunction<String, RawBsonDocument, @Nullable BsonDocument> change) {
      this.transformation = Objects.requireNonNull(change, "change");
      return this;
    }

    /**
     * Applies only these changes of the source; all by default. If some are missing, the
     * destination may never equal a state of the source.
     *
     * @throws IllegalArgumentException if the set is empty
     */
    public Builder operations(Set<CopyOperation> wanted) {
      if (wanted.isEmpty()) {
        throw new IllegalArgumentException("no operation");
      }
      this.operations = EnumSet.copyOf(wanted);
      return this;
    }

    /** Sets how many ranges are read from each shard at the same time, 1 to 64; 4 by default. */
    public Builder readersPerShard(int readers) {
      this.readersPerShard = CopySettings.between("readersPerShard", readers, MOST_READERS);
      return this;
    }

    /** Sets how many documents are read and written at once, 1 to 100,000; 1,000 by default. */
    public Builder batchSize(int documents) {
      this.batchSize = CopySettings.between("batchSize", documents, MOST_DOCUMENTS);
      return this;
    }

    /**
     * Sets about how many bytes a range has; 32 MB by default. After an interruption, each reader
     * reads at most one range again.
     */
    public Builder rangeBytes(long bytes) {
      if (bytes < 1) {
        throw new IllegalArgumentException("rangeBytes must be positive: " + bytes);
      }
      this.rangeBytes = bytes;
      return this;
    }

    /**
     * Limits how many documents are read per second, over all shards; by default there is no limit.
     */
    public Builder documentsPerSecond(double rate) {
      this.documentsPerSecond = CopySettings.positive("documentsPerSecond", rate);
      return this;
    }

    /** Limits how many bytes of BSON are written per second; by default there is no limit. */
    public Builder bytesPerSecond(double rate) {
      this.bytesPerSecond = CopySettings.positive("bytesPerSecond", rate);
      return this;
    }

    /**
     * Sets how long a process owns the job after its last renewal: at least 2 seconds, 10 by
     * default. After a kill, another process has to wait that long.
     */
    public Builder lease(Duration time) {
      if (time.compareTo(LEAST_LEASE) < 0) {
        throw new IllegalArgumentException("lease must be 2 seconds at least: " + time);
      }
      this.lease = time;
      return this;
    }

    /**
     * Reads and inserts documents in the order of this index, in the collections that have it.
     * Other collections have the order of their shard key or of {@code _id}. Other ranges may be
     * read at the same time. A job that resumes keeps its order.
     *
     * @param index its name, or its key as JSON. It must not be sparse, partial, hidden, hashed, of
     *     arrays or with a collation
     * @throws IllegalArgumentException if it is neither
     */
    public Builder orderBy(String index) {
      this.order = new ReadOrder(index);
      return this;
    }

    /** Begins even if the destination's disks seem too small, with a note about it. */
    public Builder ignoreSpace() {
      this.ignoreSpace = true;
      return this;
    }

    /**
     * Copies changes back after a finished job of this name. The source is that job's destination,
     * and the destination is that job's source, without any writes since. Changes since the end of
     * that job are applied until this one is finished. Collections and names are as in that job.
     * Nothing is dropped.
     */
    public Builder reverse() {
      this.reverse = true;
      return this;
    }

    /**
     * Creates a copy. It does not connect before {@link ClusterCopy#run}.
     *
     * @throws IllegalArgumentException if the settings contradict each other, or a connection
     *     string is malformed
     */
    public ClusterCopy build() {
      Mapping mapping = new Mapping(included, excluded, renamed, filters, transformation);
      if (reverse && (!mapping.equals(Mapping.ALL) || begin == Begin.OVERWRITE || order != null)) {
        throw new IllegalArgumentException(
            "a copy back drops nothing, and takes what it copies from the job that was finished");
      }
      return new ClusterCopy(
          new CopySettings(
              from,
              to,
              fromSettings,
              toSettings,
              job,
              begin,
              reverse ? EnumSet.of(CopyPhase.INCREMENTAL) : phases,
              mapping,
              operations,
              readersPerShard,
              batchSize,
              rangeBytes,
              documentsPerSecond,
              bytesPerSecond,
              lease,
              reverse,
              ignoreSpace,
              order));
    }
  }
}
