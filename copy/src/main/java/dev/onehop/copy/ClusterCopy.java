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
 * Copies a replica set or a sharded cluster to another replica set or sharded cluster. During the
 * copy the source may receive writes, and ranges may move in both clusters.
 *
 * <pre>{@code
 * try (ClusterCopy copy =
 *     ClusterCopy.builder("mongodb://old1,old2/", "mongodb://new1,new2/").job("move").build()) {
 *   copy.run();
 * }
 * }</pre>
 *
 * <p>The state of the copy is a job in the destination's database {@value #STATE_DATABASE}. The job
 * contains no passwords, and another process can resume it. One process at a time works on a job.
 * If this process does not renew its lease, another process can take the job. Late writes of the
 * first process then have no effect.
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
   * Creates a builder from two connection strings, which may have all options of the driver.
   *
   * @param from the connection string of the source: mongoses of a sharded cluster, or a replica
   *     set
   * @param to the connection string of the destination
   */
  public static Builder builder(String from, String to) {
    return new Builder(from, to);
  }

  /**
   * Runs all phases of the settings. Call it once. While servers are unreachable, it waits, and
   * then continues.
   *
   * @throws CopyException if the copy can't begin or can't continue
   * @throws InterruptedException if the thread is interrupted; the job can be resumed
   */
  public void run() throws InterruptedException {
    run.run();
  }

  /** Returns the progress. Never blocks. */
  public CopyProgress progress() {
    return run.progress();
  }

  /** Ends a running {@link #run}, and closes all connections. The job can be resumed. */
  @Override
  public void close() {
    run.close();
  }

  /** How a copy begins. */
  public enum Begin {
    /**
     * Begins a new job. The copy fails if the destination already has a job of this name or a
     * collection that the copy would create.
     */
    NEW,
    /** Continues the job. */
    RESUME,
    /**
     * Drops the job of this name and the destination's collections that the copy would create, and
     * begins a new job.
     */
    OVERWRITE
  }

  /** Collects the settings of a copy. Not thread-safe. */
  public static final class Builder {
    private final String from;
    private final String to;
    private Consumer<MongoClientSettings.Builder> fromSettings = settings -> {};
    private Consumer<MongoClientSettings.Builder> toSettings = settings -> {};
    private String job = "copy";
    private Begin begin = Begin.NEW;
    private Set<CopyPhase> phases = Set.of(CopyPhase.STRUCTURE, CopyPhase.FULL, CopyPhase.INDEXES);
    private final List<String> included = new ArrayList<>();
    private final List<String> excluded = new ArrayList<>();
    private final Map<String, String> renamed = new HashMap<>();
    private final Map<String, BsonDocument> filters = new HashMap<>();
    private @Nullable BiFunction<String, RawBsonDocument, @Nullable BsonDocument> transformation;
    private Set<CopyOperation> operations = Set.of(CopyOperation.values());
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
      this.job = CopySettings.jobName(name);
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
      this.phases = CopySettings.some("phases", wanted);
      return this;
    }

    /**
     * Copies only these collections. By default all collections are copied except the servers' own
     * collections.
     *
     * @param patterns {@code database} or {@code database.collection}, where {@code *} matches any
     *     characters
     */
    public Builder include(List<String> patterns) {
      included.addAll(patterns);
      return this;
    }

    /**
     * Leaves these collections out, even if {@link #include} selects them.
     *
     * @param patterns as in {@link #include}
     */
    public Builder exclude(List<String> patterns) {
      excluded.addAll(patterns);
      return this;
    }

    /**
     * Gives a database or a collection another name at the destination. A view that reads a renamed
     * collection by {@code $lookup} keeps the old name in its pipeline.
     *
     * @param name {@code database} or {@code database.collection}. The new name of a collection has
     *     precedence over the new name of its database
     * @param newName the new name, also {@code database} or {@code database.collection}
     */
    public Builder rename(String name, String newName) {
      renamed.put(name, newName);
      return this;
    }

    /**
     * Copies only those documents of a collection that match a query filter.
     *
     * @param namespace the collection of the source, {@code database.collection}
     */
    public Builder filter(String namespace, Bson filter) {
      filters.put(namespace, filter.toBsonDocument());
      return this;
    }

    /**
     * Changes or leaves out documents during the copy.
     *
     * @param change called with the name of the source's collection and a document. It returns the
     *     document to write, or null if the document is left out. It MUST NOT change {@code _id} or
     *     the fields of the shard key, and MUST return the same result for the same document.
     *     Several threads call it at the same time
     */
    public Builder transform(BiFunction<String, RawBsonDocument, @Nullable BsonDocument> change) {
      this.transformation = Objects.requireNonNull(change, "change");
      return this;
    }

    /**
     * Applies only changes of these kinds; all kinds by default. If a kind is missing, the
     * destination may never equal a state of the source.
     *
     * @throws IllegalArgumentException if the set is empty
     */
    public Builder operations(Set<CopyOperation> wanted) {
      this.operations = CopySettings.some("operations", wanted);
      return this;
    }

    /** Sets how many ranges are read from each shard at the same time, 1 to 64; 4 by default. */
    public Builder readersPerShard(int readers) {
      this.readersPerShard = CopySettings.between("readersPerShard", readers, 64);
      return this;
    }

    /**
     * Sets the largest number of documents in a batch that is read and written, 1 to 100,000; 1,000
     * by default.
     */
    public Builder batchSize(int documents) {
      this.batchSize = CopySettings.between("batchSize", documents, 100_000);
      return this;
    }

    /**
     * Sets the approximate size of a range in bytes; 32 MB by default. Each reader reads one range
     * at a time. After an interruption, the ranges that were being read are read again.
     */
    public Builder rangeBytes(long bytes) {
      this.rangeBytes = CopySettings.rangeBytes(bytes);
      return this;
    }

    /** Limits the documents read per second from all shards together; by default no limit. */
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
     * Sets how long a process owns the job after it has renewed its lease: at least 2 seconds, 10
     * seconds by default. If the process is killed, another process has to wait for this time
     * before it can resume the job.
     */
    public Builder lease(Duration time) {
      this.lease = CopySettings.lease(time);
      return this;
    }

    /**
     * Reads and inserts the documents of each range in the order of this index, in the collections
     * that have the index. Other collections are read in the order of their shard key or of {@code
     * _id}. Several ranges may be read at the same time. A job that is resumed keeps its order.
     *
     * @param index the name of the index, or its key as JSON. The index must not be sparse,
     *     partial, hidden or hashed, must not have a collation, and its fields must not have arrays
     * @throws IllegalArgumentException if the argument is neither a name nor JSON
     */
    public Builder orderBy(String index) {
      this.order = new ReadOrder(index);
      return this;
    }

    /**
     * Begins the copy even if the destination seems to have too little disk space. The progress
     * then has a note about the space.
     */
    public Builder ignoreSpace() {
      this.ignoreSpace = true;
      return this;
    }

    /**
     * Makes this copy a copy back, which reverses the finished job with the same name. Its source
     * is the finished job's destination: all changes since the end of the finished job are applied,
     * until this copy is finished. Its destination is the finished job's source, which must not
     * have had writes since then. Nothing is dropped. Collections and names are as in that job.
     */
    public Builder reverse() {
      this.reverse = true;
      return this;
    }

    /**
     * Creates a copy. It connects only in {@link ClusterCopy#run}.
     *
     * @throws IllegalArgumentException if the settings contradict each other, or a connection
     *     string is malformed
     */
    public ClusterCopy build() {
      Mapping mapping = new Mapping(included, excluded, renamed, filters, transformation);
      if (reverse && (!mapping.equals(Mapping.ALL) || begin == Begin.OVERWRITE || order != null)) {
        throw new IllegalArgumentException(
            "a reverse copy takes its collections, names and order from the finished job, and drops"
                + " nothing: remove these settings");
      }
      return new ClusterCopy(
          new CopySettings(
              from,
              to,
              fromSettings,
              toSettings,
              job,
              begin,
              reverse ? Set.of(CopyPhase.INCREMENTAL) : phases,
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
