package dev.onehop.streams.channel;

import dev.onehop.streams.channel.LeaseStore.Hold;
import dev.onehop.streams.channel.LeaseStore.Lease;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A channel during one term of this member. Its <em>floor</em> is the position up to which it had
 * received everything before the current stream started; it only accepts events after it. Used
 * under the lock of its owner.
 */
final class OwnedChannel {
  private final int number;
  private final long term;
  private final ChannelQueue<Entry> queue = new ChannelQueue<>();
  private Checkpoint floor;
  private Done done;
  private State state = State.OPENING;
  private boolean fed;
  private boolean ended;
  private long untilNanos;

  /** The state of a channel in its term. */
  private enum State {
    /** The sink begins the term. */
    OPENING,
    OPEN,
    /** To be released after the current batch. */
    LEAVING,
    /** The channel belongs to another member. */
    LOST
  }

  /** An event of the channel. */
  record Entry(StreamEvent event, long bytes, Checkpoint floor) implements ChannelQueue.Entry {
    private Done done() {
      return new Done(floor, event.checkpoint());
    }

    /** The position of the channel once the event is written. */
    Checkpoint place() {
      return done().place();
    }
  }

  /** The progress of a channel: everything within one of these two positions is done. */
  private record Done(Checkpoint floor, Checkpoint at) {
    Checkpoint place() {
      return floor.union(at);
    }
  }

  /** Takes a channel, whose sink is being opened. */
  OwnedChannel(Lease lease, long untilNanos) {
    this.number = lease.channel();
    this.term = lease.term();
    this.floor = lease.place();
    this.done = new Done(floor, floor);
    this.ended = lease.isAtEnd();
    this.untilNanos = untilNanos;
    queue.setBusy(true);
  }

  int number() {
    return number;
  }

  long term() {
    return term;
  }

  ChannelQueue<Entry> queue() {
    return queue;
  }

  boolean isIdle() {
    return queue.isIdle();
  }

  /** Whether it receives the stream's events. */
  boolean isFed() {
    return fed;
  }

  /** Whether it should receive the stream's events. */
  boolean isToBeFed() {
    return state == State.OPEN && !ended;
  }

  /** Whether this member keeps the channel. */
  boolean isStaying() {
    return state == State.OPENING || state == State.OPEN;
  }

  boolean isLeaving() {
    return state == State.LEAVING;
  }

  boolean isLost() {
    return state == State.LOST;
  }

  /** Whether the lease is still valid, by the clock of this process. */
  boolean isHeld() {
    return untilNanos - System.nanoTime() > 0;
  }

  void renewed(long until) {
    untilNanos = until;
  }

  /** The sink has begun the term at a position. */
  void opened(Checkpoint place) {
    queue.setBusy(false);
    state = state == State.OPENING ? State.OPEN : state;
    floor = place;
    done = new Done(place, place);
  }

  /** A stream starts that feeds the channel; the position is that of the stream before. */
  Checkpoint feed(Checkpoint position) {
    floor = fed ? floor.union(position) : floor;
    fed = true;
    return floor;
  }

  /** The position that it has reached if the stream has passed everything up to another one. */
  Checkpoint place(Checkpoint position) {
    return fed && isIdle() ? floor.union(position) : done.place();
  }

  /** The state to store. */
  Hold hold(Checkpoint position, @Nullable String barrier) {
    return new Hold(number, term, place(position), ended ? LeaseStore.END : barrier);
  }

  /** The channel has finished everything until the end of the stream. */
  void end(Checkpoint position) {
    done = new Done(floor, position);
    fed = false;
    ended = true;
  }

  /** Adds an event, all events before which are known to be passed. */
  void add(StreamEvent event, Checkpoint position) {
    if (isIdle()) {
      done = new Done(floor, position);
    }
    queue.add(entry(event));
  }

  Entry entry(StreamEvent event) {
    return new Entry(event, Channels.bytes(event), floor);
  }

  void written(Entry last) {
    queue.setBusy(false);
    done = last.done();
  }

  /** Receives no more events; returns those that waited. */
  List<Entry> stop(Checkpoint position) {
    done = isIdle() && fed ? new Done(floor, position) : done;
    fed = false;
    return queue.clear();
  }

  void leave() {
    state = isLost() ? state : State.LEAVING;
  }

  void lose() {
    state = State.LOST;
  }

  /** The position before which the channel needs no event. */
  Checkpoint floor() {
    return floor;
  }

  /** Whether the channel received an event before the current stream. */
  boolean had(StreamEvent event) {
    if (event instanceof StreamEvent.Change change) {
      return floor.includes(change.shard(), change.token());
    }
    StreamEvent.TooLarge large = (StreamEvent.TooLarge) event;
    return floor.includes(
        large.shard(), large.event().getDocument("_id").getString("_data").getValue());
  }
}
