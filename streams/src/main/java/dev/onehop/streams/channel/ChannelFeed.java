package dev.onehop.streams.channel;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.merge.Bursts;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/**
 * The one stream that feeds all channels of a process. When a member of a group gets further
 * channels, another stream replaces it. The caller of a method holds the lock of the receiver.
 * There are exceptions: {@link #change} and the result of {@link #restart} run without the lock,
 * because events may arrive during the call.
 */
final class ChannelFeed {
  private final Receiver receiver;
  private final Function<Checkpoint, Publisher<StreamEvent>> stream;
  private final LongSupplier clock;
  private final Demand demand;

  // The events that have arrived and that the receiver has not taken yet. They wait until the end
  // of a burst, and while an event that concerns more than one document is processed.
  private final Deque<Entry> held = new ArrayDeque<>();
  private @Nullable Feed feed;
  // The position up to which the stream's events were passed to the channels.
  private Checkpoint position = Entry.BEGINNING;
  private boolean completed;

  /** The owner of the channels, which receives the events. Its lock guards the channels. */
  interface Receiver {
    /** Called with the lock when {@link #poll} has events. */
    void arrived();

    /** Called without the lock at the end of the stream. */
    void completed();

    /** Called without the lock when the stream fails. */
    void failed(Throwable cause);
  }

  /**
   * @param limit the most events to keep
   * @param stream returns the stream's events after a position
   * @param clock returns the time when an event arrives, for {@link Entry#arrivedNanos}
   */
  ChannelFeed(
      Receiver receiver,
      int limit,
      Function<Checkpoint, Publisher<StreamEvent>> stream,
      LongSupplier clock) {
    this.receiver = receiver;
    this.stream = stream;
    this.clock = clock;
    this.demand = new Demand(limit);
  }

  Checkpoint position() {
    return position;
  }

  /** Whether the stream is at its end and all events were taken. */
  boolean isAtEnd() {
    return completed && held.isEmpty();
  }

  boolean isCompleted() {
    return completed;
  }

  /** Returns the next event; null if no event has arrived. */
  @Nullable Entry peek() {
    return held.peek();
  }

  /** Removes and returns the next event; null if no event has arrived. */
  @Nullable Entry poll() {
    return held.poll();
  }

  /** Called when an event was passed to its channel, or when no channel of this member needs it. */
  void passed(Entry entry) {
    position = entry.event().checkpoint();
  }

  /** Called when an event is no longer kept in memory. */
  void freed(Entry entry) {
    demand.freed(entry.bytes());
  }

  /** Makes a change under the lock, and then requests as many events as there is room for. */
  void change(Runnable change) {
    Subscription from;
    int more;
    synchronized (receiver) {
      change.run();
      from = feed == null ? null : feed.subscription;
      more = from == null ? 0 : demand.more();
    }
    if (from != null && more > 0) {
      from.request(more);
    }
  }

  /**
   * Replaces the stream. Waiting events are dropped.
   *
   * @param from the position after which the next stream starts; null for no stream
   * @return a task that cancels the current stream and starts the next one
   */
  Runnable restart(@Nullable Checkpoint from) {
    Feed old = feed;
    Feed next = from == null ? null : new Feed();
    held.forEach(this::freed);
    held.clear();
    completed = false;
    feed = next;
    position = from == null ? position : from;
    return () -> {
      if (old != null) {
        old.cancel();
      }
      if (next != null && from != null) {
        stream.apply(from).subscribe(next);
      }
    };
  }

  /** One subscription to a stream. The events of a stream that was replaced are ignored. */
  private final class Feed implements CoreSubscriber<StreamEvent> {
    private volatile @Nullable Subscription subscription;
    private boolean bursts;

    @Override
    public void onSubscribe(Subscription given) {
      change(
          () -> {
            subscription = given;
            if (given instanceof Bursts source) {
              bursts = true;
              source.afterBurst(() -> change(this::arrived));
            }
            if (feed == this) {
              demand.restart();
            }
          });
      if (!isCurrent()) {
        given.cancel();
      }
    }

    private void arrived() {
      if (feed == this) {
        receiver.arrived();
      }
    }

    void cancel() {
      Subscription open = subscription;
      if (open != null) {
        open.cancel();
      }
    }

    @Override
    public void onNext(StreamEvent event) {
      int more;
      synchronized (receiver) {
        if (feed != this) {
          return;
        }
        Entry entry = new Entry(event, clock.getAsLong());
        demand.arrived(entry.bytes());
        held.add(entry);
        if (!bursts) {
          receiver.arrived();
        }
        more = demand.more();
      }
      Subscription from = subscription;
      if (more > 0 && from != null) {
        from.request(more);
      }
    }

    @Override
    public void onError(Throwable cause) {
      if (isCurrent()) {
        receiver.failed(cause);
      }
    }

    @Override
    public void onComplete() {
      synchronized (receiver) {
        if (feed != this) {
          return;
        }
        completed = true;
      }
      receiver.completed();
    }

    private boolean isCurrent() {
      synchronized (receiver) {
        return feed == this;
      }
    }
  }
}
