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
import org.bson.types.ObjectId;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * A change stream whose events are processed in channels, as by {@link ChangeChannels}, which any
 * number of processes share. Each process is a member: it has its share of the channels and reads
 * one stream for them. The channels are dealt anew when a member comes or goes; those of a member
 * that ends without a word are taken over when their leases expire.
 *
 * <p>The group is kept in a MongoDB collection of any replica set or sharded cluster: its place at
 * the beginning, and for each channel its owner, the term, which grows with each change of the
 * owner, and the place up to which it is done. Several groups may share the collection. The first
 * member begins where the stream starts by its settings; from then on these no longer matter.
 *
 * <p>With a {@link ChannelSink} each event is written exactly once, also if a member was stopped
 * for longer than its leases last and then goes on. With a {@link ChannelProcessor} each event is
 * processed at least once, and a member that was stopped may end its last batch when the channel
 * has another owner already.
 *
 * <p>The order is that of {@link ChangeChannels}, over all members: an event that concerns more
 * than a document, such as {@code drop}, is processed by the owner of channel 0 after everything
 * before it and before everything after it. The stream's pipeline MUST keep {@code documentKey} and
 * {@code operationType}.
 *
 * <p>Immutable and thread-safe.
 */
public final class ChannelGroup {
  private final Builder settings;

  private ChannelGroup(Builder settings) {
    this.settings = settings;
  }

  /**
   * Names a group.
   *
   * @param stream the same for all members
   * @param channels from 1 to {@value Channels#MOST}; the same for all members, for as long as
   *     there is the group
   * @param name of the group
   * @param leases where the group is kept. Reads and writes are of the majority, whatever the
   *     collection's concerns are
   * @throws IllegalArgumentException if the number of channels is none of these, or the stream
   *     groups transactions, whose events belong to several channels
   */
  public static Builder builder(
      ShardedChangeStream stream, int channels, String name, MongoCollection<?> leases) {
    if (stream.groupsTransactions()) {
      throw new IllegalArgumentException("a group of channels can't have grouped transactions");
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
   * @param events the stream's after a place
   * @param start where the group begins
   * @param leases for the time that a lease lasts
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
   * @return cold: begins with its subscription. When it is cancelled, what is being written is
   *     finished and the channels are given up, in the background; completes when the stream does
   *     and the members have written everything, for all members and for good; fails with the
   *     stream or the sink. If the collection of the leases can't be reached, it waits
   */
  public Publisher<Void> process(ChannelSink sink) {
    Objects.requireNonNull(sink, "sink");
    return Mono.create(
        end -> {
          LeaseKeeper keeper =
              new LeaseKeeper(
                  settings.leases.apply(settings.times.lease()),
                  settings.channels,
                  ProcessHandle.current().pid() + "-" + new ObjectId(),
                  settings.times,
                  owner ->
                      new GroupWork(
                          settings.channels,
                          settings.channelOf,
                          settings.batch,
                          settings.unacknowledged,
                          settings.events,
                          sink,
                          owner),
                  settings.start,
                  end);
          end.onCancel(keeper::leave);
          keeper.start();
        });
  }

  /** The same for a processor that takes no terms: at least once. */
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
   * The place up to which all channels are done, as their owners have stored it with the last
   * renewal. Never ahead of what is written.
   *
   * @return empty before the group has begun
   */
  public Publisher<Checkpoint> place() {
    return settings
        .leases
        .apply(settings.times.lease())
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
   * Completes when the group has no members, so that nothing is being written: each has left, or
   * its leases have expired. Who becomes a member then has all channels at once.
   */
  public Publisher<Void> released() {
    return settings
        .leases
        .apply(settings.times.lease())
        .read()
        .filter(
            view ->
                view.members().isEmpty()
                    && view.leases().stream()
                        .allMatch(lease -> lease.owner() == null || lease.expired()))
        .repeatWhenEmpty(polls -> polls.delayElements(Builder.LEAST))
        .then();
  }

  /** Collects how a group works. Not thread-safe. */
  public static final class Builder {
    private static final Duration DEFAULT_LEASE = Duration.ofSeconds(10);
    private static final Duration DEFAULT_RENEWAL = Duration.ofSeconds(3);
    private static final Duration LEAST = Duration.ofMillis(100);

    private final Function<Checkpoint, Publisher<StreamEvent>> events;
    private final Mono<Checkpoint> start;
    private final int channels;
    private final Function<Duration, LeaseStore> leases;
    private ToIntFunction<RawBsonDocument> channelOf;
    private int batch = Channels.DEFAULT_BATCH;
    private int unacknowledged = Channels.DEFAULT_UNACKNOWLEDGED;
    private GroupTimes times = new GroupTimes(DEFAULT_LEASE, DEFAULT_RENEWAL);

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

    private Builder(Builder other) {
      this(other.events, other.start, other.channels, other.leases);
      this.channelOf = other.channelOf;
      this.batch = other.batch;
      this.unacknowledged = other.unacknowledged;
      this.times = other.times;
    }

    /**
     * Which channel an event of a document belongs to; by default {@link Channels#of} tells.
     *
     * @param channel gets each event in the order of the stream, and MUST give the same for the
     *     same, in all members and for as long as there is the group: a channel's place is that of
     *     its own events. It gives {@link Channels#ALL} for what concerns no single document. It
     *     MUST not block
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

    /** As {@link ChangeChannels.Builder#maxUnacknowledged}, for each member. */
    public Builder maxUnacknowledged(int most) {
      this.unacknowledged = Channels.positive("maxUnacknowledged", most);
      return this;
    }

    /**
     * How long a channel is its owner's after each renewal, and how often it is renewed, which is
     * also how often its place is stored; 10 and 3 seconds by default. The same for all members.
     *
     * @param time of a lease, at least twice the renewal
     * @param renewal at least 100 ms
     * @throws IllegalArgumentException if it is none of these
     */
    public Builder lease(Duration time, Duration renewal) {
      if (renewal.compareTo(LEAST) < 0 || time.compareTo(renewal.multipliedBy(2)) < 0) {
        throw new IllegalArgumentException(
            "a lease of " + time + " can't be renewed every " + renewal);
      }
      this.times = new GroupTimes(time, renewal);
      return this;
    }

    /** Nothing begins before {@link ChannelGroup#process} is subscribed to. */
    public ChannelGroup build() {
      return new ChannelGroup(new Builder(this));
    }
  }
}
