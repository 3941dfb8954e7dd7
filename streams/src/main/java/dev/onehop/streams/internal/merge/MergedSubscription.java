package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.HistoryLostException;
import dev.onehop.streams.event.HistoryLostPolicy;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.token.Tokens;
import dev.onehop.streams.observation.StreamListener.Cause;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * The merged stream of one subscriber: reads the shards and the placement as the {@link Merge}
 * needs them, and emits the released events. Replies are queued and handled by one thread at a
 * time, a thread on which a reply arrived.
 */
final class MergedSubscription implements Subscription, ShardReader.Owner {
  private static final Logger log = LoggerFactory.getLogger(MergedSubscription.class);

  // Short times, because a getMore without events returns only at the end of its time, and only
  // then has a newer token.
  private static final Duration AWAIT_HELD = Duration.ofMillis(3);
  private static final Duration AWAIT_TOTAL = Duration.ofMillis(10);
  private static final Duration AWAIT_PER_KEY = Duration.ofMillis(50);

  /**
   * How long to read a removed shard that cannot be reached; its remaining events then count as
   * lost.
   */
  private static final Duration LEAVING = Duration.ofMinutes(1);

  private static final Duration CLOSING = Duration.ofSeconds(2);

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
  private final Map<String, ShardReader> readers = new HashMap<>();
  private final Map<String, Leaving> leaving = new HashMap<>();
  private final Queue<StreamEvent> notices = new ArrayDeque<>();
  private @Nullable Merge merge;
  private Cluster.@Nullable Placement placement;
  private boolean placing;
  private long placedNanos;
  private int placingFailures;
  private int openingFailures;
  private long givenNanos = System.nanoTime();
  private @Nullable Checkpoint lastPlace;
  private long wakeNanos;
  private @Nullable Disposable wake;
  private boolean done;

  private record Leaving(String bound, long untilNanos) {}

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
    Sinks.Empty<Void> opened = Sinks.empty();
    opening = opened.asMono();
    cluster
        .open()
        .doFinally(end -> opened.tryEmitEmpty())
        .takeUntilOther(closed.asMono())
        .subscribe(first -> post(() -> opened(first)), cause -> post(() -> notOpened(cause)));
  }

  private void opened(Cluster.Opening opening) {
    Checkpoint start = opening.start();
    Merge begun =
        new Merge(
            settings.order(),
            opening.placement() != null,
            start.low(),
            settings.groupTransactions());
    opening.shards().forEach(shard -> add(begun, shard, start.token(shard)));
    Cluster.Placement first = opening.placement();
    if (first != null) {
      // After a resume, changes of the placement before its first read are unknown.
      begun.placed(first.through(), opening.resumed() ? first.latest() : null);
      placement = first;
      placedNanos = System.nanoTime();
    }
    merge = begun;
    lastPlace = start;
    watch.opened(start, opening.shards(), cluster.now(), System.nanoTime());
    if (meters != null) {
      meters.started(start);
    }
    // Events of removed shards after the start can no longer be read.
    opening
        .removed()
        .forEach((shard, at) -> noticeLost(shard, Tokens.clusterTime(start.token(shard)), at));
  }

  private void notOpened(Throwable cause) {
    if (!isPassing(cause)) {
      failed(cause instanceof ReadFailure known ? known.getCause() : cause);
      return;
    }
    openingFailures++;
    if (openingFailures == 3) {
      log.warn("the cluster can't be read, retrying: {}", cause.getMessage());
    }
    Mono.delay(Pauses.after(openingFailures)).subscribe(tick -> post(this::startAgain));
  }

  private void startAgain() {
    if (!cancelled) {
      start();
    }
  }

  private static boolean isPassing(Throwable cause) {
    return cause instanceof ReadFailure known && known.kind() == ReadFailure.Kind.PASSING;
  }

  private void add(Merge into, String shard, String after) {
    into.add(shard, after);
    ShardStream stream = cluster.stream(shard);
    ShardMeter meter = meters == null ? null : meters.shard(shard, stream);
    readers.put(shard, new ShardReader(shard, stream, after, settings, meter, this));
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

  @Override
  public void post(Runnable task) {
    answers.add(task);
    drain();
  }

  @Override
  public void received(String shard, List<Item> items, @Nullable String token) {
    if (merge != null && readers.containsKey(shard)) {
      merge.received(shard, items, token);
    }
  }

  @Override
  public void lost(String shard, BsonTimestamp from, BsonTimestamp to) {
    if (settings.historyLost() == HistoryLostPolicy.CONTINUE && merge != null) {
      merge.skip(shard, to);
    }
    noticeLost(shard, from, to);
  }

  private void noticeLost(String shard, BsonTimestamp from, BsonTimestamp to) {
    if (settings.historyLost() == HistoryLostPolicy.FAIL) {
      failed(new HistoryLostException(shard, from, to));
    } else if (merge != null) {
      notices.add(new StreamEvent.HistoryLost(shard, from, to, merge.checkpoint()));
    }
  }

  @Override
  public void failed(Throwable cause) {
    failure = cause;
  }

  @Override
  public void wakeIn(Duration time) {
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
      Merge ready = merge;
      if (ready != null && failure == null) {
        give(ready);
      }
      Throwable cause = failure;
      if (cause != null && !done) {
        fail(cause);
      } else if (ready != null && !done) {
        read(ready);
        watch(ready);
      }
    } catch (RuntimeException | Error unexpected) {
      // Errors of the virtual machine, too: a subscriber without an end would wait forever.
      if (done || unexpected instanceof Error) {
        log.error("an error was thrown where events are handled; the stream ends", unexpected);
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
    long demand = requested.get();
    long given = 0;
    long longestWait = -1;
    while (given < demand && !cancelled) {
      StreamEvent next = notices.isEmpty() ? from.poll() : notices.poll();
      if (next == null) {
        next = progress(from);
      }
      if (next == null) {
        break;
      }
      given++;
      givenNanos = System.nanoTime();
      lastPlace = next.checkpoint();
      StreamEvent.Change first = first(next);
      if (first != null) {
        longestWait = Math.max(longestWait, givenNanos - first.receivedNanos());
      }
      subscriber.onNext(next);
      if (from.isEnded()) {
        end();
        subscriber.onComplete();
        return;
      }
    }
    if (given != 0 && demand != Long.MAX_VALUE) {
      requested.addAndGet(-given);
    }
    if (given != 0 && meters != null) {
      meters.given(longestWait, lastPlace);
    }
  }

  private static StreamEvent.@Nullable Change first(StreamEvent event) {
    if (event instanceof StreamEvent.Transaction transaction) {
      return transaction.changes().get(0);
    }
    return event instanceof StreamEvent.Change change ? change : null;
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

  private void read(Merge of) {
    if (placement != null) {
      place(of);
    }
    List<String> holders = of.holders();
    if (meters != null) {
      meters.awaited(holders);
    }
    for (ShardReader reader : List.copyOf(readers.values())) {
      String shard = reader.shard();
      boolean held = holders.contains(shard) || leaving.containsKey(shard);
      if (held) {
        reader.advance();
      }
      leave(of, shard);
      if (readers.containsKey(shard) && of.bytes(shard) < settings.bufferPerShard()) {
        reader.read(await(held));
      }
    }
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

  /** What the position waits for. */
  private PositionWatch.Wait waits(Merge of) {
    if (requested.get() == 0) {
      return new PositionWatch.Wait(Cause.SUBSCRIBER, List.of());
    }
    List<String> shards = of.waitsForPlacement() ? List.of() : of.laggards();
    return new PositionWatch.Wait(shards.isEmpty() ? Cause.CONFIG_SERVERS : Cause.SHARDS, shards);
  }

  private Duration await(boolean held) {
    if (readers.size() == 1) {
      return settings.maxAwaitTime();
    }
    Duration most = AWAIT_PER_KEY;
    if (held) {
      most = AWAIT_HELD;
    } else if (settings.order() == Order.TOTAL) {
      most = AWAIT_TOTAL;
    }
    return most.compareTo(settings.maxAwaitTime()) < 0 ? most : settings.maxAwaitTime();
  }

  private void place(Merge of) {
    if (placing) {
      return;
    }
    boolean wanted = of.waitsForPlacement();
    Duration interval = wanted ? settings.heartbeatInterval() : settings.progressInterval();
    if (placingFailures > 0) {
      interval = Pauses.after(placingFailures);
    }
    long left = placedNanos + interval.toNanos() - System.nanoTime();
    if (left > 0) {
      wakeIn(Duration.ofNanos(left));
      return;
    }
    placing = true;
    placedNanos = System.nanoTime();
    cluster
        .placement(wanted)
        .subscribe(found -> post(() -> placed(of, found)), cause -> post(() -> notPlaced(cause)));
  }

  private void measurePlacing(boolean ok) {
    if (meters != null) {
      meters.placed(System.nanoTime() - placedNanos, ok);
    }
  }

  private void placed(Merge of, Cluster.Placement found) {
    measurePlacing(true);
    placing = false;
    placingFailures = 0;
    Cluster.Placement before = placement;
    if (before == null) {
      return;
    }
    boolean changed = !found.state().equals(before.state());
    placement = found;
    String since = Tokens.highWater(Tokens.next(before.through()));
    for (String shard : found.shards()) {
      if (!readers.containsKey(shard)) {
        // The shard's events are later than the last time at which it was not in the placement.
        log.info("shard {} was added, its stream is merged", shard);
        add(of, shard, since);
      }
      leaving.remove(shard);
    }
    for (String shard : readers.keySet()) {
      if (!found.shards().contains(shard) && !leaving.containsKey(shard)) {
        log.info("shard {} was removed, its stream is read to the end", shard);
        leaving.put(
            shard,
            new Leaving(
                Tokens.highWater(Tokens.next(found.through())),
                System.nanoTime() + LEAVING.toNanos()));
      }
    }
    of.placed(found.through(), changed ? found.latest() : null);
  }

  private void notPlaced(Throwable cause) {
    measurePlacing(false);
    placing = false;
    if (!isPassing(cause)) {
      failed(cause instanceof ReadFailure known ? known.getCause() : cause);
      return;
    }
    placingFailures++;
    if (placingFailures == 3) {
      log.warn("events wait for the config servers, which don't answer: {}", cause.getMessage());
    }
  }

  /** Stops reading a removed shard once all its events before the removal are emitted. */
  private void leave(Merge of, String shard) {
    Leaving going = leaving.get(shard);
    if (going == null || !of.isEmpty(shard)) {
      return;
    }
    boolean late = going.untilNanos() - System.nanoTime() <= 0;
    if (of.mark(shard).compareTo(going.bound()) < 0 && !late) {
      wakeIn(Duration.ofMillis(100));
      return;
    }
    if (late) {
      lost(shard, Tokens.clusterTime(of.mark(shard)), Tokens.clusterTime(going.bound()));
    }
    leaving.remove(shard);
    of.remove(shard);
    ShardReader reader = readers.remove(shard);
    if (reader != null) {
      reader.close().subscribe();
    }
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
    // The opening may still get a cursor that has to be closed.
    List<Mono<Void>> closing = new ArrayList<>(List.of(opening));
    readers.values().forEach(reader -> closing.add(reader.close()));
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
