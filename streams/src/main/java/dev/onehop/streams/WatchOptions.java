package dev.onehop.streams;

import com.mongodb.client.model.changestream.FullDocument;
import com.mongodb.client.model.changestream.FullDocumentBeforeChange;
import dev.onehop.streams.internal.shard.StreamCommand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.codecs.configuration.CodecRegistry;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/** The options of a stream's command to the servers. Not thread-safe. */
abstract class WatchOptions {
  private static final int DEFAULT_BATCH = 1_000;
  private static final String CLUSTER = "admin";

  private String database = CLUSTER;
  private @Nullable String collection;
  private List<Bson> pipeline = List.of();
  private FullDocument fullDocument = FullDocument.DEFAULT;
  private FullDocumentBeforeChange before = FullDocumentBeforeChange.DEFAULT;
  private boolean expanded;
  private int batchSize = DEFAULT_BATCH;
  private Duration await = Duration.ofSeconds(1);

  abstract ShardedChangeStream.Builder self();

  /** Watches one collection, which need not exist yet. */
  public ShardedChangeStream.Builder collection(String databaseName, String collectionName) {
    this.database = Objects.requireNonNull(databaseName, "databaseName");
    this.collection = Objects.requireNonNull(collectionName, "collectionName");
    return self();
  }

  /** Watches all collections of a database. */
  public ShardedChangeStream.Builder database(String databaseName) {
    this.database = Objects.requireNonNull(databaseName, "databaseName");
    this.collection = null;
    return self();
  }

  /**
   * Watches all collections of all databases except {@code admin}, {@code config} and {@code
   * local}; the default.
   */
  public ShardedChangeStream.Builder cluster() {
    return database(CLUSTER);
  }

  /**
   * Sets the stages that the servers apply to the events, as in the driver's {@code watch}. They
   * MUST keep {@code _id}. With {@link FullDocument#UPDATE_LOOKUP} they run after the lookup of
   * documents. Only {@code $match} stages at the beginning that do not use {@code fullDocument} run
   * before the lookup. If there are other stages, each batch of events needs one more command,
   * which sends the events back to their shard for these stages.
   */
  public ShardedChangeStream.Builder pipeline(List<? extends Bson> stages) {
    this.pipeline = List.copyOf(stages);
    return self();
  }

  /**
   * Sets {@code fullDocument}, as in the driver's {@code watch}. Documents for {@link
   * FullDocument#UPDATE_LOOKUP} are looked up through the seeds, which then have to be mongoses or
   * a replica set: a shard alone would not find a document that has moved.
   */
  public ShardedChangeStream.Builder fullDocument(FullDocument wanted) {
    this.fullDocument = Objects.requireNonNull(wanted, "wanted");
    return self();
  }

  /** Sets {@code fullDocumentBeforeChange}, as in the driver's {@code watch}. */
  public ShardedChangeStream.Builder fullDocumentBeforeChange(FullDocumentBeforeChange wanted) {
    this.before = Objects.requireNonNull(wanted, "wanted");
    return self();
  }

  /** Sets {@code showExpandedEvents}, as in the driver's {@code watch}. */
  public ShardedChangeStream.Builder showExpandedEvents(boolean show) {
    this.expanded = show;
    return self();
  }

  /**
   * Sets the largest number of events that a server sends at once; 1,000 by default. A server with
   * a backlog fills a batch before it sends it.
   *
   * @param events zero for the server's limit of 16 MB
   */
  public ShardedChangeStream.Builder batchSize(int events) {
    if (events < 0) {
      throw new IllegalArgumentException("batchSize must not be negative: " + events);
    }
    this.batchSize = events;
    return self();
  }

  /**
   * Sets how long a server may wait for events before it sends an empty reply; 1 second by default.
   * With several shards, a server waits for 50 milliseconds at most.
   */
  public ShardedChangeStream.Builder maxAwaitTime(Duration time) {
    this.await = positive("maxAwaitTime", time);
    return self();
  }

  static Duration positive(String name, Duration value) {
    if (value.isNegative() || value.isZero()) {
      throw new IllegalArgumentException(name + " must be positive: " + value);
    }
    return value;
  }

  Duration await() {
    return await;
  }

  StreamCommand command(CodecRegistry codecs) {
    BsonDocument options = new BsonDocument();
    if (fullDocument != FullDocument.DEFAULT) {
      options.append("fullDocument", new BsonString(fullDocument.getValue()));
    }
    if (before != FullDocumentBeforeChange.DEFAULT) {
      options.append("fullDocumentBeforeChange", new BsonString(before.getValue()));
    }
    if (expanded) {
      options.append("showExpandedEvents", BsonBoolean.TRUE);
    }
    List<BsonDocument> stages = new ArrayList<>();
    for (Bson stage : pipeline) {
      stages.add(stage.toBsonDocument(BsonDocument.class, codecs));
    }
    return new StreamCommand(database, collection, options, stages, batchSize);
  }

  /** The watched collection, database or cluster, for the log and for meters. */
  String watched() {
    if (collection != null) {
      return database + "." + collection;
    }
    return database.equals(CLUSTER) ? "cluster" : database;
  }
}
