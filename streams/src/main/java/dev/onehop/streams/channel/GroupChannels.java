package dev.onehop.streams.channel;

import dev.onehop.streams.channel.LeaseStore.Hold;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.token.WideEvents;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The channels of a member. This class assigns the stream's events to the channels, and computes
 * the state to store for each channel. An event that concerns more than one document is the
 * <em>barrier</em>: the events after it wait until it is processed.
 *
 * <p>The lock of the owner guards all calls. This class has no threads and calls no sink.
 */
final class GroupChannels {
  private static final Logger log = LoggerFactory.getLogger(GroupChannels.class);

  private final @Nullable OwnedChannel[] owned;
  private final ToIntFunction<RawBsonDocument> channelOf;
  private final ChannelFeed feed;
  // The start of the group.
  private Checkpoint start = Entry.BEGINNING;
  private @Nullable Entry barrier;
  private boolean stopped;

  /**
   * @param count the number of channels of the group
   */
  GroupChannels(int count, ToIntFunction<RawBsonDocument> channelOf, ChannelFeed feed) {
    this.owned = new OwnedChannel[count];
    this.channelOf = channelOf;
    this.feed = feed;
  }

  /** Sets the start of the group. */
  void start(Checkpoint place) {
    start = place;
  }

  /** Checks that a sink's position is not before the start of the group. */
  Checkpoint continued(int channel, Checkpoint place) {
    if (!place.union(start).equals(place)) {
      throw new IllegalStateException(
          ("the sink has the events of channel %d only up to %s, but the group starts at %s, so"
                  + " events would be skipped. The start of the group has changed, or the group's"
                  + " leases were removed")
              .formatted(channel, place, start));
    }
    return place;
  }

  void add(OwnedChannel channel) {
    owned[channel.number()] = channel;
  }

  /** A channel; null if the member does not have it. */
  @Nullable OwnedChannel get(int number) {
    return owned[number];
  }

  /** A channel in a term; null if the member does not have it in this term. */
  @Nullable OwnedChannel get(int number, long term) {
    OwnedChannel channel = owned[number];
    return channel != null && channel.term() == term ? channel : null;
  }

  /** Removes a channel that was released. */
  void remove(int number, long term) {
    if (get(number, term) != null) {
      owned[number] = null;
    }
  }

  /**
   * Removes a channel that belongs to another member, once no batch of the channel is in progress.
   */
  void removeLost(OwnedChannel channel) {
    if (channel.isLost() && !channel.isBusy()) {
      owned[channel.number()] = null;
    }
  }

  private List<OwnedChannel> all(Predicate<OwnedChannel> wanted) {
    List<OwnedChannel> found = new ArrayList<>();
    for (OwnedChannel channel : owned) {
      if (channel != null && wanted.test(channel)) {
        found.add(channel);
      }
    }
    return found;
  }

  /** The member's channels, without those that it will release. */
  List<Integer> staying() {
    return all(OwnedChannel::isStaying).stream().map(OwnedChannel::number).toList();
  }

  /** The state to store for each channel. */
  List<Hold> holds() {
    String token =
        barrier != null && barrier.event() instanceof StreamEvent.Change wide && isIdle()
            ? wide.token()
            : null;
    List<Hold> holds = new ArrayList<>();
    for (OwnedChannel channel : all(each -> !each.isLost())) {
      end(channel);
      holds.add(channel.hold(feed.position(), channel.isFed() ? token : null));
    }
    return holds;
  }

  /** The channels to release that have no work in progress. */
  List<Hold> left() {
    return all(each -> each.isLeaving() && !each.isBusy()).stream()
        .map(each -> each.hold(feed.position(), null))
        .toList();
  }

  /**
   * Marks a channel as ended if the stream has ended and the channel has finished all its events.
   * An ended channel gets no events of a later stream.
   */
  private void end(OwnedChannel channel) {
    if (barrier == null && feed.isAtEnd() && channel.isFed() && channel.isIdle()) {
      channel.end(feed.position());
    }
  }

  /** Ends the passing of events to a channel. */
  void stop(OwnedChannel channel) {
    end(channel);
    channel.stop(feed.position()).forEach(feed::freed);
  }

  /** Ends the passing of events to all channels, and marks all channels for release. */
  void stop() {
    stopped = true;
    for (OwnedChannel channel : all(each -> true)) {
      stop(channel);
      channel.leave();
    }
  }

  boolean isStopped() {
    return stopped;
  }

  /** Whether a channel was added that the present stream does not feed. */
  boolean needsAnotherStream() {
    return !all(each -> each.isToBeFed() && !each.isFed()).isEmpty();
  }

  /**
   * Replaces the stream by a stream for all channels. Returns a task that starts the new stream.
   */
  Runnable feed() {
    all(each -> true).forEach(this::end);
    List<OwnedChannel> fed = all(OwnedChannel::isToBeFed);
    Checkpoint from =
        fed.stream()
            .map(channel -> channel.feed(feed.position()))
            .reduce(Checkpoint::intersection)
            .orElse(null);
    if (barrier != null) {
      feed.freed(barrier);
      barrier = null;
    }
    if (from != null) {
      log.info(
          "channels {} are read from the time {} on",
          Channels.ranges(fed.stream().map(OwnedChannel::number).toList()),
          Instant.ofEpochSecond(from.clusterTime().getTime()));
    }
    return feed.restart(from);
  }

  /**
   * Passes the arrived events to the channels, up to the next barrier.
   *
   * @param added receives each channel that has received an event
   * @return whether there is a new barrier
   */
  boolean pass(Consumer<OwnedChannel> added) {
    Entry next;
    while (barrier == null && (next = feed.poll()) != null) {
      StreamEvent event = next.event();
      int number = channel(event);
      if (number == Channels.ALL && !(event instanceof StreamEvent.Progress)) {
        barrier = next;
        return true;
      }
      OwnedChannel channel = number == Channels.ALL ? null : owned[number];
      if (channel != null && channel.isFed() && !channel.had(event)) {
        channel.add(next, feed.position());
        added.accept(channel);
      } else {
        feed.freed(next);
      }
      feed.passed(next);
    }
    return false;
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
      throw new IllegalStateException(
          "an event has no documentKey: the pipeline must keep this field");
    }
    return channel;
  }

  /** Whether all events of the stream so far are written. */
  private boolean isIdle() {
    return all(each -> each.isFed() && !each.isIdle()).isEmpty();
  }

  /**
   * The barrier, once all events before it are written. Null until then, and null if there is no
   * barrier.
   */
  @Nullable Entry reachedBarrier() {
    return barrier == null || stopped || !isIdle() ? null : barrier;
  }

  /** Continues after a barrier that was processed. */
  void passed(Entry waited) {
    barrier = null;
    feed.passed(waited);
    feed.freed(waited);
  }
}
