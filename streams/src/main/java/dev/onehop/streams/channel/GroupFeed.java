package dev.onehop.streams.channel;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.merge.Bursts;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Function;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/**
 * The one stream that feeds all channels of a member. When channels are added, another stream
 * replaces it. The caller of a method holds the lock of this object's owner. There are exceptions:
 * {@link Pull#send} and the results of {@link #restart} and {@link #stop} run without the lock,
 * because events may arrive during the call.
 */
final class GroupFeed {
  private final Object lock;
  private final Function<Checkpoint, Publisher<StreamEvent>> stream;
  private final Receiver receiver;
  private final Demand demand;

  // The events that have arrived and that the owner has not taken yet. They wait until the end of a
  // burst, and while a wide event is written.
  private final Deque<StreamEvent> held = new ArrayDeque<>();
  private @Nullable Feed feed;
  // The position up to which the stream's events were passed to the channels.
  private Checkpoint position = Checkpoint.before(new BsonTimestamp(0));
  private boolean completed;

  /** Receives the events. */
  interface Receiver {
    /** Called with the lock when {@link #poll} has events. */
    void arrived();

    /** Called without the lock at the end of the stream. */
    void completed();

    /** Called without the lock when the stream fails. */
    void failed(Throwable cause);
  }

  /** A request for events. */
  record Pull(@Nullable Subscription from, int events) {
    void send() {
      if (from != null && events > 0) {
        from.request(events);
      }
    }
  }

  /**
   * @param lock the lock of the owner
   * @param limit the most events to keep
   */
  GroupFeed(
      Object lock,
      int limit,
      Function<Checkpoint, Publisher<StreamEvent>> stream,
      Receiver receiver) {
    this.lock = lock;
    this.stream = stream;
    this.receiver = receiver;
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

  /** Removes and returns the next event; null if no event has arrived. */
  @Nullable StreamEvent poll() {
    return held.poll();
  }

  /** Called when an event was passed to its channel, or when no channel of this member needs it. */
  void passed(StreamEvent event) {
    position = event.checkpoint();
  }

  /** Called when an event of this size is no longer kept in memory. */
  void freed(long bytes) {
    demand.freed(bytes);
  }

  /** The current stream, and the number of events to request from it now. */
  Pull pull() {
    Subscription from = feed == null ? null : feed.subscription;
    return new Pull(from, from == null ? 0 : demand.more());
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
    held.forEach(event -> freed(Channels.bytes(event)));
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

  /** Ends the stream permanently. Returns a task that cancels the stream. */
  Runnable stop() {
    Feed old = feed;
    feed = null;
    return () -> {
      if (old != null) {
        old.cancel();
      }
    };
  }

  /** One subscription to a stream. The events of a stream that was replaced are ignored. */
  private final class Feed implements CoreSubscriber<StreamEvent> {
    private volatile @Nullable Subscription subscription;
    private boolean bursts;

    @Override
    public void onSubscribe(Subscription given) {
      Pull first = null;
      synchronized (lock) {
        subscription = given;
        if (given instanceof Bursts source) {
          bursts = true;
          source.afterBurst(this::burst);
        }
        if (feed == this) {
          demand.restart();
          first = pull();
        }
      }
      if (first == null) {
        given.cancel();
      } else {
        first.send();
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
      Pull pull;
      synchronized (lock) {
        if (feed != this) {
          return;
        }
        demand.arrived(Channels.bytes(event));
        held.add(event);
        if (!bursts) {
          receiver.arrived();
        }
        pull = pull();
      }
      pull.send();
    }

    private void burst() {
      Pull pull;
      synchronized (lock) {
        if (feed != this) {
          return;
        }
        receiver.arrived();
        pull = pull();
      }
      pull.send();
    }

    @Override
    public void onError(Throwable cause) {
      if (isCurrent()) {
        receiver.failed(cause);
      }
    }

    @Override
    public void onComplete() {
      synchronized (lock) {
        if (feed != this) {
          return;
        }
        completed = true;
      }
      receiver.completed();
    }

    private boolean isCurrent() {
      synchronized (lock) {
        return feed == this;
      }
    }
  }
}
