package dev.onehop.streams.internal.merge;

import dev.onehop.core.bson.BsonPath;
import dev.onehop.streams.internal.token.Tokens;
import dev.onehop.streams.observation.StreamMeters;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.bson.BsonDateTime;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The meters of one shard's reader. Other threads read the gauges. */
final class ShardMeter {
  private static final BsonPath WALL_TIME = BsonPath.of("wallTime");
  private static final BsonPath CLUSTER_TIME = BsonPath.of("clusterTime");

  private final StreamMeter all;
  private final String shard;
  private final ShardStream stream;
  private final Tags tags;
  private final Counter events;
  private final Counter bytes;
  private final Counter refills;
  private final List<Meter> gauges = new ArrayList<>();
  private boolean closed;
  private boolean opened;
  private volatile String mark = "";
  private volatile @Nullable Long awaitedSinceNanos;
  private volatile @Nullable BsonTimestamp oldest;

  ShardMeter(StreamMeter all, String shard, ShardStream stream, Tags ofStream) {
    this.all = all;
    this.shard = shard;
    this.stream = stream;
    this.tags = ofStream.and("shard", shard.isEmpty() ? "none" : shard);
    this.events = counter(StreamMeters.EVENTS);
    this.bytes = counter(StreamMeters.BYTES);
    this.refills = counter(StreamMeters.REFILLS);
    gauge(StreamMeters.BEHIND, ShardMeter::behind);
    gauge(StreamMeters.AWAITED, ShardMeter::awaited);
  }

  private Counter counter(StreamMeters meter) {
    return Counter.builder(meter.meterName()).tags(tags).register(all.registry());
  }

  private synchronized void gauge(StreamMeters meter, ToDoubleFunction<ShardMeter> seconds) {
    if (!closed) {
      gauges.add(all.gauge(meter, tags, this, seconds));
    }
  }

  String shard() {
    return shard;
  }

  /** The cluster time in seconds that the shard's stream has reached; 0 if unknown. */
  int reached() {
    return mark.isEmpty() ? 0 : Tokens.clusterTime(mark).getTime();
  }

  private double behind() {
    return mark.isEmpty() ? Double.NaN : all.furthest() - reached();
  }

  void setAwaited(boolean value) {
    if (!value) {
      awaitedSinceNanos = null;
    } else if (awaitedSinceNanos == null) {
      awaitedSinceNanos = System.nanoTime();
    }
  }

  private double awaited() {
    Long since = awaitedSinceNanos;
    return since == null ? 0 : (System.nanoTime() - since) / 1e9;
  }

  private double oplogLeft() {
    BsonTimestamp first = oldest;
    return first == null ? Double.NaN : Math.max(0, all.given(shard) - first.getTime());
  }

  /** Reads the time of the oldest entry in the oplog. Never fails. */
  Mono<BsonTimestamp> readOplog() {
    return stream
        .oplogBegin()
        .doOnNext(
            first -> {
              if (oldest == null) {
                gauge(StreamMeters.OPLOG_LEFT, ShardMeter::oplogLeft);
              }
              oldest = first;
            })
        .switchIfEmpty(Mono.fromRunnable(() -> all.oplogRefused(shard)))
        .onErrorComplete();
  }

  /**
   * Called for each batch.
   *
   * @param opening whether this is the first batch of a cursor
   */
  void took(ShardStream.Batch batch, boolean opening) {
    if (!opening) {
      refills.increment();
    } else if (opened) {
      counter(StreamMeters.REOPENINGS).increment();
    }
    opened = true;
    List<RawBsonDocument> given = batch.events();
    if (!given.isEmpty()) {
      events.increment(given.size());
      bytes.increment(given.stream().mapToInt(event -> event.getByteBuffer().remaining()).sum());
      lag(given.get(0));
      mark = Tokens.max(mark, ShardReader.token(given.get(given.size() - 1)));
    }
    if (batch.token() != null) {
      mark = Tokens.max(mark, batch.token());
    }
  }

  private void lag(RawBsonDocument event) {
    if (WALL_TIME.value(event) instanceof BsonDateTime wall) {
      lag("wallTime", wall.getValue());
    } else if (CLUSTER_TIME.value(event) instanceof BsonTimestamp time) {
      lag("clusterTime", TimeUnit.SECONDS.toMillis(time.getTime()));
    }
  }

  private void lag(String commit, long committedMillis) {
    long millis = all.registry().config().clock().wallTime() - committedMillis;
    all.lag(StreamMeters.LAG_RECEIVED, tags.and("commit", commit))
        .record(Math.max(0, millis), TimeUnit.MILLISECONDS);
  }

  void tooLarge() {
    counter(StreamMeters.TOO_LARGE).increment();
  }

  void historyLost() {
    counter(StreamMeters.HISTORY_LOST).increment();
  }

  synchronized void close() {
    closed = true;
    all.closed(this);
    gauges.forEach(all::remove);
  }
}
