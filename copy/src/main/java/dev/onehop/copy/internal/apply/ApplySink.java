package dev.onehop.copy.internal.apply;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoException;
import com.mongodb.MongoNamespace;
import com.mongodb.WriteConcern;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.WriteModel;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.streams.channel.ChannelBatch;
import dev.onehop.streams.channel.ChannelSink;
import dev.onehop.streams.channel.Channels;
import dev.onehop.streams.channel.FencedException;
import dev.onehop.streams.channel.FencedSink;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Applies the batches of channels to the destination, each in one transaction with the place, so
 * that each event is applied once and a late owner's writes have no effect. Thread-safe.
 */
final class ApplySink implements ChannelSink {
  private static final Logger log = LoggerFactory.getLogger(ApplySink.class);
  private static final BulkWriteOptions UNORDERED = new BulkWriteOptions().ordered(false);
  private static final BulkWriteOptions ORDERED = new BulkWriteOptions();

  private static final int SELDOM = 60;

  /**
   * Another lane may be about to free a value of a unique index. A shard may have an orphan with
   * the same {@code _id}, which it removes by itself, after a quarter of an hour perhaps.
   */
  private static final Retry UNTIL_FREE =
      Retry.backoff(Long.MAX_VALUE, Duration.ofMillis(20))
          .maxBackoff(Duration.ofSeconds(1))
          .filter(ApplySink::isDuplicate)
          .doBeforeRetry(
              retry -> {
                if (retry.totalRetries() % SELDOM == SELDOM - 1) {
                  log.warn("waits for a value of a unique index: {}", retry.failure().getMessage());
                }
              });

  private final MongoClient destination;
  private final int channels;
  private final Set<CopyOperation> operations;
  private final Planner planner;
  private final SourceReads source;
  private final Targets targets;
  private final SchemaChanges schema;
  private final Placements placements;
  private final FencedSink fence;
  private final Map<Integer, Lane> lanes = new ConcurrentHashMap<>();
  private final Map<Integer, BatchPlan> plans = new ConcurrentHashMap<>();
  private final AtomicLong events = new AtomicLong();
  private final AtomicLong documentsRead = new AtomicLong();

  /** Some documents that are changed were not as they have to be. */
  private static final class UnmatchedException extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  ApplySink(
      MongoClient destination,
      int channels,
      Set<CopyOperation> operations,
      MongoCollection<?> states,
      Planner planner,
      SourceReads source,
      Targets targets,
      SchemaChanges schema) {
    this.destination = destination;
    this.channels = channels;
    this.operations = Set.copyOf(operations);
    this.planner = planner;
    this.source = source;
    this.targets = targets;
    this.schema = schema;
    this.placements = new Placements(destination);
    this.fence = new FencedSink(destination, states, this::write);
  }

  @Override
  public Publisher<Checkpoint> begin(int channel, long term) {
    return Mono.from(fence.begin(channel, term))
        .map(Optional::of)
        .defaultIfEmpty(Optional.empty())
        .flatMap(
            place ->
                source
                    .now()
                    .doOnNext(now -> lanes.put(channel, new Lane(term, now)))
                    .then(Mono.justOrEmpty(place)));
  }

  @Override
  public Publisher<Void> write(ChannelBatch batch) {
    Lane lane = lanes.get(batch.channel());
    if (lane == null || lane.term() != batch.term()) {
      return Mono.error(new FencedException(batch.channel(), batch.term()));
    }
    StreamEvent.Change first = batch.events().get(0);
    if (DocumentEvent.of(first.document()) == null) {
      return operations.contains(CopyOperation.DDL)
          ? schema
              .apply(first, lane.isUncertain(time(batch)))
              .doOnSuccess(done -> targets.forget())
              .flatMap(plan -> commit(batch, lane, plan))
          : commit(batch, lane, BatchPlan.EMPTY);
    }
    return apply(batch, lane)
        .onErrorResume(ApplySink::isDuplicate, taken -> piecemeal(batch, lane));
  }

  /** Of an event that no server could send, the document is read. */
  @Override
  public Publisher<Void> notice(StreamEvent notice) {
    if (!(notice instanceof StreamEvent.TooLarge large)) {
      return ChannelSink.super.notice(notice);
    }
    RawBsonDocument event = new RawBsonDocument(large.event(), new BsonDocumentCodec());
    StreamEvent.Change change =
        new StreamEvent.Change(
            large.shard(),
            event.getDocument("_id").getString("_data").getValue(),
            event,
            System.nanoTime(),
            large.checkpoint());
    int channel = Channels.of(event, channels);
    Lane lane = lanes.get(channel);
    DocumentEvent told = DocumentEvent.of(event);
    if (lane == null || told == null) {
      return ChannelSink.super.notice(notice);
    }
    ChannelBatch batch =
        new ChannelBatch(channel, lane.term(), List.of(change), large.checkpoint());
    return planner
        .plan(batch.events(), lane, Set.of(told.document()))
        .flatMap(plan -> commit(batch, lane, plan));
  }

  private Mono<Void> apply(ChannelBatch batch, Lane lane) {
    return planner
        .plan(batch.events(), lane, Set.of())
        .flatMap(
            plan ->
                commit(batch, lane, plan)
                    .onErrorResume(
                        UnmatchedException.class, unmatched -> again(batch, lane, plan)));
  }

  /** What is not as events say is read from the source. */
  private Mono<Void> again(ChannelBatch batch, Lane lane, BatchPlan failed) {
    log.debug("channel {} reads {} documents", batch.channel(), failed.updated().size());
    targets.forget();
    return planner
        .plan(batch.events(), lane, new HashSet<>(failed.updated()))
        .flatMap(plan -> commit(batch, lane, plan));
  }

  /** A value of a unique index is taken: every event that can be applied is, one by one. */
  private Mono<Void> piecemeal(ChannelBatch batch, Lane lane) {
    log.debug("channel {} waits for a value of a unique index", batch.channel());
    int last = batch.events().size() - 1;
    return Flux.range(0, last + 1)
        .concatMap(
            index -> {
              StreamEvent.Change change = batch.events().get(index);
              ChannelBatch one =
                  new ChannelBatch(
                      batch.channel(),
                      batch.term(),
                      List.of(change),
                      index == last ? batch.place() : change.checkpoint());
              return Mono.defer(() -> apply(one, lane))
                  .onErrorResume(
                      ApplySink::isDuplicate,
                      taken ->
                          planner
                              .plan(one.events(), lane, names(change))
                              .flatMap(plan -> commit(one, lane, plan)))
                  .retryWhen(UNTIL_FREE);
            })
        .then();
  }

  private static Set<Lane.Document> names(StreamEvent.Change change) {
    DocumentEvent event = DocumentEvent.of(change.document());
    return event == null ? Set.of() : Set.of(event.document());
  }

  private static boolean isDuplicate(Throwable failure) {
    return (failure instanceof MongoException known
            && ErrorCategory.fromErrorCode(known.getCode()) == ErrorCategory.DUPLICATE_KEY)
        || (failure instanceof MongoBulkWriteException bulk
            && bulk.getWriteErrors().stream()
                .anyMatch(error -> error.getCategory() == ErrorCategory.DUPLICATE_KEY));
  }

  private Mono<Void> commit(ChannelBatch batch, Lane lane, BatchPlan plan) {
    plans.put(batch.channel(), plan);
    return Flux.fromIterable(plan.rounds(true))
        .concatMap(round -> write(null, round, UNORDERED).retryWhen(SourceReads.untilThere()))
        .then(Mono.defer(() -> placements.before(plan.namespaces())))
        .doOnNext(plan::placement)
        .then(Mono.defer(() -> Mono.from(fence.write(batch))))
        .doOnSuccess(
            done -> {
              plan.read().forEach(lane::wrote);
              lane.reached(time(batch));
              events.addAndGet(batch.events().size());
              documentsRead.addAndGet(plan.documentsRead());
            });
  }

  private static BsonTimestamp time(ChannelBatch batch) {
    return batch.events().get(batch.events().size() - 1).document().getTimestamp("clusterTime");
  }

  private Publisher<Void> write(ClientSession session, ChannelBatch batch) {
    BatchPlan plan = plans.getOrDefault(batch.channel(), BatchPlan.EMPTY);
    // An error of one statement ends the transaction. Without order, the statements after it are
    // sent all the same, and what is told then is that there is no such transaction.
    BulkWriteOptions options = plan.isFirstTry() ? UNORDERED : ORDERED;
    return Flux.fromIterable(plan.rounds(false))
        .concatMap(round -> write(session, round, options))
        .then(Mono.defer(() -> requireUnmoved(plan)));
  }

  private Mono<Void> requireUnmoved(BatchPlan plan) {
    return placements
        .now(plan.namespaces())
        .flatMap(
            now -> {
              if (now.equals(plan.placement())) {
                return Mono.empty();
              }
              plan.placement(now);
              return Mono.error(Placements.moved());
            });
  }

  /**
   * @param session null for none
   */
  private Mono<Void> write(
      @Nullable ClientSession session, BatchPlan.Round round, BulkWriteOptions options) {
    MongoNamespace name = round.target().namespace();
    MongoCollection<RawBsonDocument> collection =
        destination
            .getDatabase(name.getDatabaseName())
            .getCollection(name.getCollectionName(), RawBsonDocument.class)
            .withWriteConcern(WriteConcern.MAJORITY);
    List<WriteModel<RawBsonDocument>> models =
        round.statements().stream().map(Statement::model).toList();
    return Mono.from(
            session == null
                ? collection.bulkWrite(models, options)
                : collection.bulkWrite(session, models, options))
        .flatMap(
            result ->
                result.getMatchedCount() + result.getUpserts().size() < round.expected()
                    ? Mono.error(new UnmatchedException())
                    : Mono.empty());
  }

  /** The latest time from which on the documents of all channels are as at the source. */
  BsonTimestamp exactFrom() {
    return lanes.values().stream()
        .map(Lane::exactFrom)
        .max(BsonTimestamp::compareTo)
        .orElse(new BsonTimestamp(0));
  }

  long events() {
    return events.get();
  }

  long documentsRead() {
    return documentsRead.get();
  }
}
