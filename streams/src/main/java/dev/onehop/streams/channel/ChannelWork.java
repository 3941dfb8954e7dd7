package dev.onehop.streams.channel;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.merge.Bursts;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;

/** Distributes the events of one subscription to the channels. Thread-safe. */
final class ChannelWork implements CoreSubscriber<StreamEvent> {

  private final int batch;
  private final ChannelProcessor processor;
  private final Consumer<Checkpoint> acknowledged;
  private final long intervalNanos;
  private final BatchMeter meter;
  private final MonoSink<Void> sink;
  private final Scheduler scheduler;
  private final ChannelThreads threads;
  private final Channel[] channels;

  // These fields and the channels are guarded by the lock of this object.
  private final Demand demand;
  private final Deque<Entry> unfinished = new ArrayDeque<>();
  // The events of a burst that has not ended. The events after an event that concerns more than one
  // document, which wait until that event is processed.
  private final Deque<Entry> held = new ArrayDeque<>();
  private volatile @Nullable Subscription subscription;
  private boolean bursts;
  private @Nullable Entry barrier;
  private int waiting;
  private @Nullable Checkpoint reached;
  private boolean reporting;
  private long reportedNanos = System.nanoTime();
  private boolean completed;
  private boolean ended;

  /**
   * An event that has arrived. It stays in memory until this event and all earlier events are
   * acknowledged.
   */
  private static final class Entry implements ChannelQueue.Entry {
    private final StreamEvent event;
    private final int channel;
    private final long bytes;
    private final long arrivedNanos;
    private boolean done;

    Entry(StreamEvent event, int channel, long arrivedNanos) {
      this.event = event;
      this.channel = channel;
      this.bytes = Channels.bytes(event);
      this.arrivedNanos = arrivedNanos;
    }

    @Override
    public StreamEvent event() {
      return event;
    }

    @Override
    public long bytes() {
      return bytes;
    }
  }

  private record Channel(int number, ChannelQueue<Entry> queue) {}

  ChannelWork(
      int count,
      int batch,
      int unacknowledged,
      ChannelProcessor processor,
      Consumer<Checkpoint> acknowledged,
      Duration interval,
      BatchMeter meter,
      MonoSink<Void> sink) {
    this.batch = batch;
    this.demand = new Demand(unacknowledged);
    this.processor = processor;
    this.acknowledged = acknowledged;
    this.intervalNanos = interval.toNanos();
    this.meter = meter;
    this.sink = sink;
    this.scheduler = ChannelThreads.scheduler(count);
    this.threads = new ChannelThreads(scheduler, this::fail);
    this.channels = new Channel[count];
    for (int i = 0; i < count; i++) {
      channels[i] = new Channel(i, new ChannelQueue<>());
    }
  }

  @Override
  public void onSubscribe(Subscription given) {
    int first;
    synchronized (this) {
      subscription = given;
      if (ended) {
        given.cancel();
        return;
      }
      if (given instanceof Bursts source) {
        bursts = true;
        source.afterBurst(this::burst);
      }
      first = demand.more();
    }
    given.request(first);
  }

  @Override
  public void onNext(StreamEvent event) {
    int more;
    synchronized (this) {
      if (ended) {
        return;
      }
      Entry entry = new Entry(event, channel(event), meter.now());
      unfinished.add(entry);
      demand.arrived(entry.bytes);
      if (event instanceof StreamEvent.Progress) {
        entry.done = true;
      } else {
        held.add(entry);
      }
      more = bursts ? demand.more() : passOn();
    }
    request(more);
  }

  private void burst() {
    int more;
    synchronized (this) {
      more = ended ? 0 : passOn();
    }
    request(more);
  }

  private int passOn() {
    release();
    return acknowledge();
  }

  private int channel(StreamEvent event) {
    return event instanceof StreamEvent.Change change
        ? Channels.of(change.document(), channels.length)
        : Channels.ALL;
  }

  /** Passes events to the channels, up to the first event that has to wait. */
  private void release() {
    List<Channel> fed = new ArrayList<>();
    while (barrier == null && !held.isEmpty()) {
      Entry next = held.element();
      boolean all = next.channel == Channels.ALL;
      if (all && waiting > 0) {
        break;
      }
      held.remove();
      waiting++;
      Channel channel = channels[Math.max(0, next.channel)];
      // A channel with waiting events is started already.
      if (channel.queue().isEmpty()) {
        fed.add(channel);
      }
      channel.queue().add(next);
      barrier = all ? next : null;
    }
    fed.forEach(this::start);
  }

  private void start(Channel channel) {
    channel
        .queue()
        .start(this, threads, batch, () -> !ended, entries -> process(channel, entries), () -> {});
  }

  private void process(Channel channel, List<Entry> entries) {
    List<StreamEvent> events = entries.stream().map(Entry::event).toList();
    Mono<Void> processing = Mono.defer(() -> Mono.from(work(channel.number(), events)));
    Calls.run(
        () ->
            meter.measured(
                processing, channel.number(), events.size(), entries.get(0).arrivedNanos),
        this::fail,
        () -> processed(channel, entries));
  }

  private Publisher<Void> work(int channel, List<StreamEvent> events) {
    List<StreamEvent.Change> changes = new ArrayList<>(events.size());
    for (StreamEvent event : events) {
      // A transaction or notice is always alone in its batch, because all other events wait for it.
      if (event instanceof StreamEvent.Transaction transaction) {
        return processor.process(channel, transaction.changes());
      }
      if (!(event instanceof StreamEvent.Change change)) {
        return processor.notice(event);
      }
      changes.add(change);
    }
    return processor.process(channel, changes);
  }

  private void processed(Channel channel, List<Entry> entries) {
    int more;
    synchronized (this) {
      waiting -= entries.size();
      for (Entry entry : entries) {
        entry.done = true;
        if (entry == barrier) {
          barrier = null;
        }
      }
      channel.queue().setBusy(false);
      start(channel);
      more = passOn();
    }
    request(more);
  }

  private void request(int more) {
    Subscription from = subscription;
    if (more > 0 && from != null) {
      from.request(more);
    }
  }

  /**
   * Acknowledges the oldest events, up to the first event that is not finished.
   *
   * @return the number of events to request
   */
  private int acknowledge() {
    while (!unfinished.isEmpty() && unfinished.element().done) {
      Entry entry = unfinished.remove();
      reached = entry.event.checkpoint();
      demand.freed(entry.bytes);
    }
    int more = demand.more();
    boolean last = completed && unfinished.isEmpty();
    if (reporting || ended) {
      return more;
    }
    if (reached != null && (last || System.nanoTime() - reportedNanos >= intervalNanos)) {
      reporting = true;
      scheduler.schedule(this::report);
    } else if (last) {
      finish();
    }
    return more;
  }

  private void report() {
    Checkpoint place;
    synchronized (this) {
      place = reached;
      reached = null;
    }
    try {
      if (place != null) {
        acknowledged.accept(place);
      }
    } catch (RuntimeException | Error failure) {
      fail(failure);
      return;
    }
    synchronized (this) {
      reporting = false;
      reportedNanos = System.nanoTime();
      if (completed) {
        acknowledge();
      }
    }
  }

  private void finish() {
    ended = true;
    // The method dispose() would interrupt this thread. The thread belongs to the scheduler and
    // still has to run the application's code after this call.
    scheduler.disposeGracefully().subscribe();
    sink.success();
  }

  private void fail(Throwable cause) {
    if (stop()) {
      Calls.logError(cause);
      sink.error(cause);
    }
  }

  @Override
  public void onError(Throwable cause) {
    fail(cause);
  }

  @Override
  public void onComplete() {
    synchronized (this) {
      completed = true;
      acknowledge();
    }
  }

  /**
   * Cancels the stream. Current calls of the processor continue, but their acknowledgement is not
   * reported.
   */
  void cancel() {
    stop();
  }

  /** Ends the work. Returns false if the work has already ended. */
  private boolean stop() {
    Subscription open;
    synchronized (this) {
      if (ended) {
        return false;
      }
      ended = true;
      open = subscription;
    }
    if (open != null) {
      open.cancel();
    }
    scheduler.disposeGracefully().subscribe();
    return true;
  }
}
