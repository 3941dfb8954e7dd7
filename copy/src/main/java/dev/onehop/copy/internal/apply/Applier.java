package dev.onehop.copy.internal.apply;

import com.mongodb.MongoClientSettings;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.state.Fence;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.channel.ChannelGroup;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.StreamEvent;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.conversions.Bson;
import reactor.core.publisher.Mono;

/**
 * Applies all events of a source since a start time to a destination, in order for each document,
 * until it is cancelled. Several processes may run for the same job. They share the events. When a
 * process ends, the others apply its share.
 *
 * <p>The destination must have the copied documents. Each document may have any state that it had
 * at the source since the start time. A document that was deleted before the start time must be
 * missing. An update is not applied to a document whose state is unknown; instead, the document is
 * read from the source again.
 *
 * <p>Thread-safe.
 */
public final class Applier {
  private static final Duration POLL = Duration.ofMillis(200);
  private static final int RENEWALS = 10;

  private final Settings settings;
  private final SourceReads source;
  private final ApplySink sink;
  private final CappedCollections capped;
  private final ChannelGroup group;

  /**
   * The settings of an applier.
   *
   * @param source the settings of all connections to the source and its shards
   * @param sourceClient the client for reads of single documents; the caller closes it
   * @param destination the client for the writes; the caller closes it
   * @param state the database of the state, from the client of the destination
   * @param job the name under which the state is stored
   * @param start a cluster time of the source before the first read of the copy; a job that has
   *     stored a position continues from this position
   * @param operations the kinds of events that are applied
   * @param creations whether the source's servers report created collections and indexes
   */
  public record Settings(
      MongoClientSettings source,
      MongoClient sourceClient,
      MongoClient destination,
      MongoDatabase state,
      String job,
      BsonTimestamp start,
      Mapping mapping,
      Set<CopyOperation> operations,
      boolean creations,
      Pace pace) {}

  /**
   * The division of the events into channels and batches. Each channel writes in its own lane.
   *
   * @param lanes the number of channels, which write at the same time, 1 to 128
   * @param batch the largest number of events in a batch
   * @param lease how long a process owns a channel after it has renewed its lease, at least a
   *     second. If a process is killed, other processes wait for this time before they take its
   *     channels
   */
  public record Pace(int lanes, int batch, Duration lease) {
    /**
     * Twelve channels, so that two, three, four or six shards can each have the same number of
     * channels.
     */
    public static final Pace USUAL = new Pace(12, 500, Duration.ofSeconds(10));
  }

  /** Creates an applier. It does not start yet. */
  public Applier(Settings settings) {
    Pace pace = settings.pace();
    this.settings = settings;
    this.source = new SourceReads(settings.sourceClient());
    MongoCollection<BsonDocument> created =
        settings.state().getCollection("created." + settings.job(), BsonDocument.class);
    this.capped =
        new CappedCollections(settings.sourceClient(), created, settings.mapping(), pace.lanes());
    this.sink =
        new ApplySink(
            settings,
            fence(settings.destination(), settings.state(), settings.job()),
            source,
            capped,
            new SchemaChanges(settings.destination(), created, settings.mapping()),
            this::hasChanged);
    ShardedChangeStream stream =
        ShardedChangeStream.builder(settings.source())
            .cluster()
            .showExpandedEvents(settings.creations())
            // Total order, because a document whose shard key changes has events on two shards.
            .order(Order.TOTAL)
            .startAtOperationTime(settings.start())
            .build();
    this.group =
        ChannelGroup.builder(
                stream, pace.lanes(), settings.job(), settings.state().getCollection("leases"))
            .channelOf(capped::channel)
            .maxBatch(pace.batch())
            .lease(pace.lease(), pace.lease().dividedBy(RENEWALS))
            .build();
  }

  private static Fence fence(MongoClient destination, MongoDatabase state, String job) {
    // The fence does not have to check whether this process owns the job: a channel writes only
    // while its lease is valid.
    return new Fence(destination, state, job + ".apply", Mono.empty());
  }

  /**
   * Called for a job that no longer exists. After this, all writes that its processes still send
   * fail.
   */
  public static Mono<Void> shutOut(MongoClient destination, MongoDatabase state, String job) {
    return fence(destination, state, job).close(Pace.USUAL.lanes());
  }

  /**
   * Applies events.
   *
   * @return a cold publisher, which never completes by itself. It fails if the events can't be
   *     applied. After a cancellation, writes in progress end in the background
   */
  public Mono<Void> run() {
    return capped.find().then(Mono.from(group.process(sink)));
  }

  /** The progress; empty if {@link #run} has never started. */
  public Mono<ApplyStatus> status() {
    return Mono.from(group.place())
        .map(Checkpoint::clusterTime)
        .zipWhen(
            applied -> source.now(),
            (applied, now) ->
                new ApplyStatus(
                    sink.events(),
                    applied,
                    now,
                    // If other processes have channels, the exactFrom of these channels is unknown.
                    // The status then has the present time, which is not applied yet, so the status
                    // is not exact.
                    sink.isWhole() ? sink.exactFrom() : now));
  }

  /**
   * Waits until all past events of the source are applied and the destination equals a state of the
   * source. Meanwhile {@link #run} must continue, in this process or in another process.
   *
   * @return a cluster time after the call; all events before it are applied
   */
  public Mono<BsonTimestamp> finish() {
    return source.now().flatMap(this::applied);
  }

  /** Completes when no {@link #run} in any process writes any more, not even a cancelled one. */
  public Mono<Void> ended() {
    return Mono.from(group.released()).retryWhen(SourceReads.untilThere());
  }

  /**
   * Whether there are events of a document, or of its whole collection, after the stored position.
   *
   * @param event an event of the document
   * @param until a past cluster time; later events are ignored
   */
  private Mono<Boolean> hasChanged(DocumentEvent event, BsonTimestamp until) {
    // An event without the name of a collection concerns the database.
    Bson match =
        Filters.and(
            Filters.eq("ns.db", event.namespace().getDatabaseName()),
            Filters.in(
                "ns.coll", new BsonString(event.namespace().getCollectionName()), BsonNull.VALUE),
            Filters.or(
                Filters.eq("documentKey._id", event.id()),
                Filters.in("operationType", "drop", "rename", "dropDatabase")));
    ShardedChangeStream stream =
        ShardedChangeStream.builder(settings.source())
            .cluster()
            .pipeline(List.of(Aggregates.match(match)))
            .build();
    return place()
        .repeatWhenEmpty(polls -> polls.delayElements(POLL))
        .flatMapMany(stream::events)
        .takeUntil(found -> found.checkpoint().clusterTime().compareTo(until) > 0)
        .any(found -> !(found instanceof StreamEvent.Progress));
  }

  private Mono<BsonTimestamp> applied(BsonTimestamp time) {
    return place()
        .map(Checkpoint::clusterTime)
        .filter(reached -> reached.compareTo(time) > 0 && reached.compareTo(sink.exactFrom()) > 0)
        .repeatWhenEmpty(polls -> polls.delayElements(POLL));
  }

  /**
   * The stored position. First writes a note to the oplog. Without it, idle shards would report
   * their time only every ten seconds.
   */
  private Mono<Checkpoint> place() {
    BsonDocument note = BsonDocument.parse("{appendOplogNote: 1, data: {onehop: 1}}");
    return Mono.from(settings.sourceClient().getDatabase("admin").runCommand(note))
        .onErrorComplete()
        .then(Mono.from(group.place()).retryWhen(SourceReads.untilThere()));
  }
}
