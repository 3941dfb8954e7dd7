package dev.onehop.streams.channel;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static dev.onehop.core.bson.Expressions.literal;
import static dev.onehop.core.bson.Expressions.operator;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.WriteModel;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.wire.message.ErrorCodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Writes events to a MongoDB collection, each event exactly once.
 *
 * <p>Each channel has a document in a collection of states, with its term, its position and the
 * number of its next batch. Each batch is one transaction. The first statement of the transaction
 * updates this document and stores the new position. The statement has two conditions: the stored
 * term equals the batch's term, and the stored number equals the batch's number. The writes for the
 * events follow.
 *
 * <p>A new owner first raises the term in this document. A transaction of the old owner then has
 * two possible results. Either it has committed before, and the new owner continues after its
 * events. Or it fails as a whole, even if the old owner continues the transaction later. If the old
 * owner has stopped within a transaction, the new owner ends the transaction at the server.
 *
 * <p>While servers cannot be reached, the sink retries. Thread-safe.
 */
public final class FencedSink implements ChannelSink {
  static final String PLACE = "place";

  private static final long RAISING_SECONDS = 2;
  private static final TransactionOptions OPTIONS =
      TransactionOptions.builder()
          .readConcern(ReadConcern.LOCAL)
          .readPreference(ReadPreference.primary())
          .writeConcern(WriteConcern.MAJORITY)
          .build();

  private final MongoClient client;
  private final MongoCollection<BsonDocument> target;
  private final MongoCollection<BsonDocument> states;
  private final Function<StreamEvent.Change, List<? extends WriteModel<BsonDocument>>> writes;
  // The session of a channel's last term stays open. After a close, the client would use it for
  // other operations, and the channel's next owner would interrupt them with killSessions.
  private final Map<Integer, Tenure> tenures = new ConcurrentHashMap<>();

  /**
   * A term of a channel in this process. The transactions of the term run one after another in one
   * session.
   */
  private record Tenure(int channel, long term, ClientSession session, AtomicLong batch) {}

  /**
   * Creates a sink. Nothing is sent before the first use.
   *
   * @param client the client of both collections. The servers must support transactions. The user
   *     needs the right to write to both collections
   * @param target the collection to write to. It has to exist already if a transaction writes to
   *     several shards, because such a transaction can't create a collection
   * @param states the collection for the term and the position of each channel. Each group needs
   *     its own collection, which has no other use
   * @param writes returns the writes for an event, in order; an empty list if the event needs no
   *     write. It is also called for events that concern more than one document, such as {@code
   *     drop}
   */
  public FencedSink(
      MongoClient client,
      MongoCollection<?> target,
      MongoCollection<?> states,
      Function<StreamEvent.Change, List<? extends WriteModel<BsonDocument>>> writes) {
    this.client = Objects.requireNonNull(client, "client");
    this.target = target.withDocumentClass(BsonDocument.class);
    this.states = MongoLeases.durable(states);
    this.writes = Objects.requireNonNull(writes, "writes");
  }

  @Override
  public Publisher<Checkpoint> begin(int channel, long term) {
    return raised(channel, term)
        .flatMap(state -> Mono.justOrEmpty(state.get(PLACE)))
        .map(place -> Checkpoint.parse(place.asDocument()));
  }

  /**
   * Starts a term as {@link #begin} does. Returns the channel's document in the collection of
   * states.
   */
  Mono<BsonDocument> raised(int channel, long term) {
    return Mono.from(client.startSession())
        .flatMap(
            session ->
                state(channel)
                    .flatMap(this::endTransaction)
                    .then(Mono.defer(() -> raise(channel, term, session)))
                    .retryWhen(
                        retry(
                            failure ->
                                Passing.is(failure)
                                    || isOf(failure, ErrorCodes.MAX_TIME_MS_EXPIRED)))
                    .doOnError(failure -> session.close()));
  }

  private Mono<BsonDocument> state(int channel) {
    return Mono.from(states.find(eq(channel)).first());
  }

  /**
   * Ends the old owner's transaction, which would block the new owner until the server's time limit
   * for transactions.
   */
  private Mono<Void> endTransaction(BsonDocument state) {
    BsonDocument kill =
        new BsonDocument("killSessions", new BsonArray(List.of(state.getDocument("session"))));
    return Mono.from(client.getDatabase("admin").runCommand(kill)).onErrorComplete().then();
  }

  private Mono<BsonDocument> raise(int channel, long term, ClientSession session) {
    BsonInt64 mine = new BsonInt64(term);
    BsonString stored = new BsonString("$term");
    BsonDocument fields =
        new BsonDocument("term", operator("$max", stored, mine))
            .append(
                "session",
                operator(
                    "$cond",
                    operator("$lte", stored, mine),
                    literal(session.getServerSession().getIdentifier()),
                    new BsonString("$session")))
            .append("batch", operator("$ifNull", new BsonString("$batch"), new BsonInt64(0)));
    return Mono.from(
            states.findOneAndUpdate(
                eq(channel),
                List.of(new BsonDocument("$set", fields)),
                new FindOneAndUpdateOptions()
                    .upsert(true)
                    .returnDocument(ReturnDocument.AFTER)
                    .maxTime(RAISING_SECONDS, TimeUnit.SECONDS)))
        .map(
            state -> {
              if (!mine.equals(state.get("term"))) {
                throw new FencedException(channel, term);
              }
              Tenure old =
                  tenures.put(
                      channel,
                      new Tenure(
                          channel,
                          term,
                          session,
                          new AtomicLong(state.getInt64("batch").getValue())));
              if (old != null) {
                old.session.close();
              }
              return state;
            });
  }

  @Override
  public Publisher<Void> write(ChannelBatch batch) {
    return write(batch.channel(), batch.term(), batch.events(), place(batch.place()));
  }

  /** The update of a channel's document that stores a position. */
  static Bson place(Checkpoint place) {
    return Updates.set(PLACE, place.toDocument());
  }

  /**
   * Writes events of a channel and updates the channel's document, in one transaction. Every error
   * of the application's code is a signal of the result. Reactor would throw some of these errors
   * on a thread where nothing handles them.
   *
   * @param events the events in order; may be empty
   * @param state the update of the channel's document
   */
  Mono<Void> write(int channel, long term, List<StreamEvent.Change> events, Bson state) {
    Tenure tenure = tenures.get(channel);
    if (tenure == null || tenure.term != term) {
      return Mono.error(new FencedException(channel, term));
    }
    List<WriteModel<BsonDocument>> models = new ArrayList<>();
    try {
      events.forEach(event -> models.addAll(writes.apply(event)));
    } catch (RuntimeException | Error thrown) {
      return Mono.error(thrown);
    }
    return Mono.defer(() -> attempt(tenure, models.isEmpty() ? List.of() : List.of(models), state))
        .onErrorResume(
            FencedSink::hasToBeAlone,
            failure -> attempt(tenure, models.stream().map(List::of).toList(), state))
        .retryWhen(
            retry(
                failure ->
                    has(failure, MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL)
                        // A new owner may have ended the session. A retry finds the new owner.
                        || isOf(failure, ErrorCodes.INTERRUPTED)))
        .doOnSuccess(done -> tenure.batch.incrementAndGet());
  }

  /**
   * Whether a mongos has refused an update that moves a document to another shard, because the
   * update is not the only statement of its command.
   */
  private static boolean hasToBeAlone(Throwable failure) {
    return isOf(failure, ErrorCodes.INVALID_OPTIONS)
        || (failure instanceof MongoBulkWriteException bulk
            && bulk.getWriteErrors().stream()
                .anyMatch(each -> each.getCode() == ErrorCodes.INVALID_OPTIONS));
  }

  private Mono<Void> attempt(
      Tenure tenure, List<List<WriteModel<BsonDocument>>> commands, Bson state) {
    ClientSession session = tenure.session;
    session.startTransaction(OPTIONS);
    Mono<Boolean> written =
        claim(tenure, state)
            .flatMap(
                mine ->
                    mine
                        ? Flux.fromIterable(commands)
                            .concatMap(models -> target.bulkWrite(session, models))
                            .then(Mono.just(true))
                        : Mono.just(false));
    return written
        .onErrorResume(failure -> abort(session).then(Mono.error(failure)))
        .flatMap(
            mine -> mine ? commit(session) : abort(session).then(Mono.defer(() -> isDone(tenure))));
  }

  /**
   * Runs the first statement of a transaction: it updates the channel's document. Returns false if
   * the document has another term or another batch number. Because of this update, the transaction
   * conflicts with a new owner that raises the term at the same time.
   */
  private Mono<Boolean> claim(Tenure tenure, Bson state) {
    return Mono.from(
            states.updateOne(
                tenure.session,
                and(eq(tenure.channel), eq("term", tenure.term), eq("batch", tenure.batch.get())),
                Updates.combine(Updates.inc("batch", 1L), state)))
        .map(result -> result.getMatchedCount() == 1);
  }

  private static Mono<Void> abort(ClientSession session) {
    return Mono.from(session.abortTransaction()).onErrorComplete();
  }

  private static Mono<Void> commit(ClientSession session) {
    return Mono.defer(() -> Mono.from(session.commitTransaction()))
        .retryWhen(
            retry(failure -> has(failure, MongoException.UNKNOWN_TRANSACTION_COMMIT_RESULT_LABEL)));
  }

  /**
   * Called when the first statement of a batch's transaction has matched no document. Completes if
   * an earlier attempt, whose reply was lost, has written the batch. Fails if the channel has
   * another owner, or with a transient error if the outcome is unknown.
   */
  private Mono<Void> isDone(Tenure tenure) {
    return state(tenure.channel)
        .switchIfEmpty(Mono.error(() -> new IllegalStateException("the sink's state was removed")))
        .flatMap(
            state -> {
              if (state.getInt64("term").getValue() != tenure.term) {
                return Mono.error(new FencedException(tenure.channel, tenure.term));
              }
              if (state.getInt64("batch").getValue() != tenure.batch.get()) {
                return Mono.empty();
              }
              // The transaction found no document with this batch number, but this read did. A read
              // with read concern majority may return an older state than the transaction's. So the
              // batch is tried again.
              MongoException again =
                  new MongoException("it is not known yet whether the batch was written");
              again.addLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL);
              return Mono.error(again);
            });
  }

  private static boolean has(@Nullable Throwable failure, String label) {
    return failure instanceof MongoException known && known.hasErrorLabel(label);
  }

  private static boolean isOf(Throwable failure, int code) {
    return failure instanceof MongoException known && known.getCode() == code;
  }

  private static Retry retry(Predicate<Throwable> passing) {
    return Retry.backoff(Long.MAX_VALUE, Duration.ofMillis(10))
        .maxBackoff(Duration.ofSeconds(1))
        .filter(passing);
  }
}
