package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.HistoryLostException;
import dev.onehop.streams.event.HistoryLostPolicy;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.token.Tokens;
import dev.onehop.streams.observation.StreamListener.Cause;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/**
 * The merged stream of one subscriber. It emits the events that the {@link Merge} releases, and
 * makes the {@link MergedShards} read. Replies are queued. One thread at a time handles them; it is
 * a thread on which a reply has arrived.
 */
final class MergedSubscription implements Bursts {
  private static final Logger log = LoggerFactory.getLogger(MergedSubscription.class);

  private static final Duration CLOSING = Duration.ofSeconds(2);

  // The most events of a step. The shards are read after each step, so they send more in time.
  private static final int BURST = 512;

  private final Subscriber<? super StreamEvent> subscriber;
  private final Cluster cluster;
  private final MergeSettings settings;
  private final PositionWatch watch;
  private final @Nullable StreamMeter meters;
  private final AtomicLong requested = new AtomicLong();
  private final AtomicInteger work = new AtomicInteger();
  private final Queue<Runnable> answers = new ConcurrentLinkedQueue<>();
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private volatile Mono<Void> opening = Mono.empty();
  private volatile boolean cancelled;
  private volatile @Nullable Throwable failure;

  // The following fields are used only while work is not zero, by the thread that has incremented
  // it from zero.
  private final Queue<StreamEvent> notices = new ArrayDeque<>();
  private Runnable afterBurst = () -> {};
  private @Nullable MergedShards shards;
  private long givenNanos = System.nanoTime();
  private @Nullable Checkpoint lastPlace;
  private long wakeNanos;
  private @Nullable Disposable wake;
  private boolean done;

  MergedSubscription(
      Subscriber<? super StreamEvent> subscriber,
      Cluster cluster,
      MergeSettings settings,
      MergedStream.Observation observation) {
    this.subscriber = subscriber;
    this.cluster = cluster;
    this.settings = settings;
    this.watch = new PositionWatch(observation);
    MeterRegistry registry = observation.registry();
    this.meters = registry == null ? null : new StreamMeter(registry, observation.stream(), watch);
  }

  void start() {
    Mono.defer(this::open)
        .retryWhen(Pauses.whenever(ReadFailure::isPassing).doBeforeRetry(this::warn))
        .takeUntilOther(closed.asMono())
        .subscribe(
            first -> post(() -> opened(first)),
            cause -> post(() -> failed(ReadFailure.cause(cause))));
  }

  private Mono<Cluster.Opening> open() {
    Sinks.Empty<Void> opened = Sinks.empty();
    opening = opened.asMono();
    return cluster.open().doFinally(end -> opened.tryEmitEmpty());
  }

  private void warn(Retry.RetrySignal signal) {
    if (signal.totalRetries() == 2) {
      log.warn("the cluster can't be read, retrying: {}", signal.failure().getMessage());
    }
  }

  private void opened(Cluster.Opening opening) {
    Checkpoint start = opening.start();
    shards = new MergedShards(cluster, opening, settings, meters, this);
    lastPlace = start;
    watch.opened(start, opening.shards(), cluster.now(), System.nanoTime());
    if (meters != null) {
      meters.started(start);
    }
    // The events of these shards after the start can no longer be read.
    opening
        .removed()
        .forEach((shard, at) -> noticeLost(shard, Tokens.clusterTime(start.token(shard)), at));
  }

  @Override
  public void afterBurst(Runnable task) {
    afterBurst = task;
  }

  @Override
  public void request(long n) {
    if (n <= 0) {
      failure = new IllegalArgumentException("not a positive request: " + n);
    } else {
      requested.accumulateAndGet(n, Operators::addCap);
    }
    drain();
  }

  @Override
  public void cancel() {
    cancelled = true;
    drain();
  }

  /** Runs the handling of a reply. One task runs at a time. */
  void post(Runnable task) {
    answers.add(task);
    drain();
  }

  void received(String shard, List<Item> items, @Nullable String token) {
    if (shards != null && shards.has(shard)) {
      shards.merge().received(shard, items, token);
    }
  }

  void lost(String shard, BsonTimestamp from, BsonTimestamp to) {
    if (settings.historyLost() == HistoryLostPolicy.CONTINUE && shards != null) {
      shards.merge().skip(shard, to);
    }
    noticeLost(shard, from, to);
  }

  private void noticeLost(String shard, BsonTimestamp from, BsonTimestamp to) {
    if (settings.historyLost() == HistoryLostPolicy.FAIL) {
      failed(new HistoryLostException(shard, from, to));
    } else if (shards != null) {
      notices.add(new StreamEvent.HistoryLost(shard, from, to, shards.merge().checkpoint()));
    }
  }

  void failed(Throwable cause) {
    failure = cause;
  }

  /** Reads again after this time. */
  void wakeIn(Duration time) {
    long at = System.nanoTime() + time.toNanos();
    if (wake != null) {
      if (wakeNanos - at <= 0) {
        return;
      }
      wake.dispose();
    }
    wakeNanos = at;
    wake =
        Schedulers.parallel()
            .schedule(
                () -> post(() -> wake = null), Math.max(1, time.toNanos()), TimeUnit.NANOSECONDS);
  }

  private void drain() {
    if (work.getAndIncrement() != 0) {
      return;
    }
    int seen = 1;
    do {
      if (!done) {
        step();
      } else {
        answers.clear();
      }
      seen = work.addAndGet(-seen);
    } while (seen != 0);
  }

  private void step() {
    try {
      Runnable answer;
      while ((answer = answers.poll()) != null) {
        answer.run();
      }
      if (cancelled) {
        end();
        return;
      }
      MergedShards ready = shards;
      if (ready != null && failure == null) {
        give(ready.merge());
      }
      Throwable cause = failure;
      if (cause != null && !done) {
        fail(cause);
      } else if (ready != null && !done) {
        ready.read();
        watch(ready.merge());
      }
    } catch (RuntimeException | Error unexpected) {
      // Errors of the virtual machine are handled, too: otherwise the subscriber would wait
      // forever.
      if (done || unexpected instanceof Error) {
        log.error(
            "the stream ends, because an error was thrown while events were handled", unexpected);
      }
      if (!done) {
        fail(unexpected);
      }
    }
  }

  private void fail(Throwable cause) {
    end();
    subscriber.onError(cause);
  }

  private void give(Merge from) {
    long given = 0;
    while (given < BURST && given < requested.get() && !cancelled && !from.isEnded()) {
      StreamEvent next = notices.isEmpty() ? from.poll() : notices.poll();
      next = next == null ? progress(from) : next;
      if (next == null) {
        break;
      }
      if (given++ == 0) {
        givenNanos = System.nanoTime();
      }
      lastPlace = next.checkpoint();
      if (meters != null) {
        meters.emits(next);
      }
      subscriber.onNext(next);
    }
    if (given != 0) {
      endBurst(given);
    }
    if (from.isEnded()) {
      end();
      subscriber.onComplete();
    }
  }

  private void endBurst(long events) {
    if (requested.get() != Long.MAX_VALUE) {
      requested.addAndGet(-events);
    }
    if (meters != null) {
      meters.given(lastPlace);
    }
    if (events == BURST) {
      // The rest comes in the next step, after the replies that have arrived.
      work.incrementAndGet();
    }
    afterBurst.run();
  }

  private @Nullable StreamEvent progress(Merge from) {
    long left = givenNanos + settings.progressInterval().toNanos() - System.nanoTime();
    if (left > 0) {
      wakeIn(Duration.ofNanos(left));
      return null;
    }
    Checkpoint place = from.checkpoint();
    givenNanos = System.nanoTime();
    wakeIn(settings.progressInterval());
    return Objects.equals(place, lastPlace) ? null : new StreamEvent.Progress(place);
  }

  private void watch(Merge of) {
    wakeIn(
        watch.look(
            Objects.requireNonNull(lastPlace),
            () -> {
              BsonTimestamp now = cluster.now();
              String mark = of.furthest();
              return now == null ? mark : Tokens.max(mark, Tokens.highWater(now));
            },
            () -> waits(of),
            System.nanoTime()));
  }

  /** The reason why the position does not move. */
  private PositionWatch.Wait waits(Merge of) {
    if (requested.get() == 0) {
      return new PositionWatch.Wait(Cause.SUBSCRIBER, List.of());
    }
    List<String> waited = of.waitsForPlacement() ? List.of() : of.laggards();
    return new PositionWatch.Wait(waited.isEmpty() ? Cause.CONFIG_SERVERS : Cause.SHARDS, waited);
  }

  private void end() {
    done = true;
    answers.clear();
    if (wake != null) {
      wake.dispose();
    }
    if (meters != null) {
      meters.close();
    }
    // A request that opens a stream may be in flight. Its cursor has to be closed, too.
    List<Mono<Void>> closing = new ArrayList<>(List.of(opening));
    if (shards != null) {
      closing.addAll(shards.close());
    }
    Flux.merge(closing)
        .timeout(CLOSING)
        .onErrorComplete()
        .doFinally(
            end -> {
              closed.tryEmitEmpty();
              cluster.close();
            })
        .subscribe();
  }
}
