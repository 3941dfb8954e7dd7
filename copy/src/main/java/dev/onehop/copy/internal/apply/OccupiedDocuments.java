package dev.onehop.copy.internal.apply;

import dev.onehop.copy.internal.apply.BatchWriter.OccupiedException;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.streams.channel.ChannelBatch;
import dev.onehop.streams.channel.FencedException;
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
import java.util.function.BiFunction;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Writes the documents of a batch if one of them needs a value in a unique index that another
 * document of the destination has. The value may become free without further action:
 *
 * <ul>
 *   <li>Another channel soon applies an event that frees it.
 *   <li>A shard has an orphaned document with the same {@code _id}. The shard removes this document
 *       later, perhaps after a quarter of an hour, and then the value is free.
 * </ul>
 *
 * <p>Until then, the other documents of the batch are written, each with its current state at the
 * source. The documents that wait are removed from the destination, so that other documents can
 * have their values.
 *
 * <p>A document that was read from the source may need a value of another document, the owner. The
 * event in which the owner gives up the value may have to wait until the batch is written. For
 * example, a change of metadata comes before this event, or too many events are read ahead already.
 * Therefore the owner is also read from the source, and written in its own channel. The write waits
 * for the other writes of this channel, so that no older state can overwrite the owner. The channel
 * then leaves out the events whose changes the owner already has.
 *
 * <p>Thread-safe.
 *
 * @param tenures the current tenures of the channels by their numbers
 * @param changed returns whether the source has further events of an event's document, up to a
 *     given time
 */
record OccupiedDocuments(
    Map<Integer, Tenure> tenures,
    CappedCollections capped,
    Set<CopyOperation> operations,
    Planner planner,
    BatchWriter writer,
    BiFunction<DocumentEvent, BsonTimestamp, Mono<Boolean>> changed) {
  private static final Logger log = LoggerFactory.getLogger(OccupiedDocuments.class);
  private static final int SELDOM = 60;
  private static final int PATIENCE = 3;
  private static final Set<CopyOperation> CHANGES =
      Set.of(CopyOperation.UPDATE, CopyOperation.DELETE);

  /** Writes the documents of a batch. Waits until the values are free. */
  Mono<Void> written(ChannelBatch batch, Tenure tenure) {
    return new Waiting(batch, tenure).written();
  }

  private final class Waiting {
    private final ChannelBatch batch;
    private final Tenure tenure;
    private final Map<Lane.Document, List<StreamEvent.Change>> documents = new LinkedHashMap<>();
    // The keys are the documents that are not from the batch. The values are the failures because
    // of which the documents were added.
    private final Map<Lane.Document, OccupiedException> owners = new HashMap<>();
    // The owners that were added since the last pause. They are not added again before the next
    // pause.
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
                              "channel {} waits until a document gives up a unique value: {}",
                              batch.channel(),
                              retry.failure().getMessage());
                        }
                      }));
    }

    /**
     * Tries to write all waiting documents. If the set of waiting documents has changed, tries
     * again at once.
     */
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

    /**
     * Removes a document from the waiting documents, because another process owns its channel now
     * and will write it.
     */
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
                      .then(writer.write(in, plan))
                      .onErrorResume(
                          OccupiedException.class,
                          occupied -> {
                            plan.read().values().forEach(in.lane()::exactAfter);
                            return writer
                                .write(in.writes(), plan.withdrawal())
                                .then(Mono.error(occupied));
                          }));
    }

    /**
     * Called before an owner is removed from the destination because the source does not have it.
     * Fails if the owner has no later event, because then the owner was not copied from the source.
     */
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
                              ("the destination's document %s is not from the source, and has a"
                                      + " unique value that another document needs: remove it, and"
                                      + " resume (%s)")
                                  .formatted(event.key().toJson(), why.getMessage()))));
    }

    /** Adds the owners of the value to the waiting documents, each with an artificial event. */
    private Mono<Void> addOwners(OccupiedException occupied, StreamEvent.Change waiting) {
      // Most owners give up the value soon, so the first tries only wait. If updates or deletes are
      // not applied, an owner may never give up the value. Then no owner is added.
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
                    log.debug("{} is read, because another document needs its unique value", id);
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

  /**
   * Creates an artificial update event for another document in the collection of {@code like}. Its
   * cluster time is later than any read, so that this other document is read again.
   */
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
}
