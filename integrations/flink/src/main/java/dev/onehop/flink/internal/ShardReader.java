package dev.onehop.flink.internal;

import dev.onehop.flink.ChangeDeserializer;
import dev.onehop.streams.ShardParts;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/**
 * Reads splits, each with its own subscription, and emits their events in the order of arrival. The
 * reader's watermark follows from the earliest of these positions: the position of each split, and
 * the last position from the enumerator. A reader without splits therefore has a watermark, too. A
 * split that is assigned later has no events before this watermark.
 *
 * <p>Only the task's thread uses a reader. Only the reader's queue is shared: the subscriptions add
 * events to it on other threads.
 */
public final class ShardReader<T> implements SourceReader<T, ShardSplit> {
  private static final CompletableFuture<Void> NOW = CompletableFuture.completedFuture(null);

  /**
   * The number of events that a split requests at a time. At most twice this number wait in the
   * queue. The number is small because one event may have 16 MB. The stream has its own buffer,
   * which is limited by bytes.
   */
  private static final int AHEAD = 64;

  /** The number of events between two updates of the watermark. */
  private static final int EVENTS_PER_WATERMARK = 64;

  private final SourceReaderContext context;
  private final ShardParts cluster;
  private final ChangeDeserializer<T> deserializer;
  private final Records records = new Records();
  private final Map<String, Reading> readings = new HashMap<>();
  private final Queue<Arrival> arrivals = new ConcurrentLinkedQueue<>();
  private final Object lock = new Object();
  private CompletableFuture<Void> available = new CompletableFuture<>();
  private @Nullable Placed placed;
  private boolean noMore;
  private boolean idle;
  private boolean dirty;
  private int unmarked;
  private long watermark = Long.MIN_VALUE;

  /**
   * An event, the end or the failure of a split.
   *
   * @param reading the split
   * @param event the event; null at the end
   * @param failure the failure; null if there is none
   */
  private record Arrival(
      Reading reading, @Nullable StreamEvent event, @Nullable Throwable failure) {}

  /**
   * @param cluster the stream's parts; closed with this reader
   */
  public ShardReader(
      SourceReaderContext context, ShardParts cluster, ChangeDeserializer<T> deserializer) {
    this.context = context;
    this.cluster = cluster;
    this.deserializer = deserializer;
  }

  /** A split and its subscription. */
  private static final class Reading extends BaseSubscriber<StreamEvent> {
    private final Consumer<Arrival> to;
    // Only the task's thread uses the next two fields.
    private ShardSplit split;
    private int taken;

    Reading(ShardSplit split, Consumer<Arrival> to) {
      this.split = split;
      this.to = to;
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      subscription.request(2L * AHEAD);
    }

    @Override
    protected void hookOnNext(StreamEvent event) {
      to.accept(new Arrival(this, event, null));
    }

    @Override
    protected void hookOnComplete() {
      to.accept(new Arrival(this, null, null));
    }

    @Override
    protected void hookOnError(Throwable failure) {
      to.accept(new Arrival(this, null, failure));
    }

    void took() {
      taken++;
      if (taken == AHEAD) {
        taken = 0;
        request(AHEAD);
      }
    }
  }

  /** Emits the records of one event. */
  private final class Records implements Collector<T> {
    private @Nullable ReaderOutput<T> output;
    private long time;

    void of(StreamEvent event, ReaderOutput<T> to, long at) throws Exception {
      output = to;
      time = at;
      deserializer.deserialize(event, this);
    }

    @Override
    public void collect(T record) {
      ReaderOutput<T> to = output;
      if (to != null) {
        to.collect(record, time);
      }
    }

    @Override
    public void close() {
      // Nothing to close.
    }
  }

  @Override
  public void start() {
    // Nothing to do: splits are assigned without requests.
  }

  private void arrive(Arrival arrival) {
    arrivals.add(arrival);
    wake();
  }

  private void wake() {
    synchronized (lock) {
      available.complete(null);
    }
  }

  @Override
  public CompletableFuture<Void> isAvailable() {
    synchronized (lock) {
      if (!arrivals.isEmpty() || dirty) {
        return NOW;
      }
      if (available.isDone()) {
        available = new CompletableFuture<>();
      }
      return available;
    }
  }

  @Override
  public InputStatus pollNext(ReaderOutput<T> output) throws Exception {
    Arrival arrival = arrivals.poll();
    if (arrival != null && readings.get(arrival.reading().split.splitId()) == arrival.reading()) {
      take(arrival, output);
    }
    unmarked++;
    if (arrivals.isEmpty() || unmarked >= EVENTS_PER_WATERMARK) {
      unmarked = 0;
      dirty = false;
      mark(output);
    }
    if (noMore && readings.isEmpty()) {
      return InputStatus.END_OF_INPUT;
    }
    return arrivals.isEmpty() ? InputStatus.NOTHING_AVAILABLE : InputStatus.MORE_AVAILABLE;
  }

  private void take(Arrival arrival, ReaderOutput<T> output) throws Exception {
    Reading reading = arrival.reading();
    Throwable failure = arrival.failure();
    if (failure != null) {
      throw new IOException("shard " + reading.split.shard() + " can't be read", failure);
    }
    StreamEvent event = arrival.event();
    if (event == null) {
      end(reading, reading.split.after());
      return;
    }
    String place = event.checkpoint().low();
    String bound = placed == null ? null : placed.bound(reading.split);
    if (!(event instanceof StreamEvent.Progress)
        && (bound == null || place.compareTo(bound) <= 0)) {
      records.of(event, output, EventTimes.of(place));
    }
    reading.split = reading.split.at(place);
    reading.took();
    endIfOver(reading);
  }

  private void endIfOver(Reading reading) {
    if (placed != null && reading.split.isOver(placed.bound(reading.split))) {
      end(reading, null);
    }
  }

  private void end(Reading reading, @Nullable String invalidated) {
    reading.cancel();
    readings.remove(reading.split.splitId());
    context.sendSourceEventToCoordinator(new SplitEnded(reading.split.splitId(), invalidated));
  }

  private void mark(ReaderOutput<T> output) {
    if (placed == null) {
      return;
    }
    String least = placed.through();
    for (Reading reading : readings.values()) {
      String after = reading.split.after();
      least = least == null || after.compareTo(least) < 0 ? after : least;
    }
    if (least == null) {
      // There is no split, and none will be assigned, so the output is idle.
      if (!idle) {
        idle = true;
        output.markIdle();
      }
      return;
    }
    idle = false;
    long reached = EventTimes.watermark(least);
    if (reached > watermark) {
      watermark = reached;
      output.emitWatermark(new Watermark(reached));
    }
  }

  @Override
  public List<ShardSplit> snapshotState(long checkpointId) {
    List<ShardSplit> splits = new ArrayList<>();
    readings.values().forEach(reading -> splits.add(reading.split));
    return splits;
  }

  @Override
  public void addSplits(List<ShardSplit> splits) {
    for (ShardSplit split : splits) {
      Reading reading = new Reading(split, this::arrive);
      readings.put(split.splitId(), reading);
      cluster
          .events(split.shard(), Checkpoint.at(split.after()), split.part(), split.parts())
          .subscribe(reading);
    }
  }

  @Override
  public void notifyNoMoreSplits() {
    noMore = true;
    dirty = true;
    wake();
  }

  @Override
  public void handleSourceEvents(SourceEvent event) {
    if (event instanceof Placed now) {
      placed = now;
      new ArrayList<>(readings.values()).forEach(this::endIfOver);
      dirty = true;
      wake();
    }
  }

  @Override
  public void close() {
    readings.values().forEach(Reading::cancel);
    readings.clear();
    cluster.close();
  }
}
