package dev.onehop.streams.channel;

import dev.onehop.streams.channel.LeaseStore.Hold;
import dev.onehop.streams.channel.LeaseStore.Lease;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The channels of a member, and the one stream that feeds them.
 *
 * <p>The stream starts at the earliest {@linkplain OwnedChannel floor} of these channels. When a
 * channel is added, another stream replaces the current stream. A channel leaves out the events up
 * to its floor. The events of a key stay in order: a stream emits them in order, so a floor that
 * includes an event also includes all earlier events of its key.
 *
 * <p>An event that concerns more than one document is processed at a {@link Meeting}.
 *
 * <p>Thread-safe.
 */
final class GroupWork implements ChannelFeed.Receiver {
  private static final Logger log = LoggerFactory.getLogger(GroupWork.class);

  /**
   * The time to wait for more channels before the next stream starts. Channels are often added
   * together, and each new stream has a cost.
   */
  private static final long GATHER_MILLIS = 50;

  private final int batch;
  private final ChannelSink sink;
  private final Owner owner;
  private final Scheduler scheduler;
  private final ChannelThreads threads;

  // These fields and their contents are guarded by the lock of this object.
  private final ChannelFeed feed;
  private final GroupChannels channels;
  private final Meeting meeting;
  private boolean feeding;

  /** The owner of this object. Its methods are called without a lock. */
  interface Owner {
    /**
     * Called when the owner should soon store this member's state and check the state of the group.
     */
    void changed();

    void failed(Throwable cause);
  }

  GroupWork(ChannelGroup.Builder settings, ChannelSink sink, Owner owner) {
    this.batch = settings.batch;
    this.sink = sink;
    this.owner = owner;
    this.scheduler = ChannelThreads.scheduler(settings.channels);
    this.threads = new ChannelThreads(scheduler, owner::failed);
    this.feed = new ChannelFeed(this, settings.unacknowledged, settings.events, () -> 0);
    this.channels = new GroupChannels(settings.channels, settings.channelOf, feed);
    this.meeting = new Meeting(this, feed, channels, sink, owner, scheduler);
  }

  // --- Calls by the keeper of the leases.

  /** Called with the start of the group, once the group exists. */
  synchronized void start(Checkpoint place) {
    channels.start(place);
  }

  /**
   * Whether this member has a channel, or still writes the last batch of a channel that it has
   * lost.
   */
  synchronized boolean has(int channel) {
    return channels.get(channel) != null;
  }

  /** The channels of this member, without those that it will release. */
  synchronized List<Integer> staying() {
    return channels.staying();
  }

  /** The state to store for each channel. */
  synchronized List<Hold> holds() {
    return channels.holds();
  }

  /** The channels to release that have no work in progress. */
  synchronized List<Hold> left() {
    return channels.left();
  }

  /** Whether this member waits for other members at a barrier. */
  synchronized boolean isWaiting() {
    return meeting.isWaiting();
  }

  /** Checks whether all channels of the group have reached the barrier. */
  void met(List<Lease> leases) {
    meeting.met(leases);
  }

  /** Called when a channel was taken. */
  void take(Lease lease, long untilNanos) {
    OwnedChannel channel = new OwnedChannel(lease, untilNanos);
    synchronized (this) {
      channels.add(channel);
    }
    scheduler.schedule(
        () ->
            Calls.run(
                () ->
                    Mono.from(sink.begin(channel.number(), channel.term()))
                        .map(place -> continued(channel.number(), place))
                        .map(lease.place()::union)
                        .defaultIfEmpty(lease.place()),
                place -> begun(channel, place),
                failure -> failed(channel, List.of(), failure),
                () -> {}));
  }

  private synchronized Checkpoint continued(int channel, Checkpoint place) {
    return channels.continued(channel, place);
  }

  private synchronized void begun(OwnedChannel channel, Checkpoint place) {
    channel.opened(place);
    channels.removeLost(channel);
    feedSoon();
  }

  /** Called when a channel's lease was renewed. */
  synchronized void renewed(int number, long term, long untilNanos) {
    OwnedChannel channel = channels.get(number, term);
    if (channel != null) {
      channel.renewed(untilNanos);
      start(channel);
    }
  }

  /** Releases a channel after its current batch. */
  void leave(int number) {
    feed.change(
        () -> {
          OwnedChannel channel = channels.get(number);
          if (channel != null && !channel.isLeaving()) {
            stop(channel);
            channel.leave();
          }
        });
  }

  /**
   * Called when a channel of this member now belongs to another member. From then on, the outcome
   * of the channel's current batch is ignored.
   */
  void lost(int number, long term) {
    feed.change(
        () -> {
          OwnedChannel channel = channels.get(number, term);
          if (channel != null && !channel.isLost()) {
            stop(channel);
            channel.lose();
            channels.removeLost(channel);
          }
        });
  }

  /** Called when a channel was released. */
  synchronized void released(int number, long term) {
    channels.remove(number, term);
  }

  /**
   * Ends the passing of events to a channel. The barrier may have waited for the channel's events,
   * so the barrier is checked again.
   */
  private void stop(OwnedChannel channel) {
    channels.stop(channel);
    meeting.meet();
  }

  /** Stops the stream and all calls of the sink. */
  void stop() {
    Runnable end;
    synchronized (this) {
      channels.stop();
      end = feed.restart(null);
    }
    end.run();
  }

  /** Called after all channels are released. */
  void close() {
    scheduler.disposeGracefully().subscribe();
  }

  // --- The stream.

  private void feedSoon() {
    if (!feeding && !channels.isStopped()) {
      feeding = true;
      scheduler.schedule(
          () -> Calls.run(this::feed, owner::failed), GATHER_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  /** Starts a stream for all channels of this member. */
  private void feed() {
    Runnable next;
    synchronized (this) {
      feeding = false;
      if (channels.isStopped() || meeting.isPassing()) {
        // A notice, or an event that concerns more than one document, is being processed. After the
        // processing, this method is called again.
        return;
      }
      next = channels.feed();
    }
    next.run();
  }

  /** Starts another stream if channels were added while an event was processed. */
  synchronized void refeed() {
    if (channels.needsAnotherStream()) {
      feedSoon();
    }
  }

  /** Passes the arrived events to the channels. Called with the lock. */
  @Override
  public void arrived() {
    if (channels.pass(this::start)) {
      meeting.meet();
    }
  }

  @Override
  public void completed() {
    owner.changed();
  }

  @Override
  public void failed(Throwable cause) {
    owner.failed(cause);
  }

  // --- The writes.

  private void start(OwnedChannel channel) {
    channel.start(
        this,
        threads,
        batch,
        () -> channel.isHeld() && channel.isFed() && !channels.isStopped(),
        entries -> write(channel, entries),
        () -> channels.removeLost(channel));
  }

  private void write(OwnedChannel channel, List<Entry> entries) {
    Calls.run(
        () -> written(channel, entries),
        failure -> failed(channel, entries, failure),
        () -> wrote(channel, entries));
  }

  /** Lets the sink write a batch. */
  Publisher<Void> written(OwnedChannel channel, List<Entry> entries) {
    Entry last = entries.get(entries.size() - 1);
    return last.event() instanceof StreamEvent.TooLarge
        ? sink.notice(last.event())
        : sink.write(
            new ChannelBatch(
                channel.number(), channel.term(), Entry.changes(entries), last.place()));
  }

  private void wrote(OwnedChannel channel, List<Entry> entries) {
    feed.change(
        () -> {
          channel.written(entries.get(entries.size() - 1));
          entries.forEach(feed::freed);
          channels.removeLost(channel);
          start(channel);
          meeting.meet();
        });
    if (isDue(channel)) {
      owner.changed();
    }
  }

  private synchronized boolean isDue(OwnedChannel channel) {
    return channel.isLeaving() || feed.isCompleted();
  }

  /** Called when a channel's batch could not be written, or the channel's term could not begin. */
  void failed(OwnedChannel channel, List<Entry> entries, Throwable failure) {
    boolean fenced = failure instanceof FencedException;
    boolean fatal;
    synchronized (this) {
      fatal = !fenced && !channel.isLost();
      // The channel is stopped while it is still busy. Otherwise its failed batch would count as
      // written.
      stop(channel);
      channel.setBusy(false);
      channel.leave();
      entries.forEach(feed::freed);
      channels.removeLost(channel);
    }
    if (fenced) {
      log.info("channel {} has another owner: {}", channel.number(), failure.getMessage());
      lost(channel.number(), channel.term());
    } else if (fatal) {
      owner.failed(failure);
    }
  }
}
