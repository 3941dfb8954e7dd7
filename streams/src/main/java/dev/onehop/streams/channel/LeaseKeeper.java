package dev.onehop.streams.channel;

import dev.onehop.streams.channel.LeaseStore.Group;
import dev.onehop.streams.channel.LeaseStore.Hold;
import dev.onehop.streams.channel.LeaseStore.Lease;
import dev.onehop.streams.channel.LeaseStore.View;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.wire.NoAnswer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Keeps a member's share of a group's channels. It renews the member's leases, takes free channels,
 * and releases channels if the member has more than its share. It has one thread, which waits for
 * the replies of the store.
 *
 * <p>After each renewal the store is read, also if the renewal has no reply. Only the result of
 * this read decides which leases the member has.
 */
final class LeaseKeeper implements GroupWork.Owner {
  private static final Logger log = LoggerFactory.getLogger(LeaseKeeper.class);
  private static final Duration LEAST_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration CREATING = Duration.ofSeconds(30);

  private final LeaseStore store;
  private final int channels;
  private final String member = ProcessHandle.current().pid() + "-" + new ObjectId();
  private final GroupTimes times;
  private final GroupWork work;
  private final Mono<Checkpoint> start;
  private final MonoSink<Void> membership;
  private final Thread thread = new Thread(this::run, "onehop-leases");

  private final Semaphore changes = new Semaphore(0);
  private volatile boolean leaving;
  private volatile @Nullable Throwable failure;

  // Used by the thread only.
  private String group = "";
  // Whether an earlier read has returned the leases of all channels. If a later read lacks a lease,
  // the group was removed.
  private boolean seen;
  private long renewals;
  private int failures;
  private List<Integer> owned = List.of();

  /**
   * Durations of a group.
   *
   * @param lease the duration of a lease after a renewal
   * @param renewal the interval of renewals
   */
  record GroupTimes(Duration lease, Duration renewal) {
    /**
     * The time for which a member uses a lease. It is shorter than the lease, because clocks do not
     * run at exactly the same rate.
     */
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

  /**
   * @param membership receives the completion or the failure of the membership
   */
  LeaseKeeper(
      ChannelGroup.Builder settings,
      LeaseStore store,
      ChannelSink sink,
      MonoSink<Void> membership) {
    this.store = store;
    this.channels = settings.channels;
    this.times = settings.times;
    this.work = new GroupWork(settings, sink, this);
    this.start = settings.start;
    this.membership = membership;
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Ends the membership: finishes the current batches, then releases the channels. */
  synchronized void leave() {
    leaving = true;
    changed();
  }

  @Override
  public void changed() {
    changes.release();
  }

  @Override
  public synchronized void failed(Throwable cause) {
    // When the member is leaving, a failure is not reported, because its cause may be the
    // cancellation.
    if (failure == null && !leaving) {
      Calls.logError(cause);
      failure = cause;
    }
    leave();
  }

  private void run() {
    try {
      create();
      while (!leaving) {
        await(look() ? times.soon() : times.renewal());
      }
    } catch (RuntimeException | Error unexpected) {
      failed(Exceptions.unwrap(unexpected));
    } catch (InterruptedException unexpected) {
      failed(unexpected);
    }
    end();
  }

  /** Waits for a change, or until the time has passed. */
  private void await(Duration most) throws InterruptedException {
    if (changes.tryAcquire(most.toNanos(), TimeUnit.NANOSECONDS)) {
      changes.drainPermits();
    }
  }

  private void create() throws InterruptedException {
    while (!leaving) {
      try {
        Group made = store.create(start).timeout(CREATING, NoAnswer.within(CREATING)).block();
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
      log.warn("the leases can't be read or written, retrying", refused);
    }
  }

  /**
   * Renews the leases, reads the state of the group, and releases or takes channels.
   *
   * @return whether to do this again soon, before the next renewal is due
   */
  private boolean look() {
    long sent = System.nanoTime();
    long renewal = ++renewals;
    List<Hold> holds = work.holds();
    try {
      store
          .renew(member, renewal, holds)
          .timeout(times.timeout(), NoAnswer.within(times.timeout()))
          .onErrorComplete()
          .block();
      View view = call(store.read());
      boolean complete = view != null && view.leases().size() == channels;
      if (view == null || !group.equals(view.group()) || (seen && !complete)) {
        call(store.remove());
        failed(store.removed());
        return true;
      }
      if (!complete) {
        throw new IllegalStateException("the leases are being created");
      }
      seen = true;
      for (Hold hold : holds) {
        Lease lease = view.leases().get(hold.channel());
        if (!lease.isOf(member, hold.term())) {
          log.warn(
              "the lease of channel {} was not renewed in time, so the channel is" + " released",
              hold.channel());
          work.lost(hold.channel(), hold.term());
        } else if (lease.renewal() == renewal) {
          work.renewed(hold.channel(), hold.term(), sent + times.usableNanos());
        }
      }
      release();
      work.met(view.leases());
      if (!view.ended() && view.leases().stream().allMatch(Lease::isAtEnd)) {
        call(store.end());
        return true;
      }
      if (view.ended()) {
        leave();
        return true;
      }
      boolean soon = balance(view);
      logOwned();
      failures = 0;
      return soon;
    } catch (RuntimeException refused) {
      missed(refused);
      return true;
    }
  }

  private void logOwned() {
    List<Integer> now = work.staying();
    if (!now.equals(owned)) {
      owned = now;
      log.info(
          "{}: this member owns channels {}; the group has {} channels",
          store,
          Channels.ranges(now),
          channels);
    }
  }

  private <T> @Nullable T call(Mono<T> operation) {
    return operation.timeout(times.timeout(), NoAnswer.within(times.timeout())).block();
  }

  private void release() {
    for (Hold hold : work.left()) {
      call(store.release(member, hold));
      work.released(hold.channel(), hold.term());
    }
  }

  /** Takes or releases channels until this member has its share. */
  private boolean balance(View view) {
    Assignment mine = Assignment.of(view, member, work.staying(), work::has);
    mine.leave().forEach(work::leave);
    int missing = mine.missing();
    for (int channel : mine.free()) {
      if (missing <= 0) {
        break;
      }
      long sent = System.nanoTime();
      Lease taken = call(store.take(channel, member));
      if (taken != null) {
        work.take(taken, sent + times.usableNanos());
        missing--;
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
      call(store.leave(member));
    } catch (RuntimeException refused) {
      log.warn("the leases can't be released; they will expire", refused);
    } catch (InterruptedException unexpected) {
      failed(unexpected);
    }
    work.close();
    Throwable cause = failure;
    if (cause == null) {
      membership.success();
    } else {
      membership.error(cause);
    }
  }
}
