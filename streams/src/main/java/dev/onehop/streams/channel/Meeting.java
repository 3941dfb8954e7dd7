package dev.onehop.streams.channel;

import dev.onehop.streams.channel.LeaseStore.Lease;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import reactor.core.scheduler.Scheduler;

/**
 * Processes the barriers of a member's {@link GroupChannels}. A notice goes to the sink of each
 * member. An event of the servers is written once: by the owner of channel 0, when all members have
 * stored that they have reached the event. All streams emit these events in the same order, the
 * order of the tokens. So two members never wait for each other at different events.
 *
 * <p>Thread-safe.
 */
final class Meeting {
  private final GroupWork work;
  private final ChannelFeed feed;
  private final GroupChannels channels;
  private final ChannelSink sink;
  private final GroupWork.Owner owner;
  private final Scheduler scheduler;

  // Whether the barrier is being processed. Guarded by the lock of the work.
  private boolean passing;

  Meeting(
      GroupWork work,
      ChannelFeed feed,
      GroupChannels channels,
      ChannelSink sink,
      GroupWork.Owner owner,
      Scheduler scheduler) {
    this.work = work;
    this.feed = feed;
    this.channels = channels;
    this.sink = sink;
    this.owner = owner;
    this.scheduler = scheduler;
  }

  /** Whether the barrier is being processed. Called with the lock. */
  boolean isPassing() {
    return passing;
  }

  /** Whether this member waits for other members. Called with the lock. */
  boolean isWaiting() {
    Entry waits = channels.reachedBarrier();
    return !passing && waits != null && waits.event() instanceof StreamEvent.Change;
  }

  /**
   * Checks whether this member has reached a barrier. If so, processes a notice, or wakes the owner
   * for an event of the servers. Called with the lock.
   */
  void meet() {
    Entry waits = channels.reachedBarrier();
    if (isWaiting()) {
      // The owner keeps the leases. It stores this member's state, reads the state of all members,
      // and calls met().
      scheduler.schedule(owner::changed);
    } else if (!passing && waits != null) {
      passing = true;
      scheduler.schedule(
          () -> Calls.run(() -> sink.notice(waits.event()), owner::failed, () -> passed(waits)));
    }
  }

  /**
   * Checks whether all channels of the group have reached the barrier. Continues if they have.
   *
   * @param leases the state of all channels of the group, in order
   */
  void met(List<Lease> leases) {
    Entry waits;
    synchronized (work) {
      waits = channels.reachedBarrier();
      if (passing || waits == null || !(waits.event() instanceof StreamEvent.Change wide)) {
        return;
      }
      OwnedChannel zero = channels.get(0);
      OwnedChannel first = zero != null && zero.isFed() ? zero : null;
      Barrier.Step step =
          new Barrier(wide)
              .next(leases, first == null ? null : first.floor(), first != null && first.isHeld());
      if (step == Barrier.Step.WAIT) {
        return;
      }
      passing = true;
      if (first != null && step == Barrier.Step.WRITE) {
        first.setBusy(true);
        waits.setFloor(first.floor());
        scheduler.schedule(() -> write(first, waits));
        return;
      }
    }
    passed(waits);
  }

  private void write(OwnedChannel first, Entry wide) {
    Calls.run(
        () -> work.written(first, List.of(wide)),
        failure -> notWritten(first, failure),
        () -> written(first, wide));
  }

  private void notWritten(OwnedChannel first, Throwable failure) {
    synchronized (work) {
      passing = false;
    }
    work.failed(first, List.of(), failure);
    work.refeed();
  }

  private void written(OwnedChannel first, Entry wide) {
    boolean lost;
    synchronized (work) {
      first.written(wide);
      lost = !first.isFed();
      passing = !lost;
      channels.removeLost(first);
    }
    if (lost) {
      work.refeed();
    } else {
      passed(wide);
    }
    owner.changed();
  }

  private void passed(Entry waited) {
    feed.change(
        () -> {
          passing = false;
          channels.passed(waited);
          work.arrived();
        });
    work.refeed();
  }
}
