package dev.onehop.streams.channel;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;

/** Distributes the events of one subscription to the channels. Thread-safe. */
final class ChannelWork implements ChannelFeed.Receiver {
  private final ChangeChannels settings;
  private final ChannelProcessor processor;
  private final MonoSink<Void> sink;
  private final Scheduler scheduler;
  private final ChannelThreads threads;
  private final Channel[] channels;

  // These fields and the channels are guarded by the lock of this object. The feed holds the events
  // after an event that concerns more than one document until that event is processed.
  private final ChannelFeed feed;
  // The events that were passed to the channels. An event stays here until this event and all
  // earlier events are acknowledged.
  private final Deque<Entry> unfinished = new ArrayDeque<>();
  private @Nullable Entry barrier;
  private int waiting;
  private @Nullable Checkpoint reached;
  private boolean reporting;
  private long reportedNanos = System.nanoTime();
  private boolean ended;

  ChannelWork(ChangeChannels settings, ChannelProcessor processor, MonoSink<Void> sink) {
    this.settings = settings;
    this.processor = processor;
    this.sink = sink;
    this.scheduler = ChannelThreads.scheduler(settings.channels);
    this.threads = new ChannelThreads(scheduler, this::failed);
    this.feed =
        new ChannelFeed(
            this, settings.unacknowledged, from -> settings.events, settings.meter::now);
    this.channels = new Channel[settings.channels];
    for (int i = 0; i < channels.length; i++) {
      channels[i] = new Channel(i);
    }
  }

  /** Subscribes to the events, unless the work was cancelled. */
  void start() {
    Runnable first;
    synchronized (this) {
      first = feed.restart(ended ? null : Entry.BEGINNING);
    }
    first.run();
  }

  /** Passes the arrived events to the channels, up to the first event that has to wait. */
  @Override
  public void arrived() {
    List<Channel> fed = new ArrayList<>();
    Entry next;
    while (barrier == null && (next = feed.peek()) != null) {
      StreamEvent event = next.event();
      int number =
          event instanceof StreamEvent.Change change
              ? Channels.of(change.document(), channels.length)
              : Channels.ALL;
      if (event instanceof StreamEvent.Progress) {
        next.setDone();
      } else if (number == Channels.ALL && waiting > 0) {
        break;
      } else {
        waiting++;
        barrier = number == Channels.ALL ? next : null;
        Channel channel = channels[Math.max(0, number)];
        // A channel with waiting events is started already.
        if (channel.isEmpty()) {
          fed.add(channel);
        }
        channel.add(next);
      }
      unfinished.add(next);
      feed.poll();
    }
    fed.forEach(this::start);
    acknowledge();
  }

  private void start(Channel channel) {
    channel.start(
        this,
        threads,
        settings.batch,
        () -> !ended,
        entries -> process(channel, entries),
        () -> {});
  }

  private void process(Channel channel, List<Entry> entries) {
    Mono<Void> processing = Mono.defer(() -> Mono.from(work(channel.number(), entries)));
    Calls.run(
        () ->
            settings.meter.measured(
                processing, channel.number(), entries.size(), entries.get(0).arrivedNanos()),
        this::failed,
        () -> processed(channel, entries));
  }

  private Publisher<Void> work(int channel, List<Entry> entries) {
    StreamEvent first = entries.get(0).event();
    // A transaction or notice is always alone in its batch, because all other events wait for it.
    if (first instanceof StreamEvent.Transaction transaction) {
      return processor.process(channel, transaction.changes());
    }
    return first instanceof StreamEvent.Change
        ? processor.process(channel, Entry.changes(entries))
        : processor.notice(first);
  }

  private void processed(Channel channel, List<Entry> entries) {
    feed.change(
        () -> {
          waiting -= entries.size();
          entries.forEach(Entry::setDone);
          if (entries.get(0) == barrier) {
            barrier = null;
          }
          channel.setBusy(false);
          start(channel);
          arrived();
        });
  }

  /** Acknowledges the oldest events, up to the first event that is not finished. */
  private void acknowledge() {
    while (!unfinished.isEmpty() && unfinished.element().isDone()) {
      Entry entry = unfinished.remove();
      reached = entry.event().checkpoint();
      feed.freed(entry);
    }
    if (reporting || ended) {
      return;
    }
    boolean last = feed.isAtEnd() && unfinished.isEmpty();
    if (reached != null && (last || System.nanoTime() - reportedNanos >= settings.intervalNanos)) {
      reporting = true;
      scheduler.schedule(this::report);
    } else if (last) {
      finish();
    }
  }

  private void report() {
    Checkpoint place;
    synchronized (this) {
      place = reached;
      reached = null;
    }
    try {
      if (place != null) {
        settings.acknowledged.accept(place);
      }
    } catch (RuntimeException | Error failure) {
      failed(failure);
      return;
    }
    synchronized (this) {
      reporting = false;
      reportedNanos = System.nanoTime();
      if (feed.isCompleted()) {
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

  @Override
  public void completed() {
    synchronized (this) {
      acknowledge();
    }
  }

  @Override
  public void failed(Throwable cause) {
    if (stop()) {
      Calls.logError(cause);
      sink.error(cause);
    }
  }

  /**
   * Cancels the stream. Current calls of the processor continue, but their acknowledgement is not
   * reported. Returns false if the work has already ended.
   */
  boolean stop() {
    Runnable end;
    synchronized (this) {
      if (ended) {
        return false;
      }
      ended = true;
      end = feed.restart(null);
    }
    end.run();
    scheduler.disposeGracefully().subscribe();
    return true;
  }
}
