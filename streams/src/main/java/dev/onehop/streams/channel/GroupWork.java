package dev.onehop.streams.channel;

import dev.onehop.streams.channel.LeaseStore.Hold;
import dev.onehop.streams.channel.LeaseStore.Lease;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.token.WideEvents;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The channels of a member, and the one stream that feeds them.
 *
 * <p>The stream starts at the earliest start of these channels. When a channel with another start
 * is added, another stream replaces it. Each channel has a <em>floor</em>: the channel received
 * everything up to its floor before the current stream started, so it only accepts events after it.
 * This keeps the order within a key: a stream emits the events of a key in order, so a floor that
 * includes one of them includes all earlier ones.
 *
 * <p>An event that concerns more than one document is processed by the owner of channel 0, after
 * the owners of all other channels have stored that they have finished everything before it. All
 * streams emit such events in the order of their tokens, so that no two owners wait for each other
 * at different events.
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
  private final Demand demand;
  private final Function<Checkpoint, Publisher<StreamEvent>> stream;
  private final ChannelSink sink;
  private final Owner owner;
  private final Scheduler scheduler;
  private final ChannelThreads threads;

  // The start of the group.
  private Checkpoint start = Checkpoint.before(new BsonTimestamp(0));
  private final @Nullable Slot[] slots;
  // The events behind a wide event; they wait for it.
  private final Deque<StreamEvent> held = new ArrayDeque<>();
  private @Nullable Feed feed;
  // The position up to which the feed's events were passed to the channels.
  private Checkpoint position = Checkpoint.before(new BsonTimestamp(0));
  private @Nullable StreamEvent barrier;
  private boolean passing;
  private boolean feeding;
  private boolean completed;
  private boolean stopped;

  /** The owner of this object. Called without a lock. */
  interface Owner {
    /** Called when something should be stored or checked soon. */
    void changed();

    void failed(Throwable cause);
  }

  private record Entry(StreamEvent event, long bytes, Checkpoint floor) {
    Entry(StreamEvent event, Checkpoint floor) {
      this(event, Channels.bytes(event), floor);
    }

    Done done() {
      return new Done(floor, event.checkpoint());
    }
  }

  /** The progress of a channel: everything within one of these two positions is done. */
  private record Done(Checkpoint floor, Checkpoint at) {
    Checkpoint place() {
      return floor.union(at);
    }
  }

  /** A channel during one term. */
  private static final class Slot {
    private final int channel;
    private final long term;
    private final Deque<Entry> entries = new ArrayDeque<>();
    private Checkpoint floor;
    private Done done;
    private boolean opened;
    // Whether the channel receives the feed's events.
    private boolean fed;
    private boolean leaving;
    // Whether the channel has finished everything until the end of the stream.
    private boolean ended;
    private boolean lost;
    private boolean busy;
    private long untilNanos;

    Slot(Lease lease, long untilNanos) {
      this.channel = lease.channel();
      this.term = lease.term();
      this.floor = lease.place();
      this.done = new Done(floor, floor);
      this.ended = lease.isAtEnd();
      this.untilNanos = untilNanos;
    }

    boolean isIdle() {
      return !busy && entries.isEmpty();
    }

    /** The stored state of the channel in addition to its position; null for none. */
    @Nullable String reached() {
      return ended ? LeaseStore.END : null;
    }

    boolean isToBeFed() {
      return opened && !leaving && !lost && !ended;
    }

    /** Whether the lease is still valid, by the clock of this process. */
    boolean isHeld() {
      return untilNanos - System.nanoTime() > 0;
    }
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
    this.demand = new Demand(limit);
    this.stream = stream;
    this.sink = sink;
    this.owner = owner;
    this.slots = new Slot[channels];
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
    return slots[channel] != null;
  }

  /** The channels of this member, without those that it will release. */
  synchronized List<Integer> staying() {
    List<Integer> numbers = new ArrayList<>();
    for (Slot slot : slots) {
      if (slot != null && !slot.lost && !slot.leaving) {
        numbers.add(slot.channel);
      }
    }
    return numbers;
  }

  /** The state to store for each channel. */
  synchronized List<Hold> holds() {
    List<Hold> holds = new ArrayList<>();
    boolean waiting = isIdle();
    for (Slot slot : slots) {
      if (slot != null && !slot.lost) {
        end(slot);
        String reached = slot.reached();
        if (waiting && slot.fed && barrier instanceof StreamEvent.Change wide) {
          reached = wide.token();
        }
        holds.add(new Hold(slot.channel, slot.term, place(slot), reached));
      }
    }
    return holds;
  }

  /**
   * Marks a channel as ended. A channel at the end of the stream stays ended when the stream is
   * read again.
   */
  private void end(Slot slot) {
    if (completed && barrier == null && held.isEmpty() && slot.fed && slot.isIdle()) {
      slot.done = new Done(slot.floor, position);
      slot.fed = false;
      slot.ended = true;
    }
  }

  /** The channels to release that have no work in progress. */
  synchronized List<Hold> left() {
    List<Hold> holds = new ArrayList<>();
    for (Slot slot : slots) {
      if (slot != null && slot.leaving && !slot.lost && !slot.busy) {
        holds.add(new Hold(slot.channel, slot.term, place(slot), slot.reached()));
      }
    }
    return holds;
  }

  private Checkpoint place(Slot slot) {
    return slot.fed && slot.isIdle() ? slot.floor.union(position) : slot.done.place();
  }

  /** Called when a channel was taken. */
  void take(Lease lease, long untilNanos) {
    Slot slot = new Slot(lease, untilNanos);
    slot.busy = true;
    synchronized (this) {
      slots[slot.channel] = slot;
    }
    scheduler.schedule(
        () ->
            Calls.run(
                () ->
                    Mono.from(sink.begin(slot.channel, slot.term))
                        .map(place -> continued(slot.channel, place))
                        .map(lease.place()::union)
                        .defaultIfEmpty(lease.place()),
                place -> begun(slot, place),
                failure -> failed(slot, List.of(), failure),
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

  private synchronized void begun(Slot slot, Checkpoint place) {
    slot.busy = false;
    slot.opened = true;
    slot.floor = place;
    slot.done = new Done(place, place);
    forgetLost(slot);
    feedSoon();
  }

  /** Called when a channel's lease was renewed. */
  synchronized void renewed(int channel, long term, long untilNanos) {
    Slot slot = slots[channel];
    if (slot != null && slot.term == term) {
      slot.untilNanos = untilNanos;
      start(slot);
    }
  }

  /** Releases a channel after its current batch. */
  void leave(int channel) {
    Pull pull;
    synchronized (this) {
      Slot slot = slots[channel];
      if (slot != null && !slot.leaving) {
        stop(slot);
        slot.leaving = true;
      }
      pull = pull();
    }
    pull.send();
  }

  /** Called when a channel belongs to another member. Its current batch no longer counts. */
  void lost(int channel, long term) {
    Pull pull;
    synchronized (this) {
      Slot slot = slots[channel];
      if (slot != null && slot.term == term && !slot.lost) {
        stop(slot);
        slot.lost = true;
        forgetLost(slot);
      }
      pull = pull();
    }
    pull.send();
  }

  /** Called when a channel was released. */
  synchronized void released(int channel, long term) {
    Slot slot = slots[channel];
    if (slot != null && slot.term == term) {
      slots[channel] = null;
    }
  }

  /** Passes no more events to a channel. */
  private void stop(Slot slot) {
    end(slot);
    slot.done = slot.isIdle() && slot.fed ? new Done(slot.floor, position) : slot.done;
    slot.fed = false;
    freed(slot.entries);
    slot.entries.clear();
    meet();
  }

  private void forgetLost(Slot slot) {
    if (slot.lost && !slot.busy) {
      slots[slot.channel] = null;
    }
  }

  /** Stops the stream and all calls of the sink. */
  void stop() {
    Feed open;
    synchronized (this) {
      stopped = true;
      open = feed;
      feed = null;
      for (Slot slot : slots) {
        if (slot != null) {
          stop(slot);
          slot.leaving = true;
        }
      }
    }
    if (open != null) {
      open.cancel();
    }
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
    Feed old;
    Feed next = null;
    Checkpoint from = null;
    List<Integer> fed = new ArrayList<>();
    synchronized (this) {
      feeding = false;
      if (stopped || passing) {
        // The current notice or wide event calls this method again at its end.
        return;
      }
      old = feed;
      for (Slot slot : slots) {
        if (slot != null) {
          end(slot);
        }
        if (slot != null && slot.isToBeFed()) {
          slot.floor = slot.fed ? slot.floor.union(position) : slot.floor;
          slot.fed = true;
          fed.add(slot.channel);
          from = from == null ? slot.floor : from.intersection(slot.floor);
        }
      }
      held.forEach(this::freed);
      if (barrier != null) {
        freed(barrier);
      }
      held.clear();
      barrier = null;
      completed = false;
      if (from != null) {
        position = from;
        next = new Feed();
      }
      feed = next;
    }
    if (old != null) {
      old.cancel();
    }
    if (next != null) {
      log.info(
          "channels {} are read from {}",
          Channels.ranges(fed),
          Instant.ofEpochSecond(Objects.requireNonNull(from).clusterTime().getTime()));
      stream.apply(Objects.requireNonNull(from)).subscribe(next);
    }
  }

  /** One stream. Once another stream has replaced it, its events are ignored. */
  private final class Feed implements CoreSubscriber<StreamEvent> {
    private volatile @Nullable Subscription subscription;

    @Override
    public void onSubscribe(Subscription given) {
      int first;
      synchronized (GroupWork.this) {
        subscription = given;
        first = 0;
        if (feed == this) {
          demand.restart();
          first = demand.more();
        }
      }
      if (current() != this) {
        given.cancel();
      } else if (first > 0) {
        given.request(first);
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
      synchronized (GroupWork.this) {
        if (feed != this) {
          return;
        }
        demand.arrived(Channels.bytes(event));
        held.add(event);
        give();
        pull = pull();
      }
      pull.send();
    }

    @Override
    public void onError(Throwable cause) {
      if (current() == this) {
        owner.failed(cause);
      }
    }

    @Override
    public void onComplete() {
      synchronized (GroupWork.this) {
        if (feed != this) {
          return;
        }
        completed = true;
      }
      owner.changed();
    }
  }

  private synchronized @Nullable Feed current() {
    return feed;
  }

  /**
   * A request for events, which is sent outside the lock because events may arrive during the call.
   */
  private record Pull(@Nullable Subscription from, int events) {
    void send() {
      if (from != null && events > 0) {
        from.request(events);
      }
    }
  }

  private Pull pull() {
    Subscription from = feed == null ? null : feed.subscription;
    return new Pull(from, from == null ? 0 : demand.more());
  }

  private void freed(StreamEvent event) {
    demand.freed(Channels.bytes(event));
  }

  private void freed(Collection<Entry> entries) {
    entries.forEach(entry -> demand.freed(entry.bytes()));
  }

  /** Passes events to the channels, as far as they need not wait. */
  private void give() {
    while (barrier == null && !held.isEmpty()) {
      StreamEvent next = held.remove();
      int channel = channel(next);
      if (channel == Channels.ALL && !(next instanceof StreamEvent.Progress)) {
        barrier = next;
        meet();
        break;
      }
      Slot slot = channel == Channels.ALL ? null : slots[channel];
      if (slot != null && slot.fed && !isGiven(slot.floor, next)) {
        if (slot.isIdle()) {
          slot.done = new Done(slot.floor, position);
        }
        slot.entries.add(new Entry(next, slot.floor));
        start(slot);
      } else {
        freed(next);
      }
      position = next.checkpoint();
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

  private static boolean isGiven(Checkpoint floor, StreamEvent event) {
    if (event instanceof StreamEvent.Change change) {
      return floor.includes(change.shard(), change.token());
    }
    StreamEvent.TooLarge large = (StreamEvent.TooLarge) event;
    return floor.includes(
        large.shard(), large.event().getDocument("_id").getString("_data").getValue());
  }

  // --- The channels.

  private void start(Slot slot) {
    if (!slot.busy && slot.fed && !slot.entries.isEmpty() && slot.isHeld() && !stopped) {
      slot.busy = true;
      threads.run(() -> run(slot));
    }
  }

  private void run(Slot slot) {
    List<Entry> entries = new ArrayList<>();
    synchronized (this) {
      // Checked again, because much time may have passed since the start if the process was paused.
      if (slot.isHeld() && slot.fed && !stopped) {
        move(slot.entries, entries);
      }
      if (entries.isEmpty()) {
        slot.busy = false;
        forgetLost(slot);
        return;
      }
    }
    Entry end = entries.get(entries.size() - 1);
    Calls.run(
        () -> write(slot, entries, end),
        failure -> failed(slot, entries, failure),
        () -> written(slot, entries, end));
  }

  /** Moves a batch of entries. An event that is too large is alone in its batch. */
  private void move(Deque<Entry> from, List<Entry> into) {
    BatchSize size = new BatchSize(batch);
    while (!from.isEmpty() && size.takes(from.element().bytes())) {
      boolean alone = from.element().event() instanceof StreamEvent.TooLarge;
      if (alone && !into.isEmpty()) {
        return;
      }
      into.add(from.remove());
      if (alone) {
        return;
      }
    }
  }

  private Publisher<Void> write(Slot slot, List<Entry> entries, Entry end) {
    if (end.event() instanceof StreamEvent.TooLarge) {
      return sink.notice(end.event());
    }
    return sink.write(
        new ChannelBatch(
            slot.channel,
            slot.term,
            entries.stream().map(entry -> (StreamEvent.Change) entry.event()).toList(),
            end.done().place()));
  }

  private void written(Slot slot, List<Entry> entries, Entry end) {
    Pull pull;
    boolean due;
    synchronized (this) {
      slot.busy = false;
      slot.done = end.done();
      freed(entries);
      forgetLost(slot);
      start(slot);
      due = slot.leaving || completed;
      meet();
      pull = pull();
    }
    pull.send();
    if (due) {
      owner.changed();
    }
  }

  private void failed(Slot slot, List<Entry> entries, Throwable failure) {
    boolean fenced = failure instanceof FencedException;
    boolean fatal;
    synchronized (this) {
      fatal = !fenced && !slot.lost;
      // While the channel is busy, its last batch does not count as done.
      stop(slot);
      slot.busy = false;
      slot.leaving = true;
      freed(entries);
      forgetLost(slot);
    }
    if (fenced) {
      log.info("channel {} has another owner: {}", slot.channel, failure.getMessage());
      lost(slot.channel, slot.term);
    } else if (fatal) {
      owner.failed(failure);
    }
  }

  // --- Events that concern more than one document.

  /** Whether all events of the stream so far are written. */
  private boolean isIdle() {
    for (Slot slot : slots) {
      if (slot != null && slot.fed && !slot.isIdle()) {
        return false;
      }
    }
    return true;
  }

  private void meet() {
    StreamEvent waits = barrier;
    if (waits == null || passing || !isIdle() || stopped) {
      return;
    }
    if (waits instanceof StreamEvent.Change) {
      // The keeper stores the state, and checks the other members.
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
    Slot first = null;
    synchronized (this) {
      if (!(barrier instanceof StreamEvent.Change waits) || passing || !isIdle() || stopped) {
        return;
      }
      wide = waits;
      Slot zero = slots[0];
      boolean ours = zero != null && zero.fed;
      boolean done =
          leases.get(0).place().includes(wide.shard(), wide.token())
              || (ours && isGiven(zero.floor, wide));
      if (!done) {
        first = zero;
        boolean ready =
            ours
                && first.isHeld()
                && leases.stream()
                    .allMatch(lease -> lease.channel() == 0 || hasReached(lease, waits));
        if (!ready) {
          return;
        }
        first.busy = true;
      }
      passing = true;
    }
    if (first == null) {
      passed(wide);
      return;
    }
    Slot slot = first;
    scheduler.schedule(
        () -> {
          Entry entry = new Entry(wide, slot.floor);
          Calls.run(
              () -> write(slot, List.of(entry), entry),
              failure -> notPassed(slot, failure),
              () -> passed(slot, entry));
        });
  }

  private static boolean hasReached(Lease lease, StreamEvent.Change wide) {
    String reached = lease.barrier();
    return lease.place().includes(wide.shard(), wide.token())
        || (reached != null && reached.compareTo(wide.token()) >= 0);
  }

  private void notPassed(Slot slot, Throwable failure) {
    synchronized (this) {
      passing = false;
    }
    failed(slot, List.of(), failure);
    refeed();
  }

  private void passed(Slot slot, Entry entry) {
    boolean lost;
    synchronized (this) {
      slot.busy = false;
      slot.done = entry.done();
      lost = !slot.fed;
      passing = !lost;
      forgetLost(slot);
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
      position = waited.checkpoint();
      freed(waited);
      give();
      pull = pull();
    }
    pull.send();
    refeed();
  }

  /** Starts another stream if channels were added while an event was processed. */
  private synchronized void refeed() {
    for (Slot slot : slots) {
      if (slot != null && slot.isToBeFed() && !slot.fed) {
        feedSoon();
        return;
      }
    }
  }

  /** Whether this member waits for others. */
  synchronized boolean isWaiting() {
    return barrier instanceof StreamEvent.Change && !passing && isIdle();
  }
}
