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
 * The cursors that clients hold open, by the id that they know. One that no client has asked for in
 * ten minutes is forgotten, as servers do: its client may never have got the reply.
 *
 * <p>Thread-safe; a single cursor is used by one request at a time, as a client does.
 */
public final class Cursors {
  /** As {@code cursorTimeoutMillis} of the server. */
  static final Duration MOST_IDLE = Duration.ofMinutes(10);

  private static final Duration BETWEEN_SWEEPS = Duration.ofMinutes(1);

  private final Map<Long, Kept> open = new ConcurrentHashMap<>();
  private final LongSupplier nanoTime;
  private final AtomicLong nextSweepNanos;

  public Cursors() {
    this(System::nanoTime);
  }

  /** For tests, with a clock of their own. */
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
    /** The reply to a getMore; its cursor id is 0 when there is nothing left. */
    Mono<BsonDocument> getMore(BsonDocument command, long id);

    /** Ends it at the shards; never fails. */
    Mono<Void> kill();

    /** Whether it was opened in one of these sessions, given by their ids. */
    default boolean isOf(Set<BsonValue> sessions) {
      return false;
    }

    /** Whether its client has asked that it be kept, however long it is not used. */
    default boolean neverTimesOut() {
      return false;
    }
  }

  /** Keeps a cursor under a new id: {@code wanted} if no other has it. */
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

  /** Only once in a while, and only when there are new ones: it looks at all of them. */
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

  /** The next batch of a cursor, which ends with an error or if it is cancelled. */
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

  /** A server may keep a cursor whose getMore it has refused. */
  private Mono<BsonDocument> endedIfLast(BsonDocument reply, long id, Kept kept) {
    if (!ErrorCodes.ok(reply)) {
      return kill(id).thenReturn(reply);
    }
    if (CursorReplies.id(reply) == 0) {
      open.remove(id, kept);
    }
    return Mono.just(reply);
  }

  /** Ends a cursor; whether there was one. */
  public Mono<Boolean> kill(long id) {
    Kept kept = open.remove(id);
    return kept == null ? Mono.just(false) : kept.cursor.kill().thenReturn(true);
  }

  /** Ends the cursors of sessions that have ended, given by their ids. */
  public Mono<Void> killOf(Set<BsonValue> sessions) {
    return Flux.fromIterable(open.entrySet())
        .filter(each -> each.getValue().cursor.isOf(sessions))
        .flatMap(each -> kill(each.getKey()))
        .then();
  }

  /** An answer of a server as the client gets it, whose cursor is kept if it has an open one. */
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
