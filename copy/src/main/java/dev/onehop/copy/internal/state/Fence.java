package dev.onehop.copy.internal.state;

import com.mongodb.MongoException;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.state.FencePlaces.Places;
import dev.onehop.copy.progress.CopyException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * A fence around the writes of a job: they have no effect once another process owns the job.
 *
 * <p>A <em>lane</em> is a sequence of retryable writes in one server session. A lane has the same
 * session id in every process. The transaction numbers of its writes begin with the owner's term. A
 * new owner <em>raises</em> each lane: in each lane, it first writes a document on every shard.
 * From then on each shard refuses the writes of earlier owners in these lanes, however late they
 * arrive. The reason: a server refuses a transaction number below the highest number of the session
 * ({@code TransactionTooOld}; {@code beginOrContinue} in {@code
 * src/mongo/db/transaction_participant.cpp}). The highest number is stored in {@code
 * config.transactions} and survives an election.
 *
 * <p>Servers forget a session that was not used for half an hour. After that, they do not refuse
 * late writes of earlier owners any more. Therefore a lane checks after a long pause whether its
 * process still owns the job. Sessions of different users are different, even with the same id.
 *
 * <p>Thread-safe.
 */
public final class Fence {
  private static final int TRANSACTION_TOO_OLD = 225;

  /** The bits of a transaction number that count the commands. The bits above them are the term. */
  private static final int NUMBER_BITS = 40;

  private static final long LAST_TERM = (1L << (Long.SIZE - 1 - NUMBER_BITS)) - 1;

  /**
   * After a pause of this length, a lane checks whether its process still owns the job, because
   * servers may soon forget the session.
   */
  private static final long PAUSE_NANOS = Duration.ofMinutes(20).toNanos();

  /** The interval between two checks for new shards. */
  private static final long LOOK_NANOS = Duration.ofSeconds(5).toNanos();

  private static final int AT_ONCE = 8;
  private static final BsonDocument MAJORITY = new BsonDocument("w", new BsonString("majority"));

  private final MongoClient destination;
  private final String database;
  private final String name;
  private final FencePlaces places;
  private final Mono<Void> stillOwner;
  private final AtomicLong lookedNanos = new AtomicLong(System.nanoTime());
  private volatile Set<String> shards = Set.of();

  /** Thrown if the fence's documents have moved to other shards while a lane was raised. */
  private static final class MovedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    MovedException() {
      super("the documents of the fence have moved to other shards", null, false, false);
    }
  }

  /**
   * Creates a fence without sending anything.
   *
   * @param state the database of the fence's documents
   * @param name the name of the fence, from which the session ids are derived. It is the same in
   *     all processes of a job, and different for different jobs
   * @param stillOwner fails if another process owns the job; a lane checks it after a long pause,
   *     before it writes again
   */
  public Fence(MongoClient destination, MongoDatabase state, String name, Mono<Void> stillOwner) {
    this.stillOwner = stillOwner;
    this.destination = destination;
    this.database = state.getName();
    this.name = name;
    this.places = new FencePlaces(destination, database + ".fences");
  }

  /**
   * Raises a lane: from then on, writes of earlier owners in the lane fail.
   *
   * @param number the number of the lane, from 0
   * @param term the term of the owner, below 2^22; greater than the terms of all earlier owners
   * @return the lane; fails with a {@link CopyException} if there is a later owner
   */
  public Mono<Lane> raise(int number, long term) {
    return raise(number, term, Lane::raise);
  }

  private Mono<Lane> raise(int number, long term, Function<Lane, Mono<Void>> raised) {
    return Mono.from(destination.startSession())
        .flatMap(
            session -> {
              Lane lane = new Lane(number, term, session);
              return raised.apply(lane).thenReturn(lane).doOnError(failure -> lane.close());
            });
  }

  /**
   * Makes all further writes in the lanes fail, whatever their term.
   *
   * @param lanes the number of lanes
   */
  public Mono<Void> close(int lanes) {
    // An earlier process may have needed several numbers to close a lane. A retry has the next one.
    Retry next = Retry.indefinitely().filter(CopyException.class::isInstance);
    return Flux.range(0, lanes)
        .flatMap(number -> raise(number, LAST_TERM, lane -> lane.raise().retryWhen(next)), AT_ONCE)
        .doOnNext(Lane::close)
        .then();
  }

  /** The shards on which lanes must be raised. */
  private Mono<Set<String>> shards() {
    long last = lookedNanos.get();
    long now = System.nanoTime();
    if (!shards.isEmpty() && (now - last < LOOK_NANOS || !lookedNanos.compareAndSet(last, now))) {
      return Mono.just(shards);
    }
    return places.shards().doOnNext(found -> shards = found);
  }

  /** A sequence of writes. A write begins only after the write before it has ended. */
  public final class Lane implements AutoCloseable {
    private final ClientSession session;
    private final ClientSession named;
    private long number;
    private volatile long triedNanos = System.nanoTime();
    private volatile Set<String> raisedOn = Set.of();

    private Lane(int lane, long term, ClientSession session) {
      UUID id = UUID.nameUUIDFromBytes((name + "." + lane).getBytes(StandardCharsets.UTF_8));
      this.session = session;
      this.named = LaneSession.of(session, new BsonDocument("id", new BsonBinary(id)));
      this.number = term << NUMBER_BITS;
    }

    /**
     * Runs an {@code insert}, {@code update} or {@code delete}. While servers are unreachable, the
     * command is sent again with the same transaction number, so that each statement takes effect
     * only once. The caller waits for the end of a write before the next write.
     *
     * @param inDatabase the database of the command
     * @param command the command without a write concern; the lane adds {@code majority}. Each
     *     statement concerns one document
     * @return the reply, which may have errors of statements; fails with a {@link CopyException} if
     *     another process owns the job
     */
    public Mono<BsonDocument> write(String inDatabase, BsonDocument command) {
      return afterPause()
          .then(shards())
          .flatMap(now -> raisedOn.containsAll(now) ? Mono.<Void>empty() : raise())
          .then(Mono.defer(() -> send(inDatabase, command, ++number)));
    }

    /**
     * Raises the lane on all shards again, to check that this process still owns the job. Call it
     * before an operation that can't run in a lane.
     *
     * @return completes if this process owns the job; fails with a {@link CopyException} if another
     *     process owns it
     */
    public Mono<Void> raise() {
      return places
          .get()
          .flatMap(
              before -> raise(before).then(places.get()).flatMap(after -> confirm(before, after)))
          .retryWhen(Waits.retry(MovedException.class::isInstance));
    }

    private Mono<Void> raise(Places at) {
      long mine = ++number;
      return Flux.fromIterable(at.ids().values())
          .flatMap(id -> send(database, touch(id), mine), AT_ONCE)
          .then()
          // If several shards refuse, only the first failure is reported.
          .onErrorMap(failure -> Exceptions.unwrapMultiple(failure).get(0));
    }

    private Mono<Void> confirm(Places before, Places after) {
      if (!before.equals(after)) {
        return Mono.error(new MovedException());
      }
      raisedOn = Set.copyOf(before.ids().keySet());
      return Mono.empty();
    }

    private BsonDocument touch(BsonInt32 id) {
      BsonDocument statement =
          new BsonDocument("q", new BsonDocument("_id", id))
              .append("u", new BsonDocument("$inc", new BsonDocument("raised", new BsonInt64(1))))
              .append("upsert", BsonBoolean.TRUE);
      return new BsonDocument("update", new BsonString("fences"))
          .append("updates", new BsonArray(List.of(statement)));
    }

    /**
     * After a long pause, checks that this process still owns the job, because servers may have
     * forgotten the session.
     */
    private Mono<Void> afterPause() {
      return Mono.defer(
          () -> System.nanoTime() - triedNanos > PAUSE_NANOS ? stillOwner : Mono.empty());
    }

    private Mono<BsonDocument> send(String inDatabase, BsonDocument command, long as) {
      BsonDocument numbered = new BsonDocument();
      numbered.putAll(command);
      numbered.append("txnNumber", new BsonInt64(as)).append("writeConcern", MAJORITY);
      triedNanos = System.nanoTime();
      return Mono.defer(
              () -> {
                // The pauses of retries are much shorter, so the process itself was paused. The job
                // may have another owner now.
                if (System.nanoTime() - triedNanos > PAUSE_NANOS) {
                  return Mono.error(Job.lost(null));
                }
                triedNanos = System.nanoTime();
                return Mono.from(
                    destination
                        .getDatabase(inDatabase)
                        .runCommand(named, numbered, BsonDocument.class));
              })
          .flatMap(Lane::settled)
          .retryWhen(Waits.retry(Waits::isPassing))
          .onErrorMap(
              failure ->
                  failure instanceof MongoException known && known.getCode() == TRANSACTION_TOO_OLD,
              Job::lost);
    }

    /**
     * Returns the reply. If the command must be sent again, or if the lane has a later owner, the
     * result is a failure instead.
     */
    private static Mono<BsonDocument> settled(BsonDocument reply) {
      for (BsonValue each : reply.getArray("writeErrors", new BsonArray())) {
        MongoException error = error(each.asDocument());
        if (Waits.isPassing(error) || error.getCode() == TRANSACTION_TOO_OLD) {
          return Mono.error(error);
        }
      }
      return reply.get("writeConcernError") instanceof BsonDocument error
          ? Mono.error(error(error))
          : Mono.just(reply);
    }

    private static MongoException error(BsonDocument error) {
      return new MongoException(
          error.getNumber("code").intValue(),
          error.getString("errmsg", new BsonString("")).getValue());
    }

    @Override
    public void close() {
      session.close();
    }
  }
}
