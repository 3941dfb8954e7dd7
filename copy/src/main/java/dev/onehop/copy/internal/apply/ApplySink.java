package dev.onehop.copy.internal.apply;

import dev.onehop.copy.internal.apply.BatchWriter.OccupiedException;
import dev.onehop.copy.internal.apply.BatchWriter.UnmatchedException;
import dev.onehop.copy.internal.state.Fence;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.streams.channel.ChannelBatch;
import dev.onehop.streams.channel.ChannelSink;
import dev.onehop.streams.channel.Channels;
import dev.onehop.streams.channel.FencedException;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Applies the batches of channels to the destination. Each channel writes in a lane of the fence,
 * so that a late owner's writes have no effect. Where it came to is stored with its lease: who goes
 * on after it was killed applies some events again, to documents that have met them. Thread-safe.
 */
final class ApplySink implements ChannelSink {
  private static final Logger log = LoggerFactory.getLogger(ApplySink.class);
  private static final int SELDOM = 60;

  private final int channels;
  private final Set<CopyOperation> operations;
  private final Planner planner;
  private final SourceReads source;
  private final Targets targets;
  private final SchemaChanges schema;
  private final BatchWriter writer;
  private final Fence fence;
  private final Map<Integer, Tenure> tenures = new ConcurrentHashMap<>();
  private final AtomicLong events = new AtomicLong();
  private final AtomicLong documentsRead = new AtomicLong();

  /**
   * A channel in one term.
   *
   * @param lane what is known of its documents
   * @param writes where it writes
   */
  private record Tenure(Lane lane, Fence.Lane writes) {}

  ApplySink(
      Fence fence,
      BatchWriter writer,
      int channels,
      Set<CopyOperation> operations,
      Planner planner,
      SourceReads source,
      Targets targets,
      SchemaChanges schema) {
    this.fence = fence;
    this.writer = writer;
    this.channels = channels;
    this.operations = Set.copyOf(operations);
    this.planner = planner;
    this.source = source;
    this.targets = targets;
    this.schema = schema;
  }

  @Override
  public Publisher<Checkpoint> begin(int channel, long term) {
    return fence
        .raise(channel, term)
        .onErrorMap(CopyException.class, lost -> fenced(channel, term, lost))
        .flatMap(
            writes ->
                source
                    .now()
                    .doOnNext(
                        now -> {
                          Tenure old =
                              tenures.put(channel, new Tenure(new Lane(term, now), writes));
                          if (old != null) {
                            old.writes().close();
                          }
                        }))
        .then(Mono.empty());
  }

  private static FencedException fenced(int channel, long term, Throwable lost) {
    FencedException fenced = new FencedException(channel, term);
    fenced.addSuppressed(lost);
    return fenced;
  }

  @Override
  public Publisher<Void> write(ChannelBatch batch) {
    Tenure tenure = tenures.get(batch.channel());
    if (tenure == null || tenure.lane().term() != batch.term()) {
      return Mono.error(new FencedException(batch.channel(), batch.term()));
    }
    return applied(batch, tenure, written(batch, tenure));
  }

  private Mono<Void> applied(ChannelBatch batch, Tenure tenure, Mono<Void> write) {
    return write
        .onErrorMap(CopyException.class, lost -> fenced(batch.channel(), batch.term(), lost))
        .doOnSuccess(
            done -> {
              tenure.lane().reached(time(batch));
              events.addAndGet(batch.events().size());
            });
  }

  private Mono<Void> written(ChannelBatch batch, Tenure tenure) {
    StreamEvent.Change first = batch.events().get(0);
    if (DocumentEvent.of(first.document()) == null) {
      return operations.contains(CopyOperation.DDL)
          ? schema
              .apply(first, tenure.lane().isUncertain(time(batch)), tenure.writes().raise())
              .doOnSuccess(done -> targets.forget())
              .flatMap(plan -> write(tenure, plan))
          : Mono.empty();
    }
    return documents(batch, tenure, Set.of());
  }

  private Mono<Void> documents(ChannelBatch batch, Tenure tenure, Set<Lane.Document> readAgain) {
    return planner
        .plan(batch.events(), tenure.lane(), readAgain)
        .flatMap(
            plan ->
                write(tenure, plan)
                    .onErrorResume(
                        UnmatchedException.class, unmatched -> again(batch, tenure, plan)))
        .onErrorResume(OccupiedException.class, occupied -> piecemeal(batch, tenure));
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
    Tenure tenure = tenures.get(channel);
    DocumentEvent told = DocumentEvent.of(event);
    if (tenure == null || told == null) {
      return ChannelSink.super.notice(notice);
    }
    ChannelBatch batch =
        new ChannelBatch(channel, tenure.lane().term(), List.of(change), large.checkpoint());
    return applied(batch, tenure, documents(batch, tenure, Set.of(told.document())));
  }

  private Mono<Void> write(Tenure tenure, BatchPlan plan) {
    return writer
        .write(tenure.writes(), plan)
        .doOnSuccess(
            done -> {
              plan.read().forEach(tenure.lane()::wrote);
              documentsRead.addAndGet(plan.documentsRead());
            });
  }

  /** What is not as events say is read from the source. */
  private Mono<Void> again(ChannelBatch batch, Tenure tenure, BatchPlan failed) {
    log.debug("channel {} reads {} documents", batch.channel(), failed.updated().size());
    targets.forget();
    return planner
        .plan(batch.events(), tenure.lane(), new HashSet<>(failed.updated()))
        .flatMap(plan -> write(tenure, plan));
  }

  /**
   * A value of a unique index is taken. Another lane may be about to free it; or a shard may have
   * an orphan with the same {@code _id}, which it removes by itself, after a quarter of an hour
   * perhaps. Meanwhile the batch's other documents are written, each as it is at the source, and
   * those that wait are not at the destination, so that others can have their values.
   */
  private Mono<Void> piecemeal(ChannelBatch batch, Tenure tenure) {
    Map<Lane.Document, List<StreamEvent.Change>> waiting = new LinkedHashMap<>();
    for (StreamEvent.Change change : batch.events()) {
      DocumentEvent event = DocumentEvent.of(change.document());
      if (event != null) {
        waiting.computeIfAbsent(event.document(), key -> new ArrayList<>()).add(change);
      }
    }
    return Mono.defer(() -> pass(waiting, tenure))
        .retryWhen(
            Retry.backoff(Long.MAX_VALUE, Duration.ofMillis(20))
                .maxBackoff(Duration.ofSeconds(1))
                .filter(OccupiedException.class::isInstance)
                .doBeforeRetry(
                    retry -> {
                      if (retry.totalRetries() % SELDOM == SELDOM - 1) {
                        log.warn(
                            "channel {} waits for a value of a unique index: {}",
                            batch.channel(),
                            retry.failure().getMessage());
                      }
                    }));
  }

  private Mono<Void> pass(Map<Lane.Document, List<StreamEvent.Change>> waiting, Tenure tenure) {
    return Flux.fromIterable(List.copyOf(waiting.keySet()))
        .concatMapDelayError(
            document ->
                planner
                    .plan(List.copyOf(waiting.get(document)), tenure.lane(), Set.of(document))
                    .flatMap(
                        plan ->
                            write(tenure, plan)
                                .onErrorResume(
                                    OccupiedException.class,
                                    occupied ->
                                        writer
                                            .write(tenure.writes(), plan.withdrawal())
                                            .then(Mono.error(occupied))))
                    .doOnSuccess(done -> waiting.remove(document)))
        .then()
        .onErrorMap(ApplySink::single);
  }

  /** Of the failures of several documents, one that does not pass. */
  private static Throwable single(Throwable failure) {
    List<Throwable> all = Exceptions.unwrapMultiple(failure);
    return all.stream()
        .filter(each -> !(each instanceof OccupiedException))
        .findFirst()
        .orElse(all.get(0));
  }

  private static BsonTimestamp time(ChannelBatch batch) {
    return batch.events().get(batch.events().size() - 1).document().getTimestamp("clusterTime");
  }

  /** Whether every channel was written here. */
  boolean isWhole() {
    return tenures.size() == channels;
  }

  /** The latest time from which on the documents of these channels are as at the source. */
  BsonTimestamp exactFrom() {
    return tenures.values().stream()
        .map(tenure -> tenure.lane().exactFrom())
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
