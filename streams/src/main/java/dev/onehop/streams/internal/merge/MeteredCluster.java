package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.internal.token.Tokens;
import dev.onehop.streams.observation.StreamMeters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Measures the reads of one subscription. Thread-safe. */
final class MeteredCluster implements Cluster {
  private static final Logger log = LoggerFactory.getLogger(MeteredCluster.class);
  private static final Duration FIRST_OPLOGS = Duration.ofSeconds(1);
  private static final Duration BETWEEN_OPLOGS = Duration.ofSeconds(10);

  private final Cluster cluster;
  private final MeterRegistry registry;
  private final Tags tags;
  private final Timer released;
  private final Map<String, MeteredStream> streams = new ConcurrentHashMap<>();
  private final AtomicBoolean refused = new AtomicBoolean();
  private final Disposable oplogs;
  private volatile @Nullable Checkpoint place;

  /**
   * @param stream the value of the tag {@code stream}
   */
  MeteredCluster(Cluster cluster, MeterRegistry registry, String stream) {
    this.cluster = cluster;
    this.registry = registry;
    this.tags = Tags.of("stream", stream);
    this.released = lag(registry, StreamMeters.LAG_RELEASED, tags);
    this.oplogs =
        Flux.interval(FIRST_OPLOGS, BETWEEN_OPLOGS)
            .onBackpressureDrop()
            .concatMap(tick -> Flux.fromIterable(streams.values()).flatMap(this::oplog))
            .subscribe();
  }

  static Timer lag(MeterRegistry registry, StreamMeters meter, Tags tags) {
    return Timer.builder(meter.meterName())
        .tags(tags)
        .publishPercentiles(0.5, 0.95, 0.99)
        .register(registry);
  }

  @Override
  public Mono<Opening> open() {
    return cluster.open().doOnNext(opening -> place = opening.start());
  }

  @Override
  public Mono<Placement> placement(boolean awaited) {
    return Mono.defer(
        () -> {
          Timer.Sample sample = Timer.start(registry);
          return cluster
              .placement(awaited)
              .doOnSuccess(found -> sample.stop(placements("ok")))
              .doOnError(failure -> sample.stop(placements("failed")));
        });
  }

  private Timer placements(String outcome) {
    return Timer.builder(StreamMeters.PLACEMENTS.meterName())
        .tags(tags.and("outcome", outcome))
        .register(registry);
  }

  @Override
  public ShardStream stream(String shard) {
    MeteredStream stream = new MeteredStream(this, shard, cluster.stream(shard), registry, tags);
    streams.put(shard, stream);
    return stream;
  }

  private Mono<Void> oplog(MeteredStream stream) {
    return stream
        .readOplog()
        .doOnNext(
            read -> {
              if (!read && refused.compareAndSet(false, true)) {
                log.info(
                    "the oplog of shard {} can't be read: the user needs the action find"
                        + " on local.oplog.rs; the time until events are lost is not measured",
                    stream.shard());
              }
            })
        .onErrorComplete()
        .then();
  }

  /**
   * Called when events were emitted.
   *
   * @param longestNanos the longest wait of one of them in this process; negative for none
   * @param upTo the position after them
   */
  void given(long longestNanos, @Nullable Checkpoint upTo) {
    place = upTo;
    if (longestNanos >= 0) {
      released.record(longestNanos, TimeUnit.NANOSECONDS);
    }
  }

  /** Sets the shards for which events wait. */
  void awaited(List<String> holders) {
    for (MeteredStream stream : streams.values()) {
      stream.setAwaited(holders.contains(stream.shard()));
    }
  }

  /** The cluster time in seconds of the most advanced shard. */
  int furthest() {
    return streams.values().stream().mapToInt(MeteredStream::reached).max().orElse(0);
  }

  /** The cluster time in seconds up to which a shard's events were emitted. */
  int given(String shard) {
    Checkpoint given = place;
    return given == null ? 0 : Tokens.clusterTime(given.token(shard)).getTime();
  }

  void closed(MeteredStream stream) {
    streams.remove(stream.shard(), stream);
  }

  @Override
  public void close() {
    oplogs.dispose();
    cluster.close();
  }
}
