package dev.onehop.streams.channel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.streams.channel.LeaseStore.Hold;
import dev.onehop.streams.channel.LeaseStore.Lease;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.ArrayList;
import java.util.List;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Sinks;

/** A member with two channels. Positions and events are small numbers. */
class GroupChannelsTest {
  private static final long HELD = System.nanoTime() + Long.MAX_VALUE / 4;

  private final List<Integer> added = new ArrayList<>();
  private final List<Checkpoint> begun = new ArrayList<>();
  private Sinks.Many<StreamEvent> stream;
  private GroupChannels channels;

  @BeforeEach
  void create() {
    ChannelFeed feed =
        new ChannelFeed(
            new ChannelFeed.Receiver() {
              @Override
              public void arrived() {}

              @Override
              public void completed() {}

              @Override
              public void failed(Throwable cause) {}
            },
            1_000,
            from -> {
              begun.add(from);
              stream = Sinks.many().unicast().onBackpressureBuffer();
              return stream.asFlux();
            },
            () -> 0);
    channels =
        new GroupChannels(
            2,
            event ->
                event.containsKey("channel") ? event.getInt32("channel").getValue() : Channels.ALL,
            feed);
  }

  private static String token(int time) {
    return "82%016X2B022C0100296E5A04".formatted(time);
  }

  private static Checkpoint at(int time) {
    return Checkpoint.of(List.of("a"), new String[] {token(time)}, token(time));
  }

  private OwnedChannel take(int number, int place) {
    Lease lease =
        new Lease(number, "me", 1, false, 1, Checkpoint.at(token(place)), /* barrier= */ null);
    OwnedChannel channel = new OwnedChannel(lease, HELD);
    channel.opened(lease.place());
    channels.add(channel);
    return channel;
  }

  /** Emits an event of a channel, or with null an event of all channels. */
  private void arrives(@Nullable Integer channel, int time) {
    String fields = channel == null ? "operationType: 'drop'" : "channel: " + channel;
    stream
        .tryEmitNext(
            new StreamEvent.Change(
                "a", token(time), RawBsonDocument.parse("{" + fields + "}"), 0, at(time)))
        .orThrow();
  }

  private boolean pass() {
    return channels.pass(channel -> added.add(channel.number()));
  }

  private static void write(OwnedChannel channel, int time) {
    Entry entry =
        new Entry(
            new StreamEvent.Change("a", token(time), RawBsonDocument.parse("{}"), 0, at(time)), 0);
    entry.setFloor(channel.floor());
    channel.stop(at(time));
    channel.written(entry);
  }

  private boolean hasReached(int channel, int time) {
    return channels.holds().get(channel).place().includes("a", token(time));
  }

  @Test
  void streamStartsAtEarliestPosition() {
    take(0, 5);
    take(1, 3);
    assertThat(channels.needsAnotherStream()).isTrue();
    channels.feed().run();
    assertThat(begun).containsExactly(Checkpoint.at(token(3)));
    assertThat(channels.needsAnotherStream()).isFalse();
  }

  @Test
  void skipsEventsBeforePositionOfChannel() {
    take(0, 5);
    take(1, 3);
    channels.feed().run();
    arrives(0, 4);
    arrives(1, 4);
    arrives(0, 6);
    assertThat(pass()).isFalse();
    assertThat(added).containsExactly(1, 0);
  }

  @Test
  void eventsWaitBehindBarrier() {
    OwnedChannel zero = take(0, 0);
    take(1, 0);
    channels.feed().run();
    arrives(0, 1);
    arrives(null, 2);
    arrives(1, 3);
    assertThat(pass()).isTrue();
    assertThat(added).containsExactly(0);
    assertThat(channels.reachedBarrier()).isNull();
    assertThat(channels.holds()).extracting(Hold::barrier).containsOnlyNulls();

    write(zero, 1);
    zero.feed(at(1));
    Entry barrier = channels.reachedBarrier();
    assertThat(barrier).isNotNull();
    assertThat(channels.holds()).extracting(Hold::barrier).containsOnly(token(2));
    assertThat(pass()).isFalse();

    channels.passed(barrier);
    assertThat(hasReached(1, 2)).isTrue();
    assertThat(pass()).isFalse();
    assertThat(added).containsExactly(0, 1);
  }

  @Test
  void idleChannelFollowsPositionOfStream() {
    take(0, 0);
    take(1, 0);
    channels.feed().run();
    arrives(0, 1);
    arrives(0, 2);
    pass();
    assertThat(hasReached(1, 2)).isTrue();
    assertThat(hasReached(0, 1)).isFalse();
  }

  @Test
  void idleChannelReachesEndOfStream() {
    take(0, 0);
    take(1, 0);
    channels.feed().run();
    arrives(0, 1);
    pass();
    stream.tryEmitComplete().orThrow();
    assertThat(channels.holds()).extracting(Hold::barrier).containsExactly(null, LeaseStore.END);
  }

  @Test
  void stopReleasesAllChannels() {
    take(0, 0);
    take(1, 0);
    channels.feed().run();
    arrives(null, 1);
    pass();
    channels.stop();
    assertThat(channels.staying()).isEmpty();
    assertThat(channels.left()).hasSize(2);
    assertThat(channels.reachedBarrier()).isNull();
  }

  @Test
  void ignoresChannelOfAnotherTerm() {
    OwnedChannel channel = take(1, 0);
    assertThat(channels.get(1, 1)).isSameAs(channel);
    assertThat(channels.get(1, 2)).isNull();
    channels.remove(1, 2);
    assertThat(channels.get(1)).isSameAs(channel);
    channels.remove(1, 1);
    assertThat(channels.get(1)).isNull();
  }
}
