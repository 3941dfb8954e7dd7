package dev.onehop.testbed.standin;

import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.shards.cursor.Cursors.OpenCursor;
import dev.onehop.testbed.standin.command.Batch;
import dev.onehop.wire.message.CommandFields;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One change stream merged from the streams of all shards. The cursor returns an event when every
 * other shard has reported a later time, by an event or by its {@code postBatchResumeToken}. The
 * events are therefore in the order of their tokens, and a client can resume from the last token.
 *
 * <p>Not thread-safe: one request at a time uses a cursor.
 */
final class ChangeStreamCursor implements OpenCursor {
  private static final int DEFAULT_BATCH = 1_000;
  private static final Duration DEFAULT_WAIT = Duration.ofSeconds(1);

  /** The longest wait for one shard while other shards may have events. */
  private static final Duration SLICE = Duration.ofMillis(50);

  private final String namespace;
  private final List<Source> sources;
  private final @Nullable ResumeToken after;
  private final boolean waiting;
  private @Nullable ResumeToken given;
  private boolean invalidated;

  /** A shard's change stream. */
  public interface ShardStream {
    /**
     * Requests the shard's next batch. Returns the shard's reply to the getMore.
     *
     * @param wait the time for which the shard may wait for an event
     */
    Mono<BsonDocument> next(Duration wait);

    /** Makes the shard write an oplog entry, so that the shard's stream passes this time. */
    Mono<Void> advanceTo(BsonTimestamp time);

    /**
     * Whether the stream was opened in one of these sessions.
     *
     * @param sessions the ids of the sessions
     */
    default boolean isOf(Set<BsonValue> sessions) {
      return false;
    }

    /** Whether this is the config servers' stream, whose events are not for the client. */
    default boolean isOfConfigServers() {
      return false;
    }

    /** Closes the stream; never fails. */
    Mono<Void> kill();
  }

  private static final class Source {
    private final ShardStream stream;
    private final Deque<RawBsonDocument> buffer = new ArrayDeque<>();
    private @Nullable ResumeToken past;
    private boolean ended;

    /**
     * The request for a batch that has not arrived. The batch may arrive after the reply to the
     * client.
     */
    private @Nullable Mono<Void> pending;

    Source(ShardStream stream) {
      this.stream = stream;
    }

    void take(BsonDocument reply) {
      if (!stream.isOfConfigServers()) {
        buffer.addAll(CursorReplies.documents(reply));
      }
      BsonValue token = reply.getDocument("cursor").get("postBatchResumeToken");
      if (token != null) {
        past = ResumeToken.of(token);
      }
      ended = CursorReplies.id(reply) == 0;
    }

    @Nullable ResumeToken head() {
      BsonDocument event = buffer.peek();
      return event == null ? null : token(event);
    }
  }

  /**
   * @param after the last token that the client has received; events up to this token are left out
   * @param waiting whether to wait until idle shards report a later time by themselves
   */
  public ChangeStreamCursor(
      String namespace, List<ShardStream> streams, @Nullable ResumeToken after, boolean waiting) {
    this.namespace = namespace;
    this.sources = streams.stream().map(Source::new).toList();
    this.after = after;
    this.given = after;
    this.waiting = waiting;
  }

  /**
   * Takes a shard's reply to the opening of its stream.
   *
   * @param stream the position of the stream in the list
   */
  public void opened(int stream, BsonDocument reply) {
    sources.get(stream).take(reply);
  }

  /** Returns the reply to the opening. The reply has the stream's start position, but no events. */
  public BsonDocument firstReply(long id) {
    return withToken(CursorReplies.first(namespace, id, List.of()));
  }

  @Override
  public Mono<BsonDocument> getMore(BsonDocument command, long id) {
    int wanted = CommandFields.count(command, "batchSize");
    long wait = CommandFields.number(command, "maxTimeMS", DEFAULT_WAIT.toMillis());
    long deadline = System.nanoTime() + Duration.ofMillis(wait).toNanos();
    return batch(Batch.of(wanted == 0 ? DEFAULT_BATCH : wanted), deadline)
        .flatMap(
            events -> {
              BsonDocument reply =
                  withToken(CursorReplies.next(namespace, invalidated ? 0 : id, events));
              return invalidated ? kill().thenReturn(reply) : Mono.just(reply);
            });
  }

  @Override
  public boolean isOf(Set<BsonValue> sessions) {
    return sources.stream().anyMatch(source -> source.stream.isOf(sessions));
  }

  @Override
  public Mono<Void> kill() {
    return Flux.fromIterable(sources)
        .filter(source -> !source.ended)
        .flatMap(source -> source.stream.kill())
        .then();
  }

  /**
   * Reads the shards at least once, and again until the batch is filled or the deadline is over.
   */
  private Mono<List<BsonDocument>> batch(Batch events, long deadline) {
    return Mono.defer(() -> isFilled(events) ? Mono.<Void>empty() : round(deadline))
        // This is a loop, because a recursion fills the stack if shards reply at once.
        .repeat(() -> !isFilled(events) && deadline - System.nanoTime() > 0)
        .then(Mono.fromSupplier(events::documents));
  }

  private boolean isFilled(Batch events) {
    take(events);
    return !events.isEmpty() || invalidated;
  }

  private Mono<Void> round(long deadline) {
    long left = Math.max(0, deadline - System.nanoTime());
    if (waiting) {
      return anyBatch(Duration.ofNanos(left));
    }
    Duration wait = Duration.ofNanos(Math.min(left, SLICE.toNanos()));
    return catchUp()
        .thenMany(Flux.fromIterable(sources))
        .filter(source -> source.buffer.isEmpty() && !source.ended)
        .flatMap(source -> fetch(source, wait))
        .then();
  }

  /**
   * Waits for the next batch of any shard. Requests to the other shards stay open. So the cursor
   * can read a shard with events again while it waits for the reply of an idle shard.
   */
  private Mono<Void> anyBatch(Duration wait) {
    List<Mono<Void>> any = new ArrayList<>();
    for (Source source : sources) {
      if (source.buffer.isEmpty() && !source.ended) {
        if (source.pending == null) {
          source.pending = fetch(source, wait).doOnSuccess(all -> source.pending = null).cache();
        }
        any.add(source.pending);
      }
    }
    any.add(Mono.delay(wait).then());
    return Mono.firstWithSignal(any);
  }

  /**
   * Makes shards without writes advance their clocks, because the cursor returns the events of
   * other shards only after that.
   */
  private Mono<Void> catchUp() {
    ResumeToken held = leastHead();
    if (held == null) {
      return Mono.empty();
    }
    BsonTimestamp time = held.clusterTime();
    return Flux.fromIterable(sources)
        .filter(source -> source.buffer.isEmpty() && !source.ended)
        .flatMap(source -> source.stream.advanceTo(time))
        .then();
  }

  private static Mono<Void> fetch(Source source, Duration wait) {
    return source
        .stream
        .next(wait)
        .flatMap(CursorReplies::refuseFailed)
        .doOnNext(source::take)
        .then();
  }

  private void take(Batch events) {
    while (!events.isComplete() && !invalidated) {
      Source least = null;
      ResumeToken leastToken = null;
      ResumeToken bound = null;
      for (Source source : sources) {
        ResumeToken head = source.head();
        if (head == null) {
          if (!source.ended && (bound == null || before(source.past, bound))) {
            bound = source.past;
          }
          if (!source.ended && source.past == null) {
            return;
          }
        } else if (leastToken == null || head.compareTo(leastToken) < 0) {
          least = source;
          leastToken = head;
        }
      }
      if (least == null
          || leastToken == null
          || (bound != null && bound.compareTo(leastToken) < 0)) {
        return;
      }
      int size = least.buffer.element().getByteBuffer().remaining();
      if (!events.hasRoomFor(size)) {
        return;
      }
      BsonDocument event = least.buffer.remove();
      if (after == null || leastToken.compareTo(after) > 0) {
        events.add(event, size);
        given = leastToken;
        invalidated = isInvalidate(event);
      }
    }
  }

  private static boolean before(@Nullable ResumeToken a, ResumeToken b) {
    return a != null && a.compareTo(b) < 0;
  }

  /**
   * Adds the position to resume from: the token of the last event, or the smallest position of the
   * shards if all shards have passed that event.
   */
  private BsonDocument withToken(BsonDocument reply) {
    ResumeToken token = given;
    ResumeToken held = leastHead();
    ResumeToken past = null;
    for (Source source : sources) {
      if (source.buffer.isEmpty()
          && source.past != null
          && !source.ended
          && (past == null || source.past.compareTo(past) < 0)) {
        past = source.past;
      }
    }
    if (past != null
        && (held == null || past.compareTo(held) < 0)
        && (token == null || token.compareTo(past) < 0)) {
      token = past;
    }
    if (token != null && !invalidated) {
      reply.getDocument("cursor").append("postBatchResumeToken", token.document());
    }
    return reply;
  }

  private @Nullable ResumeToken leastHead() {
    ResumeToken least = null;
    for (Source source : sources) {
      ResumeToken head = source.head();
      if (head != null && (least == null || head.compareTo(least) < 0)) {
        least = head;
      }
    }
    return least;
  }

  private static ResumeToken token(BsonDocument event) {
    return ResumeToken.of(event.get("_id", new BsonArray()));
  }

  private static boolean isInvalidate(BsonDocument event) {
    BsonValue type = event.get("operationType");
    return type != null && type.isString() && type.asString().getValue().equals("invalidate");
  }
}
