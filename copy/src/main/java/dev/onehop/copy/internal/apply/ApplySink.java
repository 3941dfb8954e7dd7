package dev.onehop.copy.internal.apply;

import dev.onehop.copy.internal.apply.BatchWriter.OccupiedException;
import dev.onehop.copy.internal.apply.BatchWriter.UnmatchedException;
import dev.onehop.copy.internal.state.Fence;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.streams.channel.ChannelBatch;
import dev.onehop.streams.channel.ChannelSink;
import dev.onehop.streams.channel.FencedException;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
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
 * Applies the batches of channels to the destination. Each channel writes in a lane of the fence,
 * so that a late owner's writes have no effect. Where it came to is stored with its lease: who goes
 * on after it was killed applies some events again, to documents that have met them. Thread-safe.
 */
final class ApplySink implements ChannelSink {
  private static final Logger log = LoggerFactory.getLogger(ApplySink.class);
  private static final int SELDOM = 60;
  private static final int PATIENCE = 3;
  private static final Set<CopyOperation> CHANGES =
      Set.of(CopyOperation.UPDATE, CopyOperation.DELETE);

  private final int channels;
  private final CappedCollections capped;
  private final Set<CopyOperation> operations;
  private final Planner planner;
  private final SourceReads source;
  private final Targets targets;
  private final SchemaChanges schema;
  private final BatchWriter writer;
  private final Fence fence;
  private final BiFunction<DocumentEvent, BsonTimestamp, Mono<Boolean>> changed;
  private final Map<Integer, Tenure> tenures = new ConcurrentHashMap<>();
  private final AtomicLong events = new AtomicLong();
  private final AtomicLong documentsRead = new AtomicLong();

  /**
   * A channel in one term.
   *
   * @param lane what is known of its documents
   * @param writes where it writes
   * @param turns in which it plans and writes: also for other channels that wait for its documents
   */
  private record Tenure(Lane lane, Fence.Lane writes, Turns turns) {}

  /**
   * @param changed whether events that are still to come may concern the document of an event, up
   *     to a time
   */
  ApplySink(
      Fence fence,
      BatchWriter writer,
      int channels,
      CappedCollections capped,
      Set<CopyOperation> operations,
      Planner planner,
      SourceReads source,
      Targets targets,
      SchemaChanges schema,
      BiFunction<DocumentEvent, BsonTimestamp, Mono<Boolean>> changed) {
    this.fence = fence;
    this.writer = writer;
    this.channels = channels;
    this.capped = capped;
    this.operations = Set.copyOf(operations);
    this.planner = planner;
    this.source = source;
    this.targets = targets;
    this.schema = schema;
    this.changed = changed;
  }

  @Override
  public Publisher<Checkpoint> begin(int channel, long term) {
    Tenure old = tenures.get(channel);
    Mono<Void> begun = begun(channel, term, old);
    return (old == null ? begun : old.turns().next(begun)).then(Mono.empty());
  }

  private Mono<Void> begun(int channel, long term, @Nullable Tenure old) {
    return fence
        .raise(channel, term)
        .onErrorMap(CopyException.class, lost -> fenced(channel, term, lost))
        .flatMap(
            writes ->
                source
                    .now()
                    .doOnNext(
                        now -> {
                          tenures.put(
                              channel, new Tenure(new Lane(term, now), writes, new Turns()));
                          if (old != null) {
                            old.writes().close();
                          }
                        }))
        .then();
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
    return tenure
        .turns()
        .next(
            planner
                .plan(batch.events(), tenure.lane(), readAgain)
                .flatMap(
                    plan ->
                        write(tenure, plan)
                            .onErrorResume(
                                UnmatchedException.class,
                                unmatched -> again(batch, tenure, plan.updated(), unmatched))))
        .onErrorResume(OccupiedException.class, occupied -> new Waiting(batch, tenure).written());
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
    int channel = capped.channel(event);
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

  /**
   * What is not as events say is read from the source. A second plan may change documents that the
   * first one did not: the source has got them back meanwhile.
   */
  private Mono<Void> again(
      ChannelBatch batch,
      Tenure tenure,
      Set<Lane.Document> readAgain,
      UnmatchedException unmatched) {
    log.debug("channel {} reads {} documents", batch.channel(), readAgain.size(), unmatched);
    targets.forget();
    return planner
        .plan(batch.events(), tenure.lane(), readAgain)
        .flatMap(
            plan ->
                write(tenure, plan)
                    .onErrorResume(
                        UnmatchedException.class,
                        still -> {
                          Set<Lane.Document> more = new HashSet<>(readAgain);
                          return more.addAll(plan.updated())
                              ? again(batch, tenure, more, still)
                              : Mono.error(still);
                        }));
  }

  /**
   * The documents of a batch for which a value of a unique index is taken. Another channel may be
   * about to free it; or a shard may have an orphan with the same {@code _id}, which it removes by
   * itself, after a quarter of an hour perhaps. Meanwhile the batch's other documents are written,
   * each as it is at the source, and those that wait are not at the destination, so that others can
   * have their values.
   *
   * <p>A document that was read from the source may need a value whose owner gives it up in an
   * event that is held back: by a change of metadata that waits for this batch, or because too much
   * is read ahead. So the owner is read from the source, too, and written in a turn of its own
   * channel: nothing older can be written over it, and that channel leaves out the events that it
   * has met.
   */
  private final class Waiting {
    private final ChannelBatch batch;
    private final Tenure tenure;
    private final Map<Lane.Document, List<StreamEvent.Change>> documents = new LinkedHashMap<>();
    // Why those that are not of the batch are among them.
    private final Map<Lane.Document, OccupiedException> owners = new HashMap<>();
    // Since the last pause: one that does not help is not tried again at once.
    private final Set<Lane.Document> added = new HashSet<>();
    private long tries;

    Waiting(ChannelBatch batch, Tenure tenure) {
      this.batch = batch;
      this.tenure = tenure;
      for (StreamEvent.Change change : batch.events()) {
        documents.computeIfAbsent(document(change), key -> new ArrayList<>()).add(change);
      }
    }

    Mono<Void> written() {
      return Mono.defer(this::pass)
          .retryWhen(
              Retry.backoff(Long.MAX_VALUE, Duration.ofMillis(20))
                  .maxBackoff(Duration.ofSeconds(1))
                  .filter(OccupiedException.class::isInstance)
                  .doBeforeRetry(
                      retry -> {
                        tries = retry.totalRetries() + 1;
                        added.clear();
                        if (tries % SELDOM == 0) {
                          log.warn(
                              "channel {} waits for a value of a unique index: {}",
                              batch.channel(),
                              retry.failure().getMessage());
                        }
                      }));
    }

    /** Tries all, and again at once if there was something to do. */
    private Mono<Void> pass() {
      Set<Lane.Document> all = Set.copyOf(documents.keySet());
      List<OccupiedException> occupied = new ArrayList<>();
      return Flux.fromIterable(List.copyOf(documents.entrySet()))
          .concatMap(
              each ->
                  attempt(each.getKey(), each.getValue())
                      .onErrorResume(
                          OccupiedException.class,
                          failure -> {
                            occupied.add(failure);
                            return addOwners(failure, each.getValue().get(0));
                          }))
          .then(
              Mono.defer(
                  () ->
                      occupied.isEmpty()
                          ? Mono.empty()
                          : documents.keySet().equals(all) ? Mono.error(occupied.get(0)) : pass()));
    }

    private Mono<Void> attempt(Lane.Document document, List<StreamEvent.Change> changes) {
      int channel = capped.channel(changes.get(0).document());
      Tenure in = tenures.get(channel);
      if (in == null || (channel == batch.channel() && !in.equals(tenure))) {
        return lost(document, channel, batch.term());
      }
      return in.turns()
          .next(
              Mono.defer(
                  () ->
                      in.equals(tenures.get(channel))
                          ? put(document, changes, in)
                          : lost(document, channel, in.lane().term())))
          .onErrorResume(CopyException.class, failure -> lost(document, channel, in.lane().term()))
          .doOnSuccess(done -> documents.remove(document));
    }

    /** The channel is another process's, which is to write its documents. */
    private Mono<Void> lost(Lane.Document document, int channel, long term) {
      documents.remove(document);
      return channel == batch.channel()
          ? Mono.error(new FencedException(channel, term))
          : Mono.empty();
    }

    private Mono<Void> put(Lane.Document document, List<StreamEvent.Change> changes, Tenure in) {
      return planner
          .plan(changes, in.lane(), Set.of(document))
          .flatMap(
              plan ->
                  checkRemoval(document, changes.get(0), plan)
                      .then(write(in, plan))
                      .onErrorResume(
                          OccupiedException.class,
                          occupied -> {
                            plan.read().values().forEach(in.lane()::exactAfter);
                            return writer
                                .write(in.writes(), plan.withdrawal())
                                .then(Mono.error(occupied));
                          }));
    }

    /** A document that the source does not have is removed only if it was the source's. */
    private Mono<Void> checkRemoval(
        Lane.Document document, StreamEvent.Change change, BatchPlan plan) {
      OccupiedException why = owners.get(document);
      DocumentEvent event = DocumentEvent.of(change.document());
      if (why == null || event == null || !plan.isRemoval()) {
        return Mono.empty();
      }
      return changed
          .apply(event, plan.read().values().iterator().next())
          .flatMap(
              removed ->
                  removed
                      ? Mono.empty()
                      : Mono.error(
                          new IllegalStateException(
                              "the destination has a document %s which does not come from the source, and which has a value of a unique index that another one needs; remove it, and resume: %s"
                                  .formatted(event.key().toJson(), why.getMessage()))));
    }

    /** Of an owner it is only known that it has changed. */
    private Mono<Void> addOwners(OccupiedException occupied, StreamEvent.Change waiting) {
      // Most give it up by themselves soon; some never, if their events are not to be applied.
      if (tries < PATIENCE || !operations.containsAll(CHANGES)) {
        return Mono.empty();
      }
      return writer
          .occupants(occupied)
          .doOnNext(
              ids -> {
                for (BsonValue id : ids) {
                  StreamEvent.Change change = change(waiting, id);
                  Lane.Document owner = document(change);
                  if (added.add(owner) && documents.putIfAbsent(owner, List.of(change)) == null) {
                    log.debug("{} is read, as another document needs a value of it", id);
                    owners.put(owner, occupied);
                  }
                }
              })
          .then();
    }
  }

  private static Lane.Document document(StreamEvent.Change change) {
    return Objects.requireNonNull(DocumentEvent.of(change.document())).document();
  }

  /** An event that no read has met, of another document of the same collection. */
  private static StreamEvent.Change change(StreamEvent.Change like, BsonValue id) {
    BsonDocument event =
        new BsonDocument("operationType", new BsonString("update"))
            .append("ns", like.document().get("ns"))
            .append("clusterTime", new BsonTimestamp(-1L))
            .append("documentKey", new BsonDocument("_id", id));
    BsonValue uuid = like.document().get("collectionUUID");
    if (uuid != null) {
      event.append("collectionUUID", uuid);
    }
    return new StreamEvent.Change(
        like.shard(),
        like.token(),
        new RawBsonDocument(event, new BsonDocumentCodec()),
        like.receivedNanos(),
        like.checkpoint());
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
