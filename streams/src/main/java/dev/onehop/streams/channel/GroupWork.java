package dev.onehop.streams.channel;

import dev.onehop.streams.channel.GroupFeed.Pull;
import dev.onehop.streams.channel.LeaseStore.Hold;
import dev.onehop.streams.channel.LeaseStore.Lease;
import dev.onehop.streams.channel.OwnedChannel.Entry;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.token.WideEvents;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The channels of a member, and the one stream that feeds them.
 *
 * <p>The stream starts at the earliest start of these channels. When a channel with another start
 * is added, another stream replaces it. A channel leaves out the events up to its {@linkplain
 * OwnedChannel floor}. This keeps the order within a key: a stream emits the events of a key in
 * order, so a floor that includes one of them includes all earlier ones.
 *
 * <p>An event that concerns more than one document is processed at a {@link Barrier}. All streams
 * emit such events in the order of their tokens, so that no two owners wait for each other at
 * different events.
 *
 * <p>Thread-safe.
 */
final class GroupWork {
  private static final Logger log = LoggerFactory.getLogger(GroupWork.class);
  private static final int IDLE_SECONDS = 60;

  /** Channels are often added together, and each new stream has a cost. */
  private static final long GATHER_MILLIS = 50;

  private final int batch;
  private final ToIntFunction<RawBsonDocument> channelOf;
  private final ChannelSink sink;
  private final Owner owner;
  private final Scheduler scheduler;
  private final ChannelThreads threads;

  // These fields, their contents and the channels are guarded by the lock of this object.
  private final @Nullable OwnedChannel[] owned;
  private final GroupFeed feed;
  // The start of the group.
  private Checkpoint start = Checkpoint.before(new BsonTimestamp(0));
  // The event before which everything is done before the channels continue.
  private @Nullable StreamEvent barrier;
  private boolean passing;
  private boolean feeding;
  private boolean stopped;

  /** The owner of this object. Called without a lock. */
  interface Owner {
    /** Called when something should be stored or checked soon. */
    void changed();

    void failed(Throwable cause);
  }

  GroupWork(
      int channels,
      ToIntFunction<RawBsonDocument> channelOf,
      int batch,
      int limit,
      Function<Checkpoint, Publisher<StreamEvent>> stream,
      ChannelSink sink,
      Owner owner) {
    this.channelOf = channelOf;
    this.batch = batch;
    this.sink = sink;
    this.owner = owner;
    this.owned = new OwnedChannel[channels];
    this.feed =
        new GroupFeed(
            this,
            limit,
            stream,
            new GroupFeed.Receiver() {
              @Override
              public void arrived() {
                give();
              }

              @Override
              public void completed() {
                owner.changed();
              }

              @Override
              public void failed(Throwable cause) {
                owner.failed(cause);
              }
            });
    this.scheduler =
        Schedulers.newBoundedElastic(
            channels + 1, Integer.MAX_VALUE, "onehop-channel", IDLE_SECONDS, true);
    this.threads = new ChannelThreads(scheduler, owner::failed);
  }

  // --- Calls by the keeper of the leases.

  /** Called when the group exists, with its start. */
  synchronized void start(Checkpoint place) {
    start = place;
  }

  /** Whether this member has a channel, or the last batch of a channel that it has lost. */
  synchronized boolean has(int channel) {
    return owned[channel] != null;
  }

  private List<OwnedChannel> channels(Predicate<OwnedChannel> wanted) {
    List<OwnedChannel> found = new ArrayList<>();
    for (OwnedChannel channel : owned) {
      if (channel != null && wanted.test(channel)) {
        found.add(channel);
      }
    }
    return found;
  }

  private @Nullable OwnedChannel channel(int number, long term) {
    OwnedChannel channel = owned[number];
    return channel != null && channel.term() == term ? channel : null;
  }

  /** The channels of this member, without those that it will release. */
  synchronized List<Integer> staying() {
    return channels(OwnedChannel::isStaying).stream().map(OwnedChannel::number).toList();
  }

  /** The state to store for each channel. */
  synchronized List<Hold> holds() {
    String token = barrier instanceof StreamEvent.Change wide && isIdle() ? wide.token() : null;
    List<Hold> holds = new ArrayList<>();
    for (OwnedChannel channel : channels(each -> !each.isLost())) {
      end(channel);
      holds.add(channel.hold(feed.position(), channel.isFed() ? token : null));
    }
    return holds;
  }

  /**
   * Marks a channel as ended. A channel at the end of the stream stays ended when the stream is
   * read again.
   */
  private void end(OwnedChannel channel) {
    if (barrier == null && feed.isAtEnd() && channel.isFed() && channel.isIdle()) {
      channel.end(feed.position());
    }
  }

  /** The channels to release that have no work in progress. */
  synchronized List<Hold> left() {
    return channels(each -> each.isLeaving() && !each.queue().isBusy()).stream()
        .map(each -> each.hold(feed.position(), null))
        .toList();
  }

  /** Called when a channel was taken. */
  void take(Lease lease, long untilNanos) {
    OwnedChannel channel = new OwnedChannel(lease, untilNanos);
    synchronized (this) {
      owned[channel.number()] = channel;
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

  /** Checks that the sink's position is not before the start of the group. */
  private synchronized Checkpoint continued(int channel, Checkpoint place) {
    if (!place.union(start).equals(place)) {
      throw new IllegalStateException(
          "the sink has events of channel %d only up to %s, but the group starts at %s: its start has changed, or its leases were removed, so that events would be skipped"
              .formatted(channel, place, start));
    }
    return place;
  }

  private synchronized void begun(OwnedChannel channel, Checkpoint place) {
    channel.opened(place);
    forgetLost(channel);
    feedSoon();
  }

  /** Called when a channel's lease was renewed. */
  synchronized void renewed(int number, long term, long untilNanos) {
    OwnedChannel channel = channel(number, term);
    if (channel != null) {
      channel.renewed(untilNanos);
      start(channel);
    }
  }

  /** Releases a channel after its current batch. */
  void leave(int number) {
    Pull pull;
    synchronized (this) {
      OwnedChannel channel = owned[number];
      if (channel != null && !channel.isLeaving()) {
        stop(channel);
        channel.leave();
      }
      pull = feed.pull();
    }
    pull.send();
  }

  /** Called when a channel belongs to another member. Its current batch no longer counts. */
  void lost(int number, long term) {
    Pull pull;
    synchronized (this) {
      OwnedChannel channel = channel(number, term);
      if (channel != null && !channel.isLost()) {
        stop(channel);
        channel.lose();
        forgetLost(channel);
      }
      pull = feed.pull();
    }
    pull.send();
  }

  /** Called when a channel was released. */
  synchronized void released(int number, long term) {
    if (channel(number, term) != null) {
      owned[number] = null;
    }
  }

  /** Passes no more events to a channel. */
  private void stop(OwnedChannel channel) {
    end(channel);
    freed(channel.stop(feed.position()));
    meet();
  }

  private void freed(List<Entry> entries) {
    entries.forEach(entry -> feed.freed(entry.bytes()));
  }

  private void forgetLost(OwnedChannel channel) {
    if (channel.isLost() && !channel.queue().isBusy()) {
      owned[channel.number()] = null;
    }
  }

  /** Stops the stream and all calls of the sink. */
  void stop() {
    Runnable end;
    synchronized (this) {
      stopped = true;
      end = feed.stop();
      for (OwnedChannel channel : channels(each -> true)) {
        stop(channel);
        channel.leave();
      }
    }
    end.run();
  }

  /** Called after all channels are released. */
  void close() {
    scheduler.disposeGracefully().subscribe();
  }

  // --- The stream.

  private void feedSoon() {
    if (!feeding && !stopped) {
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
      if (stopped || passing) {
        // The current notice or wide event calls this method again at its end.
        return;
      }
      channels(each -> true).forEach(this::end);
      List<OwnedChannel> fed = channels(OwnedChannel::isToBeFed);
      Checkpoint from =
          fed.stream()
              .map(channel -> channel.feed(feed.position()))
              .reduce(Checkpoint::intersection)
              .orElse(null);
      if (barrier != null) {
        feed.freed(Channels.bytes(barrier));
        barrier = null;
      }
      next = feed.restart(from);
      if (from != null) {
        log.info(
            "channels {} are read from {}",
            Channels.ranges(fed.stream().map(OwnedChannel::number).toList()),
            Instant.ofEpochSecond(from.clusterTime().getTime()));
      }
    }
    next.run();
  }

  /** Starts another stream if channels were added while an event was processed. */
  private synchronized void refeed() {
    if (!channels(each -> each.isToBeFed() && !each.isFed()).isEmpty()) {
      feedSoon();
    }
  }

  /** Passes events to the channels, as far as they need not wait. */
  private void give() {
    StreamEvent next;
    while (barrier == null && (next = feed.poll()) != null) {
      int number = channel(next);
      if (number == Channels.ALL && !(next instanceof StreamEvent.Progress)) {
        barrier = next;
        meet();
        return;
      }
      OwnedChannel channel = number == Channels.ALL ? null : owned[number];
      if (channel != null && channel.isFed() && !channel.had(next)) {
        channel.add(next, feed.position());
        start(channel);
      } else {
        feed.freed(Channels.bytes(next));
      }
      feed.passed(next);
    }
  }

  private int channel(StreamEvent event) {
    if (event instanceof StreamEvent.TooLarge large) {
      return channelOf.applyAsInt(new RawBsonDocument(large.event(), new BsonDocumentCodec()));
    }
    if (!(event instanceof StreamEvent.Change change)) {
      return Channels.ALL;
    }
    int channel = channelOf.applyAsInt(change.document());
    if (channel == Channels.ALL && !WideEvents.isWide(change.document())) {
      throw new IllegalStateException("an event without documentKey: the pipeline must keep it");
    }
    return channel;
  }

  // --- The channels.

  private void start(OwnedChannel channel) {
    channel
        .queue()
        .start(
            this,
            threads,
            batch,
            () -> channel.isHeld() && channel.isFed() && !stopped,
            entries -> write(channel, entries),
            () -> forgetLost(channel));
  }

  private void write(OwnedChannel channel, List<Entry> entries) {
    Calls.run(
        () -> written(channel, entries),
        failure -> failed(channel, entries, failure),
        () -> wrote(channel, entries));
  }

  private Publisher<Void> written(OwnedChannel channel, List<Entry> entries) {
    Entry last = entries.get(entries.size() - 1);
    if (last.event() instanceof StreamEvent.TooLarge) {
      return sink.notice(last.event());
    }
    return sink.write(
        new ChannelBatch(
            channel.number(),
            channel.term(),
            entries.stream().map(entry -> (StreamEvent.Change) entry.event()).toList(),
            last.place()));
  }

  private void wrote(OwnedChannel channel, List<Entry> entries) {
    Pull pull;
    boolean due;
    synchronized (this) {
      channel.written(entries.get(entries.size() - 1));
      freed(entries);
      forgetLost(channel);
      start(channel);
      due = channel.isLeaving() || feed.isCompleted();
      meet();
      pull = feed.pull();
    }
    pull.send();
    if (due) {
      owner.changed();
    }
  }

  private void failed(OwnedChannel channel, List<Entry> entries, Throwable failure) {
    boolean fenced = failure instanceof FencedException;
    boolean fatal;
    synchronized (this) {
      fatal = !fenced && !channel.isLost();
      // While the channel is busy, its last batch does not count as done.
      stop(channel);
      channel.queue().setBusy(false);
      channel.leave();
      freed(entries);
      forgetLost(channel);
    }
    if (fenced) {
      log.info("channel {} has another owner: {}", channel.number(), failure.getMessage());
      lost(channel.number(), channel.term());
    } else if (fatal) {
      owner.failed(failure);
    }
  }

  // --- Events that concern more than one document.

  /** Whether all events of the stream so far are written. */
  private boolean isIdle() {
    return channels(each -> each.isFed() && !each.isIdle()).isEmpty();
  }

  private void meet() {
    StreamEvent waits = barrier;
    if (waits == null || passing || !isIdle() || stopped) {
      return;
    }
    if (waits instanceof StreamEvent.Change) {
      // The owner, which keeps the leases, stores the state and checks the other members.
      scheduler.schedule(owner::changed);
      return;
    }
    passing = true;
    scheduler.schedule(
        () -> Calls.run(() -> sink.notice(waits), owner::failed, () -> passed(waits)));
  }

  /** Checks the progress of all channels. */
  void met(List<Lease> leases) {
    StreamEvent.Change wide;
    OwnedChannel first;
    Barrier.Step step;
    synchronized (this) {
      if (!(barrier instanceof StreamEvent.Change waits) || passing || !isIdle() || stopped) {
        return;
      }
      wide = waits;
      OwnedChannel zero = owned[0];
      first = zero != null && zero.isFed() ? zero : null;
      step =
          new Barrier(wide)
              .next(leases, first == null ? null : first.floor(), first != null && first.isHeld());
      if (step == Barrier.Step.WAIT) {
        return;
      }
      if (first != null && step == Barrier.Step.WRITE) {
        first.queue().setBusy(true);
      }
      passing = true;
    }
    if (first == null || step == Barrier.Step.PASS) {
      passed(wide);
    } else {
      OwnedChannel zero = first;
      scheduler.schedule(() -> writeWide(zero, wide));
    }
  }

  private void writeWide(OwnedChannel first, StreamEvent.Change wide) {
    Entry entry = first.entry(wide);
    Calls.run(
        () -> written(first, List.of(entry)),
        failure -> notPassed(first, failure),
        () -> passed(first, entry));
  }

  private void notPassed(OwnedChannel first, Throwable failure) {
    synchronized (this) {
      passing = false;
    }
    failed(first, List.of(), failure);
    refeed();
  }

  private void passed(OwnedChannel first, Entry entry) {
    boolean lost;
    synchronized (this) {
      first.written(entry);
      lost = !first.isFed();
      passing = !lost;
      forgetLost(first);
    }
    if (lost) {
      refeed();
    } else {
      passed(entry.event());
    }
    owner.changed();
  }

  private void passed(StreamEvent waited) {
    Pull pull;
    synchronized (this) {
      passing = false;
      barrier = null;
      feed.passed(waited);
      feed.freed(Channels.bytes(waited));
      give();
      pull = feed.pull();
    }
    pull.send();
    refeed();
  }

  /** Whether this member waits for others. */
  synchronized boolean isWaiting() {
    return barrier instanceof StreamEvent.Change && !passing && isIdle();
  }
}
