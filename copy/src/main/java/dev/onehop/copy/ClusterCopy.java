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
 * Copies a replica set or a sharded cluster to another one, while the source is written to and
 * ranges move at both.
 *
 * <pre>{@code
 * try (ClusterCopy copy =
 *     ClusterCopy.builder("mongodb://old1,old2/", "mongodb://new1,new2/").job("move").build()) {
 *   copy.run();
 * }
 * }</pre>
 *
 * <p>Documents are read from the primaries of the source's shards themselves, each range from its
 * owner with a shard version, and written by way of the destination's mongoses. What the copy needs
 * to go on after its process has ended is kept at the destination, in the database {@value
 * #STATE_DATABASE}, without any password. One process at a time works on a job; another one can
 * take it over once the first has not renewed its lease, and what the first may still write has no
 * effect then.
 *
 * <p>Thread-safe.
 */
public final class ClusterCopy implements AutoCloseable {
  /** Where the state is kept. It can be dropped when the copy is done. */
  public static final String STATE_DATABASE = Mapping.STATE_DATABASE;

  private final CopyRun run;

  private ClusterCopy(CopySettings settings) {
    this.run = new CopyRun(settings);
  }

  /**
   * Starts from two connection strings with their usual options.
   *
   * @param from of the mongoses of a sharded cluster, or of a replica set
   * @param to the same of the destination
   * @throws IllegalArgumentException if one is malformed
   */
  public static Builder builder(String from, String to) {
    return new Builder(from, to);
  }

  /**
   * Copies until all phases that were asked for are done. Called once. While servers can't be
   * reached, it waits and goes on.
   *
   * @throws CopyException if it can't begin or can't go on
   * @throws InterruptedException if the thread is interrupted; the job can be resumed
   */
  public void run() throws InterruptedException {
    run.run();
  }

  /** How far it is. Never blocks. */
  public CopyProgress progress() {
    return run.progress();
  }

  /** Ends {@link #run}, if it runs, and all connections. The job can be resumed. */
  @Override
  public void close() {
    run.close();
  }

  /** Whether a copy begins or goes on. */
  public enum Begin {
    /** Begins; refuses a destination that has collections of the copy's, or the job. */
    NEW,
    /** Goes on with the job. */
    RESUME,
    /** Drops the job and the collections that are to be copied, and begins. */
    OVERWRITE
  }

  /** Collects what a copy is made of. Not thread-safe. */
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

    /** The name under which the state is kept; {@code copy} by default. */
    public Builder job(String name) {
      if (name.isBlank()) {
        throw new IllegalArgumentException("a job has a name");
      }
      this.job = name;
      return this;
    }

    /** Whether the job begins or goes on; {@link Begin#NEW} by default. */
    public Builder begin(Begin wanted) {
      this.begin = Objects.requireNonNull(wanted, "wanted");
      return this;
    }

    /**
     * What is done; structure, full and indexes by default.
     *
     * @throws IllegalArgumentException if there is none
     */
    public Builder phases(Set<CopyPhase> wanted) {
      if (wanted.isEmpty()) {
        throw new IllegalArgumentException("no phase");
      }
      this.phases = EnumSet.copyOf(wanted);
      return this;
    }

    /**
     * Copies only these; by default all but the servers' own.
     *
     * @param patterns {@code database} or {@code database.collection}, where {@code *} stands for
     *     any characters
     */
    public Builder include(List<String> patterns) {
      included.addAll(patterns);
      return this;
    }

    /** Leaves these out, also of what is included. */
    public Builder exclude(List<String> patterns) {
      excluded.addAll(patterns);
      return this;
    }

    /**
     * Gives a database or a collection another name at the destination. Views that read a renamed
     * collection by {@code $lookup} are not changed.
     *
     * @param name {@code database}, or {@code database.collection}, which counts before it
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
     * Changes or leaves out documents on their way.
     *
     * @param change gets the collection at the source and a document, and gives the document to
     *     write, or null for none. It MUST keep {@code _id} and the fields of the shard key, and
     *     give the same for the same; it is called by several threads
     */
    public Builder transform(BiFunction<String, RawBsonDocument, @Nullable BsonDocument> change) {
      this.transformation = Objects.requireNonNull(change, "change");
      return this;
    }

    /**
     * Applies only these changes of the source; all by default. Without all of them the destination
     * is no state that the source had.
     *
     * @throws IllegalArgumentException if there is none
     */
    public Builder operations(Set<CopyOperation> wanted) {
      if (wanted.isEmpty()) {
        throw new IllegalArgumentException("no operation");
      }
      this.operations = EnumSet.copyOf(wanted);
      return this;
    }

    /** How many ranges are read from each shard at the same time, 1 to 64; 4 by default. */
    public Builder readersPerShard(int readers) {
      this.readersPerShard = CopySettings.between("readersPerShard", readers, MOST_READERS);
      return this;
    }

    /** How many documents are read and written at once, 1 to 100,000; 1,000 by default. */
    public Builder batchSize(int documents) {
      this.batchSize = CopySettings.between("batchSize", documents, MOST_DOCUMENTS);
      return this;
    }

    /**
     * About how many bytes a range has, which is what is read again at the most for each reader
     * after an interruption; 32 MB by default.
     */
    public Builder rangeBytes(long bytes) {
      if (bytes < 1) {
        throw new IllegalArgumentException("rangeBytes must be positive: " + bytes);
      }
      this.rangeBytes = bytes;
      return this;
    }

    /** At most how many documents are read in a second, over all shards; by default any number. */
    public Builder documentsPerSecond(double rate) {
      this.documentsPerSecond = CopySettings.positive("documentsPerSecond", rate);
      return this;
    }

    /** At most how many bytes of BSON are written in a second; by default any number. */
    public Builder bytesPerSecond(double rate) {
      this.bytesPerSecond = CopySettings.positive("bytesPerSecond", rate);
      return this;
    }

    /**
     * How long the job is a process's own after it last said so, at least 2 seconds; 10 by default.
     * Another process has to wait that long.
     */
    public Builder lease(Duration time) {
      if (time.compareTo(LEAST_LEASE) < 0) {
        throw new IllegalArgumentException("lease must be 2 seconds at least: " + time);
      }
      this.lease = time;
      return this;
    }

    /**
     * Reads, and so inserts, the documents of collections that have this index in its order,
     * instead of that of their shard key or of {@code _id}. Other ranges may be read at the same
     * time. When the job goes on, it keeps its order.
     *
     * @param index its name, or its key as JSON; not one that is sparse, partial, hidden, hashed,
     *     of arrays or with a collation
     * @throws IllegalArgumentException if it is neither
     */
    public Builder orderBy(String index) {
      this.order = new ReadOrder(index);
      return this;
    }

    /** Begins also if the destination's disks seem to be too small; that is a note then. */
    public Builder ignoreSpace() {
      this.ignoreSpace = true;
      return this;
    }

    /**
     * Carries changes back: the source is the destination of a job of this name that was finished,
     * and the destination is where that one came from, to which nobody has written since. What
     * changed since the job was finished is applied, until this one is finished. What is copied and
     * what is renamed is as in that job. Nothing is dropped.
     */
    public Builder reverse() {
      this.reverse = true;
      return this;
    }

    /**
     * Nothing is connected before {@link ClusterCopy#run}.
     *
     * @throws IllegalArgumentException if what was asked for does not go together, or a connection
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
