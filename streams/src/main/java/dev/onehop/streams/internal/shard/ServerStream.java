package dev.onehop.streams.internal.shard;

import dev.onehop.shards.cluster.ClusterClock;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.shards.cursor.ShardCursor;
import dev.onehop.streams.internal.merge.ShardStream;
import dev.onehop.wire.NoAnswer;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.OpMsg;
import java.time.Duration;
import java.util.function.Supplier;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The change stream of a replica set, or of mongoses. It sends its own commands and does not use
 * the driver's publisher. The driver's publisher does not emit the tokens of empty batches, but
 * only these tokens show the progress of an idle shard.
 */
final class ServerStream implements ShardStream {
  private static final BsonDocument NOTHING = new BsonDocument("$alwaysFalse", new BsonInt32(1));
  private static final BsonDocument FIRST_ENTRY =
      BsonDocument.parse("{find: 'oplog.rs', limit: 1, projection: {ts: 1}}");
  private static final Duration ADVANCING = Duration.ofSeconds(2);

  private final ReplicaSet servers;
  private final ClusterClock clock;
  private final Heartbeats heartbeats;
  private final StreamCommand command;
  private final @Nullable Lookups lookups;
  private final @Nullable Mono<Void> whenIdle;
  private volatile boolean idle;
  private volatile boolean checked;
  private volatile @Nullable ShardCursor cursor;
  private volatile Mono<Void> opening = Mono.empty();
  private volatile int most;
  private volatile boolean closed;

  /**
   * @param lookups completes the events; null if no lookup is needed
   * @param whenIdle updates this process's cluster time. It runs after an empty batch, and the
   *     server's clock is then advanced to this time before the next read. Null if the caller
   *     advances the clock
   */
  ServerStream(
      ReplicaSet servers,
      ClusterClock clock,
      Heartbeats heartbeats,
      StreamCommand command,
      @Nullable Lookups lookups,
      @Nullable Mono<Void> whenIdle) {
    this.servers = servers;
    this.clock = clock;
    this.heartbeats = heartbeats;
    this.command = command;
    this.lookups = lookups;
    this.whenIdle = whenIdle;
  }

  @Override
  public Mono<Batch> open(Place place, int batchSize) {
    most = batchSize == 0 ? command.batchSize() : batchSize;
    return check(place)
        .then(completed(opened(() -> command.open(place, most))))
        .onErrorMap(Failures::of)
        .doOnNext(batch -> idle = batch.events().isEmpty());
  }

  /**
   * Makes the server check all stages of the application once, because the stages after the lookups
   * are not part of this stream's command.
   */
  private Mono<Void> check(Place place) {
    Lookups after = lookups;
    return after == null || checked
        ? Mono.empty()
        : opened(() -> after.command().check(place)).doOnNext(batch -> checked = true).then();
  }

  /** The batch with looked-up documents. */
  Mono<Batch> completed(Mono<Batch> batch) {
    Lookups after = lookups;
    return after == null ? batch : batch.flatMap(given -> after.complete(servers, given));
  }

  /**
   * Opens a cursor and then closes the previous cursor. In this order, the opening does not wait
   * for the server of the previous cursor, which may be unreachable or frozen. Returns the first
   * batch.
   */
  Mono<Batch> opened(Supplier<BsonDocument> command) {
    return Mono.defer(
        () -> {
          BsonDocument aggregate = command.get();
          clock.gossip(aggregate);
          OpMsg message = OpMsg.command(aggregate);
          Sinks.Empty<Void> end = Sinks.empty();
          // The field is set before "closed" is read. Either this method then finds that the stream
          // is closed, or close() waits for this opening.
          opening = end.asMono();
          return closed
              ? Mono.<Batch>error(Failures.cursorNotFound("the cursor is closed"))
              : servers
                  .send(message)
                  .flatMap(Answer::orFailure)
                  .doOnNext(answer -> replaceCursor(message, answer))
                  .map(answer -> batch(answer.document()))
                  .doFinally(signal -> end.tryEmitEmpty());
        });
  }

  private void replaceCursor(OpMsg opening, Answer answer) {
    kill().subscribe();
    cursor =
        CursorReplies.id(answer.document()) == 0 ? null : new ShardCursor(servers, opening, answer);
  }

  /** Closes the current cursor. Never fails. */
  private Mono<Void> kill() {
    ShardCursor open = cursor;
    cursor = null;
    return open == null ? Mono.empty() : open.kill();
  }

  /** The batch of a reply. */
  private static Batch batch(BsonDocument reply) {
    BsonValue token = reply.getDocument("cursor").get("postBatchResumeToken");
    return new Batch(
        CursorReplies.documents(reply),
        token == null ? null : token.asDocument(),
        CursorReplies.id(reply) == 0);
  }

  @Override
  public Mono<Batch> next(Duration wait) {
    Mono<Batch> next =
        completed(more(wait))
            .onErrorMap(Failures::of)
            .doOnNext(batch -> idle = batch.events().isEmpty());
    return idle && whenIdle != null ? whenIdle.then(advance()).then(next) : next;
  }

  /** The next batch of the cursor. */
  Mono<Batch> more(Duration wait) {
    return Mono.defer(
            () -> {
              ShardCursor open = cursor;
              return open == null
                  ? Mono.error(Failures.cursorNotFound("the cursor is closed"))
                  : open.awaitNext(wait, most).map(ServerStream::batch);
            })
        .doOnNext(
            batch -> {
              if (batch.ended()) {
                cursor = null;
              }
            });
  }

  @Override
  public Mono<Large> large(Place place) {
    return new LargeEvent(this, command).read(place).onErrorMap(Failures::of);
  }

  /** The time of the oplog's first entry; the current time if the user may not read the oplog. */
  @Override
  public Mono<BsonTimestamp> oldest() {
    return oplogBegin().switchIfEmpty(Mono.fromSupplier(() -> now(clock)));
  }

  @Override
  public Mono<BsonTimestamp> oplogBegin() {
    return servers
        .run("local", FIRST_ENTRY.clone())
        .flatMap(
            reply ->
                Mono.justOrEmpty(
                    CursorReplies.documents(reply).stream()
                        .findFirst()
                        .map(entry -> entry.getTimestamp("ts"))))
        .onErrorResume(CommandFailure.class, refused -> Mono.empty())
        .onErrorMap(Failures::of);
  }

  /** The latest known cluster time. */
  static BsonTimestamp now(ClusterClock clock) {
    BsonTimestamp now = clock.now();
    if (now == null) {
      throw new IllegalStateException("no server has returned a cluster time");
    }
    return now;
  }

  @Override
  public Mono<Void> advance() {
    return heartbeats.write(servers).flatMap(written -> written ? Mono.empty() : readLater());
  }

  /**
   * Reads at a cluster time that an idle primary has not reached. The read makes the primary write
   * a no-op to its oplog, which advances its clock.
   */
  private Mono<Void> readLater() {
    return Mono.defer(
            () -> {
              BsonTimestamp now = clock.now();
              if (now == null) {
                return Mono.<BsonDocument>empty();
              }
              BsonDocument read =
                  new BsonDocument("find", new BsonString(command.readable()))
                      .append("filter", NOTHING)
                      .append("limit", new BsonInt32(1))
                      .append("readConcern", StreamCommand.majorityAfter(now));
              clock.gossip(read);
              return servers.run(command.database(), read);
            })
        .timeout(ADVANCING, NoAnswer.within(ADVANCING))
        .onErrorComplete()
        .then();
  }

  @Override
  public Mono<Void> close() {
    return Mono.defer(
        () -> {
          closed = true;
          // The id of a cursor that is being opened is in the reply, which may not have arrived
          // yet.
          return opening.then(Mono.defer(this::kill));
        });
  }
}
