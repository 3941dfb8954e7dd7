package dev.onehop.streams.internal.merge;

import dev.onehop.core.bson.BsonPath;
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
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Measures the reads of a shard. Thread-safe. */
final class MeteredStream implements ShardStream {
  private static final BsonPath WALL_TIME = BsonPath.of("wallTime");
  private static final BsonPath CLUSTER_TIME = BsonPath.of("clusterTime");

  private final MeteredCluster cluster;
  private final String shard;
  private final ShardStream stream;
  private final MeterRegistry registry;
  private final Tags tags;
  private final Counter events;
  private final Counter bytes;
  private final Counter refills;
  private final List<Meter> gauges = new ArrayList<>();
  private boolean closed;
  private volatile boolean opened;
  private volatile String mark = "";
  private volatile @Nullable Long awaitedSinceNanos;
  private volatile @Nullable BsonTimestamp oldest;

  MeteredStream(
      MeteredCluster cluster, String shard, ShardStream stream, MeterRegistry registry, Tags tags) {
    this.cluster = cluster;
    this.shard = shard;
    this.stream = stream;
    this.registry = registry;
    this.tags = tags.and("shard", shard.isEmpty() ? "none" : shard);
    this.events = counter(StreamMeters.EVENTS);
    this.bytes = counter(StreamMeters.BYTES);
    this.refills = counter(StreamMeters.REFILLS);
    gauge(StreamMeters.BEHIND, MeteredStream::behind);
    gauge(StreamMeters.AWAITED, MeteredStream::awaited);
  }

  private Counter counter(StreamMeters meter) {
    return Counter.builder(meter.meterName()).tags(tags).register(registry);
  }

  /** Replaces the gauge of an earlier subscription, because a registry keeps the first one. */
  private synchronized void gauge(StreamMeters meter, ToDoubleFunction<MeteredStream> seconds) {
    if (closed) {
      return;
    }
    Meter before = registered(meter.meterName());
    if (before != null) {
      registry.remove(before);
    }
    gauges.add(
        TimeGauge.builder(meter.meterName(), this, TimeUnit.SECONDS, seconds)
            .tags(tags)
            .register(registry));
  }

  private @Nullable Meter registered(String name) {
    return registry.find(name).tags(tags).meter();
  }

  String shard() {
    return shard;
  }

  /** The cluster time in seconds that the shard's stream has reached; 0 if unknown. */
  int reached() {
    return mark.isEmpty() ? 0 : Tokens.clusterTime(mark).getTime();
  }

  private double behind() {
    return mark.isEmpty() ? Double.NaN : cluster.furthest() - reached();
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
    return since == null
        ? 0
        : (System.nanoTime() - since) / (double) Duration.ofSeconds(1).toNanos();
  }

  private double oplogLeft() {
    BsonTimestamp first = oldest;
    return first == null ? Double.NaN : Math.max(0, cluster.given(shard) - first.getTime());
  }

  /** Reads the oldest time in the oplog; false if the user lacks the right. */
  Mono<Boolean> readOplog() {
    return stream
        .oplogBegin()
        .map(
            first -> {
              if (oldest == null) {
                gauge(StreamMeters.OPLOG_LEFT, MeteredStream::oplogLeft);
              }
              oldest = first;
              return true;
            })
        .defaultIfEmpty(false);
  }

  @Override
  public Mono<Batch> open(Place place, int batchSize) {
    return stream
        .open(place, batchSize)
        .doOnNext(
            batch -> {
              if (opened) {
                counter(StreamMeters.REOPENINGS).increment();
              }
              opened = true;
              took(batch);
            });
  }

  @Override
  public Mono<Batch> next(Duration wait) {
    return stream
        .next(wait)
        .doOnNext(
            batch -> {
              refills.increment();
              took(batch);
            });
  }

  private void took(Batch batch) {
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
    BsonPath.Located wall = WALL_TIME.find(event);
    if (wall != null && wall.value().isDateTime()) {
      lag("wallTime", wall.value().asDateTime().getValue());
      return;
    }
    BsonPath.Located time = CLUSTER_TIME.find(event);
    if (time != null && time.value().isTimestamp()) {
      long seconds = time.value().asTimestamp().getTime();
      lag("clusterTime", TimeUnit.SECONDS.toMillis(seconds));
    }
  }

  private void lag(String commit, long committedMillis) {
    Timer timer =
        MeteredCluster.lag(registry, StreamMeters.LAG_RECEIVED, tags.and("commit", commit));
    long millis = registry.config().clock().wallTime() - committedMillis;
    timer.record(Math.max(0, millis), TimeUnit.MILLISECONDS);
  }

  @Override
  public Mono<Large> large(Place place) {
    return stream
        .large(place)
        .doOnNext(
            found -> {
              if (!found.whole()) {
                counter(StreamMeters.TOO_LARGE).increment();
              }
            });
  }

  @Override
  public Mono<BsonTimestamp> oldest() {
    return stream.oldest().doOnNext(found -> counter(StreamMeters.HISTORY_LOST).increment());
  }

  @Override
  public Mono<BsonTimestamp> oplogBegin() {
    return stream.oplogBegin();
  }

  @Override
  public Mono<Void> advance() {
    return stream.advance();
  }

  @Override
  public Mono<Void> close() {
    return Mono.defer(
        () -> {
          cluster.closed(this);
          removeGauges();
          return stream.close();
        });
  }

  private synchronized void removeGauges() {
    closed = true;
    for (Meter gauge : gauges) {
      if (registered(gauge.getId().getName()) == gauge) {
        registry.remove(gauge);
      }
    }
  }
}
