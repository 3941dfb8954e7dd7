package dev.onehop.streams;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import dev.onehop.shards.ClusterServers;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.EventTooLargeException;
import dev.onehop.streams.event.HistoryLostException;
import dev.onehop.streams.event.HistoryLostPolicy;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.Source;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.merge.MergeSettings;
import dev.onehop.streams.internal.merge.MergedStream;
import dev.onehop.streams.internal.shard.RoutedCluster;
import dev.onehop.streams.observation.StreamListener;
import dev.onehop.streams.observation.StreamMeters;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.Codec;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A change stream of a collection, a database or a whole cluster. It reads from each shard directly
 * and merges the events in this process.
 *
 * <pre>{@code
 * ShardedChangeStream stream =
 *     ShardedChangeStream.builder("mongodb://mongos1,mongos2/").collection("shop", "orders").build();
 * Flux.from(stream.events()).subscribe(event -> ...);
 * }</pre>
 *
 * <p>The publishers are cold: each subscription connects, opens its own cursors and closes
 * everything when it ends or is cancelled. They respect the subscriber's demand. Events that the
 * subscriber has not requested wait in a bounded buffer per shard. When the buffer is full, further
 * events stay at the shard.
 *
 * <p>While a server cannot be reached or is being replaced, or the network is down, a subscription
 * waits without a time limit and continues afterwards. Events are neither lost nor emitted twice. A
 * subscription fails if a server refuses the stream itself. It completes after an {@code
 * invalidate} event, as the driver's stream does.
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
   * Creates a builder from a connection string with its usual options.
   *
   * @param uri the URI of the cluster's mongoses or config servers, or of a replica set
   * @throws IllegalArgumentException if the URI is malformed
   */
  public static Builder builder(String uri) {
    return builder(
        MongoClientSettings.builder().applyConnectionString(new ConnectionString(uri)).build());
  }

  /**
   * Creates a builder from the settings of a client. TLS, credentials, compressors and timeouts
   * apply to every connection, also to the connections to the shards. The user has to exist on each
   * shard.
   *
   * @param client the client's settings; the seeds are the cluster's mongoses or config servers, or
   *     a replica set
   */
  public static Builder builder(MongoClientSettings client) {
    return new Builder(client);
  }

  /** The events, each with its position in the stream. */
  public Publisher<StreamEvent> events() {
    return merged(settings.start(), settings.merge());
  }

  /** Whether the events of a transaction are emitted together. */
  public boolean groupsTransactions() {
    return settings.merge().groupTransactions();
  }

  /** The events after a position. The start in the settings is ignored. */
  public Publisher<StreamEvent> events(Checkpoint after) {
    Objects.requireNonNull(after, "after");
    return merged(after, settings.merge());
  }

  /**
   * The position where {@link #events()} starts: the start in the settings, or the current position
   * if no start is set. If servers cannot be reached, the publisher waits for them.
   */
  public Publisher<Checkpoint> start() {
    Checkpoint given = settings.start();
    return given != null ? Mono.just(given) : Mono.defer(() -> MergedStream.start(cluster(null)));
  }

  private RoutedCluster cluster(@Nullable Checkpoint start) {
    ClusterServers servers =
        ClusterServers.connect(settings.client(), settings.hostMapping(), THREADS);
    return new RoutedCluster(
        servers,
        settings.command(),
        settings.source(),
        settings.merge().order(),
        start,
        null,
        true,
        servers::close);
  }

  private Flux<StreamEvent.Change> changes() {
    MergeSettings merge = settings.merge();
    return Documents.of(
        merged(settings.start(), merge.ungrouped(merge.maxAwaitTime(), merge.progressInterval())));
  }

  private Flux<StreamEvent> merged(@Nullable Checkpoint start, MergeSettings merge) {
    return Flux.from(new MergedStream(() -> cluster(start), merge, settings.observation()));
  }

  /**
   * The servers' events, unchanged and without other elements. The events of a transaction are
   * always emitted one by one. If an event is missing, the publisher fails with an {@link
   * EventTooLargeException} or a {@link HistoryLostException}, under any {@link HistoryLostPolicy}.
   */
  public Publisher<RawBsonDocument> documents() {
    return changes().map(StreamEvent.Change::document);
  }

  /**
   * The servers' events like {@link #documents()}, decoded.
   *
   * @param documents the class of the documents; the client's settings need a codec for it
   */
  public <T> Publisher<ChangeStreamDocument<T>> documents(Class<T> documents) {
    Codec<ChangeStreamDocument<T>> codec =
        ChangeStreamDocument.createCodec(documents, settings.client().getCodecRegistry());
    return changes().map(change -> change.decode(codec));
  }

  /**
   * The stream in parts, one per shard. A framework such as Apache Flink distributes the parts and
   * merges their events itself. The caller closes the returned object.
   */
  public ShardParts parts() {
    return new ShardParts(settings);
  }

  /** Builds a stream. Not thread-safe. */
  public static final class Builder extends WatchOptions {
    private final MongoClientSettings client;
    private @Nullable UnaryOperator<String> mapping;
    private Duration heartbeat = Duration.ofMillis(10);
    private @Nullable Checkpoint start;
    private Order order = Order.PER_KEY;
    private Source source = Source.SHARDS;
    private HistoryLostPolicy historyLost = HistoryLostPolicy.FAIL;
    private Duration progress = Duration.ofSeconds(1);
    private long buffer = 32L << 20;
    private boolean groupTransactions;
    private @Nullable MeterRegistry meters;
    private StreamListener listener = StreamListener.NONE;
    private Duration stallAfter = Duration.ofMinutes(1);

    private Builder(MongoClientSettings client) {
      this.client = Objects.requireNonNull(client, "client");
    }

    /**
     * While events wait, the stream repeats two actions. Sets the shortest interval between
     * repetitions; 10 milliseconds by default. The actions:
     *
     * <ul>
     *   <li>a check on the config servers whether a range has moved;
     *   <li>a heartbeat at each shard that delays events. A heartbeat is a note of some 150 bytes
     *       in the oplog of the shard or of the config servers. It is not an event of the stream.
     * </ul>
     *
     * <p>An event waits about as long as this interval for an idle shard.
     *
     * <p>Heartbeats need the action {@code appendOplogNote} on each shard and on the config
     * servers. If the user lacks this right, the stream logs this once and sends a majority read in
     * place of each heartbeat. In a replica set with one member, such a read may take 100 ms and
     * more.
     */
    public Builder heartbeatInterval(Duration interval) {
      this.heartbeat = positive("heartbeatInterval", interval);
      return this;
    }

    /**
     * Sets the position after which the stream starts. By default, a stream starts when it is
     * subscribed to.
     */
    public Builder startAfter(Checkpoint place) {
      this.start = Objects.requireNonNull(place, "place");
      return this;
    }

    /** Sets a resume token of the official driver, after which the stream starts. */
    public Builder resumeAfter(BsonDocument resumeToken) {
      return startAfter(Checkpoint.ofResumeToken(resumeToken));
    }

    /** Starts with the first event at or after this cluster time. */
    public Builder startAtOperationTime(BsonTimestamp clusterTime) {
      return startAfter(Checkpoint.before(clusterTime));
    }

    /** Sets the order of events; {@link Order#PER_KEY} by default. */
    public Builder order(Order wanted) {
      this.order = Objects.requireNonNull(wanted, "wanted");
      return this;
    }

    /** Sets the servers from which events are read; {@link Source#SHARDS} by default. */
    public Builder source(Source wanted) {
      this.source = Objects.requireNonNull(wanted, "wanted");
      return this;
    }

    /**
     * Sets the behaviour when a shard's oplog has rolled over; {@link HistoryLostPolicy#FAIL} by
     * default.
     */
    public Builder historyLost(HistoryLostPolicy policy) {
      this.historyLost = Objects.requireNonNull(policy, "policy");
      return this;
    }

    /**
     * Sets the interval of {@link StreamEvent.Progress} events while there are no other events; 1
     * second by default.
     */
    public Builder progressInterval(Duration interval) {
      this.progress = positive("progressInterval", interval);
      return this;
    }

    /**
     * Sets the number of bytes per shard that are read ahead of the subscriber; 32 MB by default.
     * The last batch that a server has sent may exceed this number by 16 MB at most.
     */
    public Builder bufferPerShard(long bytes) {
      if (bytes < 1) {
        throw new IllegalArgumentException("bufferPerShard must be positive: " + bytes);
      }
      this.buffer = bytes;
      return this;
    }

    /**
     * Maps server names of the cluster's metadata to the names under which this application reaches
     * the shards' servers, like the host mapping of {@code OneHop}.
     *
     * @param names from {@code host:port} to {@code host:port}; other names stay unchanged
     */
    public Builder hostMapping(Map<String, String> names) {
      Map<String, String> copy = Map.copyOf(names);
      this.mapping = name -> copy.getOrDefault(name, name);
      return this;
    }

    /**
     * Sets whether the events of a transaction on a shard are emitted together, as a {@link
     * StreamEvent.Transaction}; false by default. The first events of the transaction then wait
     * until all its events have arrived. A transaction that is larger than {@link #bufferPerShard}
     * is emitted in several parts. The pipeline MUST keep {@code lsid} and {@code txnNumber}. A
     * mongos' stream cannot group transactions. {@link ShardedChangeStream#parts} always emit the
     * events one by one.
     */
    public Builder groupTransactions(boolean group) {
      this.groupTransactions = group;
      return this;
    }

    /**
     * Sets the registry for the meters of {@link StreamMeters}; by default nothing is measured.
     * With a registry, the age of each shard's oplog is read every ten seconds.
     */
    public Builder meterRegistry(MeterRegistry registry) {
      this.meters = Objects.requireNonNull(registry, "registry");
      return this;
    }

    /** Sets the listener for the state of subscriptions; by default there is none. */
    public Builder listener(StreamListener wanted) {
      this.listener = Objects.requireNonNull(wanted, "wanted");
      return this;
    }

    /**
     * Sets the length of a stall after which the stall is logged and reported to the listener; 1
     * minute by default. During a stall, the position does not move although the cluster time
     * advances. The position of an idle stream moves with the servers' periodic no-ops, every 10
     * seconds by default.
     */
    public Builder stallAfter(Duration time) {
      this.stallAfter = positive("stallAfter", time);
      return this;
    }

    /**
     * Creates the stream. It connects when it is subscribed to.
     *
     * @throws IllegalArgumentException if the settings contradict each other
     */
    public ShardedChangeStream build() {
      if (groupTransactions && source == Source.MONGOS) {
        throw new IllegalArgumentException(
            "groupTransactions can't be used with Source.MONGOS,"
                + " because a mongos' stream does not group transactions");
      }
      return new ShardedChangeStream(
          new StreamSettings(
              client,
              mapping,
              source,
              start,
              command(client.getCodecRegistry()),
              new MergeSettings(
                  order, historyLost, await(), heartbeat, progress, buffer, groupTransactions),
              new MergedStream.Observation(watched(), meters, listener, stallAfter)));
    }

    @Override
    Builder self() {
      return this;
    }
  }
}
