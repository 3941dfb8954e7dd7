package dev.onehop.shards.cursor;

import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.wire.LateErrors;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The open cursors of clients, by the clients' cursor ids. A cursor that is not used for ten
 * minutes is closed, as on a server. This is necessary because the client may never have received
 * the reply with the cursor id.
 *
 * <p>Thread-safe. Only one request at a time uses a single cursor, because clients wait for each
 * reply.
 */
public final class Cursors {
  /** The default of {@code cursorTimeoutMillis} of the server. */
  static final Duration MOST_IDLE = Duration.ofMinutes(10);

  private static final Duration BETWEEN_SWEEPS = Duration.ofMinutes(1);

  private final Map<Long, Kept> open = new ConcurrentHashMap<>();
  private final LongSupplier nanoTime;
  private final AtomicLong nextSweepNanos;

  public Cursors() {
    this(System::nanoTime);
  }

  /** For tests, with a fake clock. */
  Cursors(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.nextSweepNanos = new AtomicLong(nanoTime.getAsLong() + BETWEEN_SWEEPS.toNanos());
  }

  private static final class Kept {
    private final OpenCursor cursor;
    private final AtomicInteger users = new AtomicInteger();
    private volatile long usedNanos;

    Kept(OpenCursor cursor, long now) {
      this.cursor = cursor;
      this.usedNanos = now;
    }

    boolean isIdle(long now) {
      return users.get() == 0 && !cursor.neverTimesOut() && now - usedNanos > MOST_IDLE.toNanos();
    }
  }

  /** A cursor of a client, over one shard or several. */
  public interface OpenCursor {
    /** Executes a getMore. The cursor id in the reply is 0 at the end. */
    Mono<BsonDocument> getMore(BsonDocument command, long id);

    /** Closes the cursor at the shards; never fails. */
    Mono<Void> kill();

    /** Whether the cursor was opened in one of the sessions with these ids. */
    default boolean isOf(Set<BsonValue> sessions) {
      return false;
    }

    /** Whether the client has disabled the cursor's timeout. */
    default boolean neverTimesOut() {
      return false;
    }
  }

  /**
   * Adds a cursor and returns its id: {@code wanted}, or a random id if another cursor has that id.
   */
  public long add(long wanted, OpenCursor cursor) {
    long now = nanoTime.getAsLong();
    sweep(now);
    Kept kept = new Kept(cursor, now);
    long id = wanted;
    while (id == 0 || open.putIfAbsent(id, kept) != null) {
      id = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    }
    return id;
  }

  /**
   * Closes idle cursors. It inspects all cursors, so it runs at most once a minute and only when
   * cursors are added.
   */
  private void sweep(long now) {
    long next = nextSweepNanos.get();
    if (now - next < 0 || !nextSweepNanos.compareAndSet(next, now + BETWEEN_SWEEPS.toNanos())) {
      return;
    }
    open.forEach(
        (id, kept) -> {
          if (kept.isIdle(now) && open.remove(id, kept)) {
            kept.cursor.kill().subscribe(null, null, null, LateErrors.LOGGED);
          }
        });
  }

  /** The next batch of a cursor. An error or a cancellation closes the cursor. */
  public Mono<BsonDocument> getMore(BsonDocument command) {
    return Mono.defer(
        () -> {
          long id = command.getNumber("getMore").longValue();
          Kept kept = open.get(id);
          if (kept == null) {
            return Mono.error(
                new CommandFailure(
                    ErrorCodes.CURSOR_NOT_FOUND,
                    "CursorNotFound",
                    "cursor id " + id + " not found"));
          }
          kept.users.incrementAndGet();
          return kept.cursor
              .getMore(command, id)
              .flatMap(reply -> endedIfLast(reply, id, kept))
              .onErrorResume(e -> kill(id).then(Mono.error(e)))
              .doOnCancel(() -> kill(id).subscribe(null, null, null, LateErrors.LOGGED))
              .doFinally(
                  end -> {
                    kept.usedNanos = nanoTime.getAsLong();
                    kept.users.decrementAndGet();
                  });
        });
  }

  /**
   * Removes a cursor after its last batch. After an error, closes the cursor at the server, too,
   * because the server may keep it open.
   */
  private Mono<BsonDocument> endedIfLast(BsonDocument reply, long id, Kept kept) {
    if (!ErrorCodes.ok(reply)) {
      return kill(id).thenReturn(reply);
    }
    if (CursorReplies.id(reply) == 0) {
      open.remove(id, kept);
    }
    return Mono.just(reply);
  }

  /** Closes a cursor; returns whether it was open. */
  public Mono<Boolean> kill(long id) {
    Kept kept = open.remove(id);
    return kept == null ? Mono.just(false) : kept.cursor.kill().thenReturn(true);
  }

  /** Closes the cursors of the sessions with these ids, which have ended. */
  public Mono<Void> killOf(Set<BsonValue> sessions) {
    return Flux.fromIterable(open.entrySet())
        .filter(each -> each.getValue().cursor.isOf(sessions))
        .flatMap(each -> kill(each.getKey()))
        .then();
  }

  /** Returns a server's reply for the client. If the reply has an open cursor, adds the cursor. */
  public BsonDocument keep(ReplicaSet replicaSet, OpMsg command, Answer answer) {
    BsonDocument reply = answer.document();
    long id = CursorReplies.id(reply);
    if (id == 0) {
      return reply;
    }
    long kept = add(id, new ShardCursor(replicaSet, command, answer));
    return kept == id ? reply : CursorReplies.withId(reply, kept);
  }
}
