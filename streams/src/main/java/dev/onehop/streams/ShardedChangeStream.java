package dev.onehop.streams;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import com.mongodb.client.model.changestream.FullDocument;
import com.mongodb.client.model.changestream.FullDocumentBeforeChange;
import dev.onehop.shards.ClusterServers;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.EventTooLargeException;
import dev.onehop.streams.event.HistoryLostException;
import dev.onehop.streams.event.HistoryLostPolicy;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.Source;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.merge.MergedStream;
import dev.onehop.streams.internal.shard.RoutedCluster;
import dev.onehop.streams.observation.StreamMeters;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.Codec;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A change stream of a collection, a database or a whole cluster, read from each shard itself and
 * merged in this process.
 *
 * <pre>{@code
 * ShardedChangeStream stream =
 *     ShardedChangeStream.builder("mongodb://mongos1,mongos2/").collection("shop", "orders").build();
 * Flux.from(stream.events()).subscribe(event -> ...);
 * }</pre>
 *
 * <p>The publishers are cold: each subscription connects, opens its own cursors and closes
 * everything when it ends or is cancelled. They respect the subscriber's demand: what is not asked
 * for stays in a bounded buffer for each shard, and then at the shard. While a server can't be
 * reached, is being replaced or the network is down, a subscription waits and goes on afterwards,
 * without an end; events are neither lost nor given twice. It fails if a server refuses the stream
 * itself, and completes after an {@code invalidate} event, as the driver's does.
 *
 * <p>Immutable and thread-safe.
 */
public final class ShardedChangeStream {
  private static final int THREADS = 2;

  private final StreamSettings settings;

  ShardedChangeStream(StreamSettings settings) {
    this.settings = settings;
  }

  /**
   * Starts from a connection string with its usual options.
   *
   * @param uri of the cluster's mongoses or config servers, or of a replica set
   * @throws IllegalArgumentException if it is malformed
   */
  public static Builder builder(String uri) {
    return builder(
        MongoClientSettings.builder().applyConnectionString(new ConnectionString(uri)).build());
  }

  /**
   * Starts from the settings of a client: hosts, TLS, credentials, compressors and timeouts hold
   * for every connection, also for those to the shards. The user has to be known to each shard.
   *
   * @param client its seeds are the cluster's mongoses or config servers, or a replica set
   */
  public static Builder builder(MongoClientSettings client) {
    return new Builder(client);
  }

  /** The events with their places. */
  public Publisher<StreamEvent> events() {
    return Flux.defer(() -> connected(settings.start(), true));
  }

  /** Whether the events of a transaction are given together. */
  public boolean groupsTransactions() {
    return settings.groupTransactions();
  }

  /** The events after a place with theirs, wherever the stream is to start by its settings. */
  public Publisher<StreamEvent> events(Checkpoint after) {
    Objects.requireNonNull(after, "after");
    return Flux.defer(() -> connected(after, true));
  }

  /**
   * The place where a stream starts that is subscribed to now. It waits for servers that can't be
   * reached.
   */
  public Publisher<Checkpoint> start() {
    Checkpoint given = settings.start();
    return given != null ? Mono.just(given) : Mono.defer(this::now);
  }

  private Mono<Checkpoint> now() {
    return MergedStream.start(cluster(null));
  }

  private RoutedCluster cluster(@Nullable Checkpoint start) {
    ClusterServers servers =
        ClusterServers.connect(settings.client(), settings.hostMapping(), THREADS);
    return new RoutedCluster(
        servers,
        settings.command(),
        settings.source(),
        settings.order(),
        start,
        true,
        servers::close);
  }

  private Flux<StreamEvent.Change> changes() {
    return Documents.of(Flux.defer(() -> connected(settings.start(), false)));
  }

  private Flux<StreamEvent> connected(@Nullable Checkpoint start, boolean grouped) {
    RoutedCluster cluster = cluster(start);
    return Flux.from(new MergedStream(() -> cluster, settings.merge(grouped), settings.metering()));
  }

  /**
   * The servers' events only, as these sent them, those of transactions one by one. Where one is
   * missing it fails: with an {@link EventTooLargeException}, and with a {@link
   * HistoryLostException} with every {@link HistoryLostPolicy}.
   */
  public Publisher<RawBsonDocument> documents() {
    return changes().map(StreamEvent.Change::document);
  }

  /**
   * The same, decoded.
   *
   * @param documents the class of the documents; the client's settings have a codec for it
   */
  public <T> Publisher<ChangeStreamDocument<T>> documents(Class<T> documents) {
    Codec<ChangeStreamDocument<T>> codec =
        ChangeStreamDocument.createCodec(documents, settings.client().getCodecRegistry());
    return changes().map(change -> change.decode(codec));
  }

  /**
   * The stream in parts, for a framework that distributes them and merges them itself, such as
   * Apache Flink. The caller closes them.
   */
  public ShardParts parts() {
    return new ShardParts(settings);
  }

  /** Collects what a stream is made of. Not thread-safe. */
  public static final class Builder {
    private static final Duration DEFAULT_AWAIT = Duration.ofSeconds(1);
    private static final Duration DEFAULT_HEARTBEAT = Duration.ofMillis(10);
    private static final Duration DEFAULT_PROGRESS = Duration.ofSeconds(1);
    private static final long DEFAULT_BUFFER = 32L << 20;
    private static final int DEFAULT_BATCH = 1_000;

    private final MongoClientSettings client;
    private @Nullable UnaryOperator<String> mapping;
    private String database = "admin";
    private @Nullable String collection;
    private List<Bson> pipeline = List.of();
    private FullDocument fullDocument = FullDocument.DEFAULT;
    private FullDocumentBeforeChange before = FullDocumentBeforeChange.DEFAULT;
    private boolean expanded;
    private int batchSize = DEFAULT_BATCH;
    private Duration await = DEFAULT_AWAIT;
    private Duration heartbeat = DEFAULT_HEARTBEAT;
    private @Nullable Checkpoint start;
    private Order order = Order.PER_KEY;
    private Source source = Source.SHARDS;
    private HistoryLostPolicy historyLost = HistoryLostPolicy.FAIL;
    private Duration progress = DEFAULT_PROGRESS;
    private long buffer = DEFAULT_BUFFER;
    private boolean groupTransactions;
    private @Nullable MeterRegistry meters;

    private Builder(MongoClientSettings client) {
      this.client = Objects.requireNonNull(client, "client");
    }

    /** Watches one collection. It need not exist yet. */
    public Builder collection(String databaseName, String collectionName) {
      this.database = Objects.requireNonNull(databaseName, "databaseName");
      this.collection = Objects.requireNonNull(collectionName, "collectionName");
      return this;
    }

    /** Watches all collections of a database. */
    public Builder database(String databaseName) {
      this.database = Objects.requireNonNull(databaseName, "databaseName");
      this.collection = null;
      return this;
    }

    /**
     * Watches all collections of all databases but {@code admin}, {@code config} and {@code local};
     * the default.
     */
    public Builder cluster() {
      return database("admin");
    }

    /**
     * Stages that the servers run over the events, as in the driver's {@code watch}. They MUST keep
     * {@code _id}. With {@link FullDocument#UPDATE_LOOKUP} they run after documents were looked up.
     * Selections at the beginning that do not use {@code fullDocument} run before; any other stage
     * costs a command for each batch of events, which sends them to their shard once more.
     */
    public Builder pipeline(List<? extends Bson> stages) {
      this.pipeline = List.copyOf(stages);
      return this;
    }

    /**
     * As the driver's. Documents for {@link FullDocument#UPDATE_LOOKUP} are looked up over the
     * seeds, which then have to be mongoses or a replica set: a shard alone would not find a
     * document that has moved.
     */
    public Builder fullDocument(FullDocument wanted) {
      this.fullDocument = Objects.requireNonNull(wanted, "wanted");
      return this;
    }

    /** As the driver's. */
    public Builder fullDocumentBeforeChange(FullDocumentBeforeChange wanted) {
      this.before = Objects.requireNonNull(wanted, "wanted");
      return this;
    }

    /** As the driver's. */
    public Builder showExpandedEvents(boolean show) {
      this.expanded = show;
      return this;
    }

    /**
     * At most how many events a server sends at once; 1,000 by default. A server that is behind
     * fills a batch before it sends it.
     *
     * @param events zero for as many as the server likes, which are 16 MB
     */
    public Builder batchSize(int events) {
      if (events < 0) {
        throw new IllegalArgumentException("batchSize must not be negative: " + events);
      }
      this.batchSize = events;
      return this;
    }

    /**
     * How long a server may wait for events before it answers without any; 1 second by default. As
     * long as events wait for a server, it is asked more often.
     */
    public Builder maxAwaitTime(Duration time) {
      this.await = positive("maxAwaitTime", time);
      return this;
    }

    /**
     * How often at most the config servers are asked whether a range has moved, and a shard that
     * events wait for gets a heartbeat; 10 milliseconds by default. A heartbeat is a note of some
     * 150 bytes in the oplog of that shard, or of the config servers, and is no event. So an event
     * waits about this long for an idle shard. It is written only while events wait, and needs the
     * action {@code appendOplogNote} on each shard and on the config servers; without it, which is
     * said once in the log, a majority read takes its place, which may take 100 ms and more where a
     * replica set has one member.
     */
    public Builder heartbeatInterval(Duration interval) {
      this.heartbeat = positive("heartbeatInterval", interval);
      return this;
    }

    /** Starts after a place. By default a stream starts when it is subscribed to. */
    public Builder startAfter(Checkpoint place) {
      this.start = Objects.requireNonNull(place, "place");
      return this;
    }

    /** Starts after a resume token of the official driver. */
    public Builder resumeAfter(BsonDocument resumeToken) {
      return startAfter(Checkpoint.ofResumeToken(resumeToken));
    }

    /** Starts with the first event of this cluster time or a later one. */
    public Builder startAtOperationTime(BsonTimestamp clusterTime) {
      return startAfter(Checkpoint.before(clusterTime));
    }

    /** In which order events are given; {@link Order#PER_KEY} by default. */
    public Builder order(Order wanted) {
      this.order = Objects.requireNonNull(wanted, "wanted");
      return this;
    }

    /** Where events are read; {@link Source#SHARDS} by default. */
    public Builder source(Source wanted) {
      this.source = Objects.requireNonNull(wanted, "wanted");
      return this;
    }

    /**
     * What happens when a shard's oplog has rolled over; {@link HistoryLostPolicy#FAIL} by default.
     */
    public Builder historyLost(HistoryLostPolicy policy) {
      this.historyLost = Objects.requireNonNull(policy, "policy");
      return this;
    }

    /**
     * How often a {@link StreamEvent.Progress} is given while there are no events; 1 second by
     * default.
     */
    public Builder progressInterval(Duration interval) {
      this.progress = positive("progressInterval", interval);
      return this;
    }

    /**
     * How many bytes of events of each shard are read ahead of the subscriber, give or take one
     * batch of the server, which is 16 MB at most; 32 MB by default.
     */
    public Builder bufferPerShard(long bytes) {
      if (bytes < 1) {
        throw new IllegalArgumentException("bufferPerShard must be positive: " + bytes);
      }
      this.buffer = bytes;
      return this;
    }

    /**
     * The names under which this application reaches the shards' servers, where the cluster's
     * metadata has others, as for {@code OneHop}.
     *
     * @param names from {@code host:port} to {@code host:port}; what is not named stays as it is
     */
    public Builder hostMapping(Map<String, String> names) {
      Map<String, String> copy = Map.copyOf(names);
      this.mapping = name -> copy.getOrDefault(name, name);
      return this;
    }

    /**
     * Whether the events of a transaction on a shard are given together, as a {@link
     * StreamEvent.Transaction}; false by default. They wait until all of them have arrived; if they
     * are larger than {@link #bufferPerShard} they are given in several. The pipeline MUST keep
     * {@code lsid} and {@code txnNumber}. Only from shards and replica sets, not over a mongos'
     * stream; {@link ShardedChangeStream#parts} give them one by one.
     */
    public Builder groupTransactions(boolean group) {
      this.groupTransactions = group;
      return this;
    }

    /**
     * Where the meters of {@link StreamMeters} are registered; by default nothing is measured. With
     * it, each shard's oplog is asked every ten seconds how far it goes back.
     */
    public Builder meterRegistry(MeterRegistry registry) {
      this.meters = Objects.requireNonNull(registry, "registry");
      return this;
    }

    /**
     * Nothing is connected before the stream is subscribed to.
     *
     * @throws IllegalArgumentException if what was asked for does not go together
     */
    public ShardedChangeStream build() {
      if (groupTransactions && source == Source.MONGOS) {
        throw new IllegalArgumentException("transactions can't be grouped in a mongos' stream");
      }
      return new ShardedChangeStream(
          new StreamSettings(
              client,
              mapping,
              database,
              collection,
              stages(),
              fullDocument,
              before,
              expanded,
              batchSize,
              await,
              heartbeat,
              start,
              order,
              source,
              historyLost,
              progress,
              buffer,
              groupTransactions,
              meters));
    }

    private List<BsonDocument> stages() {
      List<BsonDocument> stages = new ArrayList<>();
      for (Bson stage : pipeline) {
        stages.add(stage.toBsonDocument(BsonDocument.class, client.getCodecRegistry()));
      }
      return List.copyOf(stages);
    }

    private static Duration positive(String name, Duration value) {
      if (value.isNegative() || value.isZero()) {
        throw new IllegalArgumentException(name + " must be positive: " + value);
      }
      return value;
    }
  }
}
