package dev.onehop.streams.internal.merge;

import dev.onehop.core.bson.BsonPath;
import dev.onehop.streams.internal.token.Tokens;
import dev.onehop.streams.internal.token.WideEvents;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Reads the stream of one shard, one request at a time. It opens the stream again after a failure,
 * and skips events that are too large to be sent.
 *
 * <p>Used by one thread at a time. Replies are handled in {@link MergedSubscription#post}.
 */
final class ShardReader {
  private static final Logger log = LoggerFactory.getLogger(ShardReader.class);
  private static final BsonPath TOKEN = BsonPath.of("_id._data");
  static final BsonPath TYPE_BITS = BsonPath.of("_id._typeBits");
  private static final BsonPath TYPE = BsonPath.of("operationType");
  private static final BsonString INVALIDATE = new BsonString("invalidate");

  // This time is short, because only an empty reply shows that a transaction has no more events.
  // The server sends an empty reply only at the end of this time.
  private static final Duration AWAIT_TRANSACTION = Duration.ofMillis(1);

  private final String shard;
  private final ShardStream stream;
  private final Duration heartbeatInterval;
  private final MergedSubscription owner;
  private final StreamMeter.@Nullable ShardMeter meter;
  private final @Nullable Transactions transactions;
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private ShardStream.Place place;
  private boolean busy;
  private boolean open;
  private boolean stepping;
  private boolean finished;
  private boolean advancing;
  private long advancedNanos;
  private int failures;
  private long pausedUntilNanos = System.nanoTime();

  /**
   * @param meter the shard's meters; null if nothing is measured
   */
  ShardReader(
      String shard,
      ShardStream stream,
      String after,
      MergeSettings settings,
      StreamMeter.@Nullable ShardMeter meter,
      MergedSubscription owner) {
    this.shard = shard;
    this.meter = meter;
    this.stream = stream;
    this.heartbeatInterval = settings.heartbeatInterval();
    this.advancedNanos = System.nanoTime() - heartbeatInterval.toNanos();
    this.owner = owner;
    this.transactions =
        settings.groupTransactions() ? new Transactions(after, settings.bufferPerShard()) : null;
    this.place = new ShardStream.Place(after, null);
  }

  String shard() {
    return shard;
  }

  /** Requests more events. Does nothing while a request is in flight. */
  void read(Duration wait) {
    long now = System.nanoTime();
    if (busy || finished) {
      return;
    }
    if (pausedUntilNanos - now > 0) {
      owner.wakeIn(Duration.ofNanos(pausedUntilNanos - now));
      return;
    }
    boolean opening = !open;
    Duration most = transactions != null && transactions.areOpen() ? AWAIT_TRANSACTION : wait;
    send(
        opening ? stream.open(place, stepping ? 1 : 0) : stream.next(most),
        batch -> took(batch, opening));
  }

  private <T> void send(Mono<T> request, Consumer<T> then) {
    busy = true;
    request
        .takeUntilOther(closed.asMono())
        .subscribe(
            answer ->
                owner.post(
                    () -> {
                      busy = false;
                      then.accept(answer);
                    }),
            failure ->
                owner.post(
                    () -> {
                      busy = false;
                      open = false;
                      failed(failure);
                    }));
  }

  private void took(ShardStream.Batch batch, boolean opening) {
    if (meter != null) {
      meter.took(batch, opening);
    }
    failures = 0;
    open = !batch.ended();
    List<Item> items = new ArrayList<>(batch.events().size());
    long now = System.nanoTime();
    for (RawBsonDocument event : batch.events()) {
      Item.Kind kind = WideEvents.isWide(event) ? Item.Kind.WIDE : Item.Kind.EVENT;
      items.add(new Item(token(event), event, kind, now));
    }
    if (batch.ended()) {
      end(items, batch.token());
      return;
    }
    if (items.isEmpty() && stepping) {
      // The large event no longer exists. The next cursor has batches of the usual size again.
      stepping = false;
      open = false;
    }
    if (!items.isEmpty()) {
      reach(items.get(items.size() - 1).event().getDocument("_id"));
    }
    if (batch.resumeToken() != null) {
      reach(batch.resumeToken());
    }
    // An empty reply to a getMore means that the shard has sent all events of a transaction.
    give(items, batch.token(), items.isEmpty() && !opening);
  }

  /** Moves the position to a token, unless the server has sent a greater token before. */
  private void reach(BsonDocument token) {
    ShardStream.Place next = ShardStream.Place.of(token);
    if (place.own() == null || place.after().compareTo(next.after()) <= 0) {
      place = next;
    }
  }

  /**
   * Passes events to the owner. With grouped transactions, a transaction is passed once it is
   * complete.
   *
   * @param all whether the shard has sent all events up to now
   */
  private void give(List<Item> items, @Nullable String token, boolean all) {
    if (transactions == null) {
      owner.received(shard, items, token);
      return;
    }
    List<Item> complete = transactions.take(items, token, all);
    owner.received(shard, complete, transactions.areOpen() ? null : token);
  }

  /**
   * Handles the case that the server has closed the cursor after an {@code invalidate} event. The
   * pipeline may have removed or changed this event, but the batch has the event's token. If the
   * token is not after the position, the application has started the stream after this event. The
   * stream then continues with the next cluster time.
   */
  private void end(List<Item> items, @Nullable String token) {
    Item last = items.isEmpty() ? null : items.get(items.size() - 1);
    boolean given =
        last != null && (INVALIDATE.equals(TYPE.value(last.event())) || last.token().equals(token));
    String end = last != null && given ? last.token() : token;
    if (end == null) {
      give(items, null, false);
      pause(new IllegalStateException("the server has closed the cursor"));
      return;
    }
    String reached = last == null ? end : Tokens.max(end, last.token());
    if (place.own() == null && reached.compareTo(place.after()) <= 0) {
      String next = Tokens.after(Tokens.clusterTime(end));
      place = new ShardStream.Place(next, null);
      give(List.of(), next, true);
      return;
    }
    finished = true;
    if (last != null && given) {
      items.set(
          items.size() - 1,
          new Item(end, last.event(), Item.Kind.INVALIDATE, last.receivedNanos()));
    } else {
      // The token of the end must sort after the position and after all earlier events, even if the
      // server's token does not.
      String before = Tokens.max(place.after(), last == null ? "" : last.token());
      String after = Tokens.after(Tokens.clusterTime(before));
      items.add(
          new Item(
              end.compareTo(before) > 0 ? end : after,
              new BsonDocument(),
              Item.Kind.END,
              System.nanoTime()));
    }
    give(items, null, true);
  }

  static String token(BsonDocument event) {
    if (!(TOKEN.value(event) instanceof BsonString token)) {
      throw new IllegalStateException("an event has no _id: the pipeline must keep this field");
    }
    return token.getValue();
  }

  private void failed(Throwable failure) {
    if (finished) {
      // This reader has closed the cursor during the request.
      return;
    }
    ReadFailure.Kind kind =
        failure instanceof ReadFailure known ? known.kind() : ReadFailure.Kind.FINAL;
    switch (kind) {
      case PASSING -> pause(failure);
      case TOO_LARGE -> {
        if (stepping) {
          send(stream.large(place), this::stepOver);
        } else {
          stepping = true;
        }
      }
      case HISTORY_LOST -> send(stream.oldest(), this::lost);
      case FINAL -> owner.failed(ReadFailure.cause(failure));
    }
  }

  private void pause(Throwable failure) {
    failures++;
    if (failures == 1) {
      log.debug("the stream of shard {} is opened again", shard, failure);
      return;
    }
    if (failures == 3) {
      log.warn("shard {} can't be read, retrying: {}", shard, failure.getMessage());
    }
    Duration pause = Pauses.after(failures);
    pausedUntilNanos = System.nanoTime() + pause.toNanos();
    owner.wakeIn(pause);
  }

  private void stepOver(ShardStream.Large found) {
    String token = token(found.event());
    stepping = false;
    place = ShardStream.Place.of(found.event().getDocument("_id"));
    if (meter != null && !found.whole()) {
      meter.tooLarge();
    }
    Item.Kind kind = found.whole() ? Item.Kind.EVENT : Item.Kind.TOO_LARGE;
    give(List.of(new Item(token, found.event(), kind, System.nanoTime())), null, false);
  }

  private void lost(BsonTimestamp oldest) {
    if (meter != null) {
      meter.historyLost();
    }
    BsonTimestamp from = Tokens.clusterTime(place.after());
    BsonTimestamp to = Tokens.next(oldest);
    log.error("shard {} has lost its events from {} to {}", shard, from, to);
    place = new ShardStream.Place(Tokens.highWater(to), null);
    if (transactions != null) {
      owner.received(shard, transactions.rest(), null);
    }
    owner.lost(shard, from, to);
  }

  /**
   * Advances the shard's clock to the latest cluster time, at most once per interval. This is
   * necessary even for a shard that has just sent events, because its clock may be behind the
   * clocks of busier shards.
   */
  void advance() {
    if (advancing) {
      return;
    }
    long left = advancedNanos + heartbeatInterval.toNanos() - System.nanoTime();
    if (left > 0) {
      owner.wakeIn(Duration.ofNanos(left));
      return;
    }
    advancing = true;
    advancedNanos = System.nanoTime();
    stream
        .advance()
        .subscribe(
            nothing -> {},
            failure -> owner.post(() -> advancing = false),
            () -> owner.post(() -> advancing = false));
  }

  /** Closes the cursor. Completes when the cursor is closed. */
  Mono<Void> close() {
    finished = true;
    if (meter != null) {
      meter.close();
    }
    // The reader stops waiting for its request in flight. The cursor of this request is closed by
    // now, or the server does not reply.
    return stream.close().doFinally(end -> closed.tryEmitEmpty());
  }
}
