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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Applies the batches of channels to the destination. Each channel writes in a lane of the fence,
 * so that late writes of an earlier owner have no effect. The position of a channel is stored with
 * its lease, not with the writes. If a process is killed, the next owner therefore applies some
 * events again, to documents that already have these changes. Thread-safe.
 */
final class ApplySink implements ChannelSink {
  private static final Logger log = LoggerFactory.getLogger(ApplySink.class);

  private final int channels;
  private final CappedCollections capped;
  private final Set<CopyOperation> operations;
  private final Planner planner;
  private final SourceReads source;
  private final Targets targets;
  private final SchemaChanges schema;
  private final BatchWriter writer;
  private final OccupiedDocuments occupied;
  private final Fence fence;
  private final Map<Integer, Tenure> tenures = new ConcurrentHashMap<>();
  private final AtomicLong events = new AtomicLong();

  /**
   * @param changed returns whether the source has further events of an event's document, up to a
   *     given time
   */
  ApplySink(
      Applier.Settings settings,
      Fence fence,
      SourceReads source,
      CappedCollections capped,
      SchemaChanges schema,
      BiFunction<DocumentEvent, BsonTimestamp, Mono<Boolean>> changed) {
    this.fence = fence;
    this.writer = new BatchWriter(settings.destination());
    this.channels = settings.pace().lanes();
    this.capped = capped;
    this.operations = settings.operations();
    this.source = source;
    this.targets = new Targets(settings.destination());
    this.planner = new Planner(settings.mapping(), operations, source, targets);
    this.occupied = new OccupiedDocuments(tenures, capped, operations, planner, writer, changed);
    this.schema = schema;
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
              .flatMap(plan -> writer.write(tenure, plan))
          : Mono.empty();
    }
    return documents(batch, tenure, Set.of());
  }

  private Mono<Void> documents(ChannelBatch batch, Tenure tenure, Set<Lane.Document> readAgain) {
    return tenure
        .turns()
        .next(attempt(batch, tenure, readAgain, /* first= */ true))
        .onErrorResume(OccupiedException.class, failure -> occupied.written(batch, tenure));
  }

  /**
   * Plans and writes a batch. If documents of the destination do not match their updates, plans the
   * batch again and reads these documents from the source. In the meantime, the source may have
   * inserted a deleted document again. The new plan can therefore contain updates of documents that
   * the plan before did not update. If such an update does not match its document either, the next
   * plan also reads this document. The second plan is made in any case, because the metadata may
   * have changed.
   */
  private Mono<Void> attempt(
      ChannelBatch batch, Tenure tenure, Set<Lane.Document> readAgain, boolean first) {
    return planner
        .plan(batch.events(), tenure.lane(), readAgain)
        .flatMap(
            plan ->
                writer
                    .write(tenure, plan)
                    .onErrorResume(
                        UnmatchedException.class,
                        unmatched -> {
                          Set<Lane.Document> more = new HashSet<>(readAgain);
                          if (!more.addAll(plan.updated()) && !first) {
                            return Mono.error(unmatched);
                          }
                          log.debug(
                              "channel {} reads {} documents of the source again",
                              batch.channel(),
                              more.size(),
                              unmatched);
                          targets.forget();
                          return attempt(batch, tenure, more, /* first= */ false);
                        }));
  }

  /**
   * If an event was too large for the server to send, reads the event's document from the source.
   */
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

  private static BsonTimestamp time(ChannelBatch batch) {
    return batch.events().get(batch.events().size() - 1).document().getTimestamp("clusterTime");
  }

  /** Whether this process has started a term of every channel. */
  boolean isWhole() {
    return tenures.size() == channels;
  }

  /** The latest {@link Lane#exactFrom} of the channels of this process. */
  BsonTimestamp exactFrom() {
    return tenures.values().stream()
        .map(tenure -> tenure.lane().exactFrom())
        .max(BsonTimestamp::compareTo)
        .orElse(new BsonTimestamp(0));
  }

  long events() {
    return events.get();
  }
}
