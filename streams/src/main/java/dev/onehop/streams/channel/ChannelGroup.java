package dev.onehop.streams.channel;

import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.channel.LeaseKeeper.GroupTimes;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.bson.RawBsonDocument;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * A change stream whose events are processed in channels by several processes. The channels are
 * like those of {@link ChangeChannels}. Each process is a member: it owns its share of the channels
 * and reads one stream for them. When a member joins or leaves, the shares change. When a member
 * crashes and its leases have expired, other members take its channels.
 *
 * <p>The state of the group is in a MongoDB collection of any replica set or sharded cluster. The
 * state has the start of the group, and for each channel its owner, its term and its position. The
 * term is a number that rises with each new owner. Several groups may use the same collection. The
 * first member creates the group with the start from the stream's settings; later members ignore
 * this setting.
 *
 * <p>With a {@link ChannelSink} each event is written exactly once, even if a member was paused for
 * longer than its leases last and then continues. With a {@link ChannelProcessor} each event is
 * processed at least once, because a paused member may finish its last batch although the channel
 * already has another owner.
 *
 * <p>The events of a document are processed in order, also if the channel gets another owner. An
 * event that concerns more than one document, such as {@code drop}, is processed by the owner of
 * channel 0, after all earlier events of all members and before all later events. The stream's
 * pipeline MUST keep {@code documentKey} and {@code operationType}.
 *
 * <p>Immutable and thread-safe.
 */
public final class ChannelGroup {
  private final Builder settings;

  private ChannelGroup(Builder settings) {
    this.settings = settings;
  }

  /**
   * Creates a builder for a group.
   *
   * @param stream the stream, the same for all members
   * @param channels the number of channels, from 1 to {@value Channels#MOST}; the same for all
   *     members during the life of the group
   * @param name the group's name
   * @param leases the collection for the group's state. It is read and written with read concern
   *     and write concern {@code majority}; the concerns of this argument are ignored
   * @throws IllegalArgumentException if the number of channels is out of range, or if the stream
   *     groups transactions, because the events of one transaction can belong to several channels
   */
  public static Builder builder(
      ShardedChangeStream stream, int channels, String name, MongoCollection<?> leases) {
    if (stream.groupsTransactions()) {
      throw new IllegalArgumentException(
          "a group of channels can't use a stream that groups transactions");
    }
    Objects.requireNonNull(leases, "leases");
    Objects.requireNonNull(name, "name");
    return builder(
        stream::events,
        Mono.from(stream.start()),
        channels,
        lease -> new MongoLeases(leases, name, channels, lease));
  }

  /**
   * @param events returns the stream's events after a position
   * @param start the position where the group starts
   * @param channels the number of channels
   * @param leases returns the store of the leases; its argument is the duration of a lease
   */
  static Builder builder(
      Function<Checkpoint, Publisher<StreamEvent>> events,
      Mono<Checkpoint> start,
      int channels,
      Function<Duration, LeaseStore> leases) {
    return new Builder(events, start, Channels.checked(channels), leases);
  }

  /**
   * Makes this process a member.
   *
   * @return a cold publisher; the membership starts with the subscription. After a cancellation
   *     this process finishes the current batches and releases its channels in the background. The
   *     publisher completes when the stream has completed and all members have written all events.
   *     It fails if the stream or the sink fails. While the collection of the leases cannot be
   *     reached, it waits
   */
  public Publisher<Void> process(ChannelSink sink) {
    Objects.requireNonNull(sink, "sink");
    return Mono.create(
        end -> {
          LeaseKeeper keeper = new LeaseKeeper(settings, store(), sink, end);
          end.onCancel(keeper::leave);
          keeper.start();
        });
  }

  /**
   * Makes this process a member with a processor. A processor does not check terms, so that each
   * event is processed at least once, not exactly once.
   */
  public Publisher<Void> process(ChannelProcessor processor) {
    Objects.requireNonNull(processor, "processor");
    return process(
        new ChannelSink() {
          @Override
          public Publisher<Checkpoint> begin(int channel, long term) {
            return Mono.empty();
          }

          @Override
          public Publisher<Void> write(ChannelBatch batch) {
            return processor.process(batch.channel(), batch.events());
          }

          @Override
          public Publisher<Void> notice(StreamEvent notice) {
            return processor.notice(notice);
          }
        });
  }

  /**
   * The position that all channels have reached. Each owner stores its positions only with a
   * renewal, so the result may be somewhat old. All events up to this position are written.
   *
   * @return empty before the group has started
   */
  public Publisher<Checkpoint> place() {
    return store()
        .read()
        .filter(view -> view.leases().size() == settings.channels)
        .map(
            view ->
                view.leases().stream()
                    .map(LeaseStore.Lease::place)
                    .reduce(Checkpoint::intersection)
                    .orElseThrow());
  }

  /**
   * Completes when the group has no members: each member has left, or its leases have expired. No
   * member writes then, and the next member gets all channels at once.
   */
  public Publisher<Void> released() {
    return store()
        .read()
        .filter(
            view ->
                view.members().isEmpty()
                    && view.leases().stream()
                        .allMatch(lease -> lease.owner() == null || lease.expired()))
        .repeatWhenEmpty(polls -> polls.delayElements(Builder.LEAST))
        .then();
  }

  private LeaseStore store() {
    return settings.leases.apply(settings.times.lease());
  }

  /** The channel of an event in the server's format. */
  int channelOf(RawBsonDocument event) {
    return settings.channelOf.applyAsInt(event);
  }

  /**
   * The same group with another start.
   *
   * @param start the publisher of the start; subscribed to only if the group does not exist yet
   */
  ChannelGroup startingAt(Mono<Checkpoint> start) {
    return new ChannelGroup(new Builder(settings, start));
  }

  /** Builds a group. Not thread-safe. */
  public static final class Builder {
    private static final Duration DEFAULT_LEASE = Duration.ofSeconds(10);
    private static final Duration DEFAULT_RENEWAL = Duration.ofSeconds(3);
    private static final Duration LEAST = Duration.ofMillis(100);

    final Function<Checkpoint, Publisher<StreamEvent>> events;
    final Mono<Checkpoint> start;
    final int channels;
    ToIntFunction<RawBsonDocument> channelOf;
    int batch = Channels.DEFAULT_BATCH;
    int unacknowledged = Channels.DEFAULT_UNACKNOWLEDGED;
    GroupTimes times = new GroupTimes(DEFAULT_LEASE, DEFAULT_RENEWAL);
    private final Function<Duration, LeaseStore> leases;

    private Builder(
        Function<Checkpoint, Publisher<StreamEvent>> events,
        Mono<Checkpoint> start,
        int channels,
        Function<Duration, LeaseStore> leases) {
      this.events = events;
      this.start = start;
      this.channels = channels;
      this.leases = leases;
      this.channelOf = event -> Channels.of(event, channels);
    }

    private Builder(Builder other, Mono<Checkpoint> start) {
      this(other.events, start, other.channels, other.leases);
      this.channelOf = other.channelOf;
      this.batch = other.batch;
      this.unacknowledged = other.unacknowledged;
      this.times = other.times;
    }

    /**
     * Sets the function that assigns events to channels; {@link Channels#of} by default.
     *
     * @param channel returns the number of an event's channel. It is called for each event in the
     *     order of the stream. For the same event it MUST return the same channel, in all members
     *     and during the life of the group, because a channel's position counts only the events of
     *     this channel. For an event that concerns more than one document it returns {@link
     *     Channels#ALL}. It MUST NOT block
     */
    public Builder channelOf(ToIntFunction<RawBsonDocument> channel) {
      this.channelOf = Objects.requireNonNull(channel, "channel");
      return this;
    }

    /** As {@link ChangeChannels.Builder#maxBatch}. */
    public Builder maxBatch(int most) {
      this.batch = Channels.positive("maxBatch", most);
      return this;
    }

    /** As {@link ChangeChannels.Builder#maxUnacknowledged}; the limit applies to each member. */
    public Builder maxUnacknowledged(int most) {
      this.unacknowledged = Channels.positive("maxUnacknowledged", most);
      return this;
    }

    /**
     * Sets the duration of a lease, 10 seconds by default, and the interval of renewals, 3 seconds
     * by default. A renewal also stores the channel's position. Both values MUST be the same for
     * all members.
     *
     * @param time the duration of a lease, at least twice the interval
     * @param renewal the interval, at least 100 ms
     * @throws IllegalArgumentException if a value is out of range
     */
    public Builder lease(Duration time, Duration renewal) {
      if (renewal.compareTo(LEAST) < 0 || time.compareTo(renewal.multipliedBy(2)) < 0) {
        throw new IllegalArgumentException(
            "a lease of "
                + time
                + " can't be renewed every "
                + renewal
                + ": the interval must be at least 100 ms, and at most half of the lease");
      }
      this.times = new GroupTimes(time, renewal);
      return this;
    }

    /** Creates the group. Nothing starts before {@link ChannelGroup#process} is subscribed to. */
    public ChannelGroup build() {
      return new ChannelGroup(new Builder(this, start));
    }
  }
}
