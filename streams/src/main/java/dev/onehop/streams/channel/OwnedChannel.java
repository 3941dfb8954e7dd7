package dev.onehop.streams.channel;

import dev.onehop.streams.channel.LeaseStore.Hold;
import dev.onehop.streams.channel.LeaseStore.Lease;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A channel of this member during one term. The <em>floor</em> of the channel is a position. When
 * the member's current stream started, the channel had received all events up to the floor. So it
 * accepts only events after the floor. The caller holds the lock of this object's owner.
 */
final class OwnedChannel extends Channel {
  private final long term;
  private Checkpoint floor;
  private Done done;
  private State state = State.OPENING;
  private boolean fed;
  private boolean ended;
  private long untilNanos;

  /** The state of a channel in its term. */
  private enum State {
    /** The sink starts the term. */
    OPENING,
    OPEN,
    /** The member releases the channel after the current batch. */
    LEAVING,
    /** The channel belongs to another member. */
    LOST
  }

  /**
   * The progress of a channel. An event is finished if the floor or the position {@code at}
   * includes it.
   */
  private record Done(Checkpoint floor, Checkpoint at) {
    Checkpoint place() {
      return floor.union(at);
    }
  }

  /** Creates a channel whose term the sink has not started yet. */
  OwnedChannel(Lease lease, long untilNanos) {
    super(lease.channel());
    this.term = lease.term();
    this.floor = lease.place();
    this.done = new Done(floor, floor);
    this.ended = lease.isAtEnd();
    this.untilNanos = untilNanos;
    setBusy(true);
  }

  long term() {
    return term;
  }

  /** Whether the channel receives events of the current stream. */
  boolean isFed() {
    return fed;
  }

  /** Whether the channel should receive events of the stream. */
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

  /** Called when the sink has started the term and has returned the channel's position. */
  void opened(Checkpoint place) {
    setBusy(false);
    state = state == State.OPENING ? State.OPEN : state;
    floor = place;
    done = new Done(place, place);
  }

  /**
   * Called when the stream is replaced by a stream that feeds this channel. Returns the channel's
   * new floor.
   *
   * @param position the position up to which the earlier stream's events were passed to the
   *     channels
   */
  Checkpoint feed(Checkpoint position) {
    floor = fed ? floor.union(position) : floor;
    fed = true;
    return floor;
  }

  /**
   * The position that the channel has reached.
   *
   * @param position the position up to which the stream's events were passed to the channels
   */
  Checkpoint place(Checkpoint position) {
    return fed && isIdle() ? floor.union(position) : done.place();
  }

  /** The state of the channel for the store. */
  Hold hold(Checkpoint position, @Nullable String barrier) {
    return new Hold(number(), term, place(position), ended ? LeaseStore.END : barrier);
  }

  /** Called when the channel has finished all events and the stream has ended. */
  void end(Checkpoint position) {
    done = new Done(floor, position);
    fed = false;
    ended = true;
  }

  /**
   * Adds an event.
   *
   * @param position the position before the event, up to which all events were passed to the
   *     channels
   */
  void add(Entry entry, Checkpoint position) {
    if (isIdle()) {
      done = new Done(floor, position);
    }
    entry.setFloor(floor);
    add(entry);
  }

  void written(Entry last) {
    setBusy(false);
    done = new Done(last.floor(), last.event().checkpoint());
  }

  /** Ends the feeding of this channel. Returns the events that were waiting. */
  List<Entry> stop(Checkpoint position) {
    done = isIdle() && fed ? new Done(floor, position) : done;
    fed = false;
    return clear();
  }

  void leave() {
    state = isLost() ? state : State.LEAVING;
  }

  void lose() {
    state = State.LOST;
  }

  /** The position after which the channel accepts events. */
  Checkpoint floor() {
    return floor;
  }

  /** Whether the channel received this event from an earlier stream. */
  boolean had(StreamEvent event) {
    if (event instanceof StreamEvent.Change change) {
      return floor.includes(change.shard(), change.token());
    }
    StreamEvent.TooLarge large = (StreamEvent.TooLarge) event;
    return floor.includes(
        large.shard(), large.event().getDocument("_id").getString("_data").getValue());
  }
}
