package dev.onehop.streams.internal.merge;

import dev.onehop.core.bson.BsonPath;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.token.Tokens;
import dev.onehop.streams.observation.StreamMeters;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.ToDoubleFunction;
import org.bson.BsonDateTime;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The meters of one subscription. Other threads read the gauges. */
final class StreamMeter {
  private static final Logger log = LoggerFactory.getLogger(StreamMeter.class);
  private static final BsonPath WALL_TIME = BsonPath.of("wallTime");
  private static final BsonPath CLUSTER_TIME = BsonPath.of("clusterTime");
  private static final Duration FIRST_OPLOGS = Duration.ofSeconds(1);
  private static final Duration BETWEEN_OPLOGS = Duration.ofSeconds(10);

  private final MeterRegistry registry;
  private final Tags tags;
  private final Timer released;
  private final Meter stalled;
  private final Map<String, ShardMeter> shards = new ConcurrentHashMap<>();
  private final AtomicBoolean refused = new AtomicBoolean();
  private final Disposable oplogs;
  private volatile @Nullable Checkpoint place;
  // The longest time that an event has waited in this process, of the events since the last call of
  // given(); negative if there are none. The thread that emits the events uses it.
  private long longestNanos = -1;

  /**
   * @param stream the value of the tag {@code stream}
   * @param watch the watch of the subscription's position
   */
  StreamMeter(MeterRegistry registry, String stream, PositionWatch watch) {
    this.registry = registry;
    this.tags = Tags.of("stream", stream);
    this.released = lagTimer(StreamMeters.LAG_RELEASED, tags);
    this.stalled =
        gauge(StreamMeters.STALLED, tags, watch, its -> its.stalledNanos(System.nanoTime()) / 1e9);
    this.oplogs =
        Flux.interval(FIRST_OPLOGS, BETWEEN_OPLOGS)
            .onBackpressureDrop()
            .concatMap(tick -> Flux.fromIterable(shards.values()).flatMap(ShardMeter::readOplog))
            .subscribe();
  }

  private Timer lagTimer(StreamMeters meter, Tags of) {
    return Timer.builder(meter.meterName())
        .tags(of)
        .publishPercentiles(0.5, 0.95, 0.99)
        .register(registry);
  }

  /**
   * Registers a gauge. First removes the gauge of an earlier subscription with the same name and
   * tags, because a registry would keep the earlier gauge and ignore the new one.
   */
  private <T> Meter gauge(StreamMeters meter, Tags of, T object, ToDoubleFunction<T> seconds) {
    Meter before = registry.find(meter.meterName()).tags(of).meter();
    if (before != null) {
      registry.remove(before);
    }
    return TimeGauge.builder(meter.meterName(), object, TimeUnit.SECONDS, seconds)
        .tags(of)
        .register(registry);
  }

  /** Removes a gauge if no later subscription has replaced it. */
  private void remove(Meter gauge) {
    Meter.Id id = gauge.getId();
    if (registry.find(id.getName()).tags(id.getTags()).meter() == gauge) {
      registry.remove(gauge);
    }
  }

  /** The meters of a shard. */
  ShardMeter shard(String shard, ShardStream stream) {
    ShardMeter meter = new ShardMeter(shard, stream);
    shards.put(shard, meter);
    return meter;
  }

  /** Called when the user lacks the right to read a shard's oplog. */
  private void oplogRefused(String shard) {
    if (refused.compareAndSet(false, true)) {
      log.info(
          "the time until events are lost is not measured for shard {}, because its oplog can't be"
              + " read: the user needs the action find on local.oplog.rs",
          shard);
    }
  }

  void started(Checkpoint at) {
    place = at;
  }

  /** Called before an event is emitted. */
  void emits(StreamEvent event) {
    StreamEvent first =
        event instanceof StreamEvent.Transaction transaction ? transaction.changes().get(0) : event;
    if (first instanceof StreamEvent.Change change) {
      longestNanos = Math.max(longestNanos, System.nanoTime() - change.receivedNanos());
    }
  }

  /**
   * Called when events were emitted.
   *
   * @param upTo the position after these events
   */
  void given(@Nullable Checkpoint upTo) {
    place = upTo;
    if (longestNanos >= 0) {
      released.record(longestNanos, TimeUnit.NANOSECONDS);
      longestNanos = -1;
    }
  }

  /** Sets the shards for which events wait. */
  void awaited(List<String> holders) {
    for (ShardMeter shard : shards.values()) {
      shard.setAwaited(holders.contains(shard.shard));
    }
  }

  /** Records a read of the placement. */
  void placed(long nanos, boolean ok) {
    Timer.builder(StreamMeters.PLACEMENTS.meterName())
        .tags(tags.and("outcome", ok ? "ok" : "failed"))
        .register(registry)
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  /** The cluster time in seconds of the most advanced shard. */
  private int furthest() {
    return shards.values().stream().mapToInt(ShardMeter::reached).max().orElse(0);
  }

  /** The cluster time in seconds up to which a shard's events were emitted. */
  private int given(String shard) {
    Checkpoint given = place;
    return given == null ? 0 : Tokens.clusterTime(given.token(shard)).getTime();
  }

  void close() {
    oplogs.dispose();
    remove(stalled);
  }

  /** The meters of one shard's reader. Other threads read the gauges. */
  final class ShardMeter {
    private final String shard;
    private final ShardStream stream;
    private final Tags ofShard;
    private final Counter events;
    private final Counter bytes;
    private final Counter refills;
    private final List<Meter> gauges = new ArrayList<>();
    private boolean closed;
    private boolean opened;
    private volatile String mark = "";
    private volatile @Nullable Long awaitedSinceNanos;
    private volatile @Nullable BsonTimestamp oldest;

    private ShardMeter(String shard, ShardStream stream) {
      this.shard = shard;
      this.stream = stream;
      this.ofShard = tags.and("shard", shard.isEmpty() ? "none" : shard);
      this.events = counter(StreamMeters.EVENTS);
      this.bytes = counter(StreamMeters.BYTES);
      this.refills = counter(StreamMeters.REFILLS);
      shardGauge(StreamMeters.BEHIND, ShardMeter::behind);
      shardGauge(StreamMeters.AWAITED, ShardMeter::awaited);
    }

    private Counter counter(StreamMeters meter) {
      return Counter.builder(meter.meterName()).tags(ofShard).register(registry);
    }

    private synchronized void shardGauge(StreamMeters meter, ToDoubleFunction<ShardMeter> seconds) {
      if (!closed) {
        gauges.add(gauge(meter, ofShard, this, seconds));
      }
    }

    /** The cluster time in seconds that the shard's stream has reached; 0 if unknown. */
    private int reached() {
      return mark.isEmpty() ? 0 : Tokens.clusterTime(mark).getTime();
    }

    private double behind() {
      return mark.isEmpty() ? Double.NaN : furthest() - reached();
    }

    private void setAwaited(boolean value) {
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
      return first == null ? Double.NaN : Math.max(0, given(shard) - first.getTime());
    }

    /** Reads the time of the oldest entry in the oplog. Never fails. */
    private Mono<BsonTimestamp> readOplog() {
      return stream
          .oplogBegin()
          .doOnNext(
              first -> {
                if (oldest == null) {
                  shardGauge(StreamMeters.OPLOG_LEFT, ShardMeter::oplogLeft);
                }
                oldest = first;
              })
          .switchIfEmpty(Mono.fromRunnable(() -> oplogRefused(shard)))
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
      long millis = registry.config().clock().wallTime() - committedMillis;
      lagTimer(StreamMeters.LAG_RECEIVED, ofShard.and("commit", commit))
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
      shards.remove(shard, this);
      gauges.forEach(StreamMeter.this::remove);
    }
  }
}
