package dev.onehop.streams.channel;

import dev.onehop.streams.channel.LeaseStore.Group;
import dev.onehop.streams.channel.LeaseStore.Hold;
import dev.onehop.streams.channel.LeaseStore.Lease;
import dev.onehop.streams.channel.LeaseStore.View;
import dev.onehop.streams.event.Checkpoint;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Has a member's share of a group's channels: renews its leases, takes channels that nobody has,
 * and gives up what is more than its share. One thread, which waits for the store.
 *
 * <p>Whatever becomes of a write, the store is read after it, and only what it says counts.
 */
final class LeaseKeeper implements GroupWork.Owner {
  private static final Logger log = LoggerFactory.getLogger(LeaseKeeper.class);
  private static final Duration LEAST_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration CREATING = Duration.ofSeconds(30);

  private final LeaseStore store;
  private final int channels;
  private final String member;
  private final GroupTimes times;
  private final GroupWork work;
  private final Mono<Checkpoint> start;
  private final MonoSink<Void> sink;
  private final Thread thread = new Thread(this::run, "onehop-leases");

  // Under the lock of this.
  private boolean changed;
  private boolean leaving;
  private @Nullable Throwable failure;

  // Of the thread.
  private String group = "";
  // Whether all leases were there.
  private boolean seen;
  private long renewals;
  private int failures;

  /**
   * How long things take.
   *
   * @param lease how long a channel is its owner's after a renewal
   * @param renewal how often it is renewed
   */
  record GroupTimes(Duration lease, Duration renewal) {
    /** Clocks may run at rates that differ a little. */
    long usableNanos() {
      return lease.toNanos() / 10 * 9;
    }

    Duration soon() {
      return renewal.dividedBy(10);
    }

    Duration timeout() {
      return renewal.compareTo(LEAST_TIMEOUT) < 0 ? LEAST_TIMEOUT : renewal;
    }
  }

  /** How a member's work is made. */
  interface Works {
    GroupWork of(GroupWork.Owner owner);
  }

  /**
   * @param start asked for if the group has to be made
   * @param sink told the end
   */
  LeaseKeeper(
      LeaseStore store,
      int channels,
      String member,
      GroupTimes times,
      Works works,
      Mono<Checkpoint> start,
      MonoSink<Void> sink) {
    this.store = store;
    this.channels = channels;
    this.member = member;
    this.times = times;
    this.work = works.of(this);
    this.start = start;
    this.sink = sink;
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Ends the member: what is being written is finished, then its channels are given up. */
  synchronized void leave() {
    leaving = true;
    changed();
  }

  @Override
  public synchronized void changed() {
    changed = true;
    notifyAll();
  }

  @Override
  public synchronized void failed(Throwable cause) {
    failure = failure == null ? cause : failure;
    leave();
  }

  private void run() {
    try {
      create();
      while (!isLeaving()) {
        await(look() ? times.soon() : times.renewal());
      }
    } catch (RuntimeException | Error unexpected) {
      failed(Exceptions.unwrap(unexpected));
    } catch (InterruptedException unexpected) {
      failed(unexpected);
    }
    end();
  }

  private synchronized boolean isLeaving() {
    return leaving;
  }

  private synchronized void await(Duration most) throws InterruptedException {
    long until = System.nanoTime() + most.toNanos();
    long left = most.toNanos();
    while (!changed && left > 0) {
      wait(left / 1_000_000 + 1);
      left = until - System.nanoTime();
    }
    changed = false;
  }

  private void create() throws InterruptedException {
    while (!isLeaving()) {
      try {
        Group made = store.create(start).timeout(CREATING).block();
        if (made != null) {
          group = made.id();
          work.start(made.start());
          return;
        }
        await(times.soon());
      } catch (RuntimeException refused) {
        if (!Passing.is(Exceptions.unwrap(refused))) {
          throw refused;
        }
        missed(refused);
        await(times.renewal());
      }
    }
  }

  private void missed(RuntimeException refused) {
    failures++;
    if (failures % 3 == 0) {
      log.warn("the leases can't be read or written, which is tried on", refused);
    }
  }

  /**
   * Renews, and looks how things are.
   *
   * @return whether to look again soon
   */
  private boolean look() {
    long sent = System.nanoTime();
    long renewal = ++renewals;
    List<Hold> holds = work.holds();
    try {
      store.renew(member, renewal, holds).timeout(times.timeout()).onErrorComplete().block();
      View view = ask(store.read());
      boolean complete = view != null && view.leases().size() == channels;
      if (view == null || !group.equals(view.group()) || (seen && !complete)) {
        ask(store.remove());
        failed(store.removed());
        return true;
      }
      if (!complete) {
        throw new IllegalStateException("the leases are being made");
      }
      seen = true;
      for (Hold hold : holds) {
        Lease lease = view.leases().get(hold.channel());
        if (!lease.isOf(member, hold.term())) {
          log.warn("channel {} is not renewed in time, it is given up", hold.channel());
          work.lost(hold.channel(), hold.term());
        } else if (lease.renewal() == renewal) {
          work.renewed(hold.channel(), hold.term(), sent + times.usableNanos());
        }
      }
      release();
      work.met(view.leases());
      if (!view.ended() && view.leases().stream().allMatch(Lease::isAtEnd)) {
        ask(store.end());
        return true;
      }
      if (view.ended()) {
        leave();
        return true;
      }
      boolean soon = balance(view);
      failures = 0;
      return soon;
    } catch (RuntimeException refused) {
      missed(refused);
      return true;
    }
  }

  private <T> @Nullable T ask(Mono<T> question) {
    return question.timeout(times.timeout()).block();
  }

  private void release() {
    for (Hold hold : work.left()) {
      ask(store.release(member, hold));
      work.released(hold.channel(), hold.term());
    }
  }

  /** Takes or gives up channels until it is the share of this member. */
  private boolean balance(View view) {
    int order = view.members().indexOf(member);
    if (order < 0) {
      return true;
    }
    int members = view.members().size();
    int share = channels / members + (order < channels % members ? 1 : 0);
    List<Integer> staying = work.staying();
    for (int i = share; i < staying.size(); i++) {
      work.leave(staying.get(i));
    }
    int missing = share - staying.size();
    for (Lease lease : view.leases()) {
      String owner = lease.owner();
      boolean free = owner == null || lease.expired() || owner.equals(member);
      if (missing > 0 && free && !work.has(lease.channel())) {
        long sent = System.nanoTime();
        Lease taken = ask(store.take(lease.channel(), member));
        if (taken != null) {
          work.take(taken, sent + times.usableNanos());
          missing--;
        }
      }
    }
    return missing != 0 || work.isWaiting();
  }

  private void end() {
    long until = System.nanoTime() + times.lease().toNanos();
    work.stop();
    try {
      while (!work.holds().isEmpty() && System.nanoTime() - until < 0) {
        release();
        await(times.soon());
      }
      ask(store.leave(member));
    } catch (RuntimeException refused) {
      log.warn("the leases can't be given up; they expire", refused);
    } catch (InterruptedException unexpected) {
      failed(unexpected);
    }
    work.close();
    Throwable cause;
    synchronized (this) {
      cause = failure;
    }
    if (cause == null) {
      sink.success();
    } else {
      sink.error(cause);
    }
  }
}
