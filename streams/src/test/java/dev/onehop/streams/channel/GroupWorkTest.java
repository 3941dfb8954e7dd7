package dev.onehop.streams.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.onehop.streams.channel.LeaseStore.Hold;
import dev.onehop.streams.channel.LeaseStore.Lease;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.wire.CapturedLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Two channels, a stream and a sink. The test decides when the stream emits events, when the sink
 * completes a write, and when a lease ends.
 */
class GroupWorkTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final long HELD = Duration.ofHours(1).toNanos();

  @RegisterExtension
  private final CapturedLog reactor =
      new CapturedLog("reactor.core", "throwIfFatal detected a jvm fatal exception");

  /** A batch that is being written. */
  private record Writing(ChannelBatch batch, Sinks.Empty<Void> end) {
    List<Integer> values() {
      return batch.events().stream()
          .map(event -> event.document().getInt32("value").getValue())
          .toList();
    }
  }

  private final List<Writing> writing = new CopyOnWriteArrayList<>();
  private final List<Throwable> failures = new CopyOnWriteArrayList<>();
  private final List<Checkpoint> begun = new CopyOnWriteArrayList<>();
  private final Map<Integer, Checkpoint> stored = new ConcurrentHashMap<>();
  private volatile Sinks.@Nullable Many<StreamEvent> feed;
  private volatile @Nullable Error opening;
  private volatile @Nullable Error refused;
  private GroupWork work;

  private final ChannelSink sink =
      new ChannelSink() {
        @Override
        public Publisher<Checkpoint> begin(int channel, long term) {
          return Mono.justOrEmpty(stored.get(channel));
        }

        @Override
        public Publisher<Void> write(ChannelBatch batch) {
          if (refused != null) {
            throw refused;
          }
          Sinks.Empty<Void> end = Sinks.empty();
          writing.add(new Writing(batch, end));
          return end.asMono();
        }
      };

  @BeforeEach
  void create() {
    work =
        new GroupWork(
            ChannelGroup.builder(
                    this::stream, Mono.empty(), 2, lease -> new InMemoryLeases(2, lease))
                .channelOf(
                    event ->
                        event.containsKey("channel")
                            ? event.getInt32("channel").getValue()
                            : Channels.ALL)
                .maxBatch(10)
                .maxUnacknowledged(1_000),
            sink,
            new GroupWork.Owner() {
              @Override
              public void changed() {}

              @Override
              public void failed(Throwable cause) {
                failures.add(cause);
              }
            });
    work.start(place(0));
  }

  @AfterEach
  void close() {
    work.stop();
    work.close();
  }

  private Publisher<StreamEvent> stream(Checkpoint from) {
    if (opening != null) {
      throw opening;
    }
    Sinks.Many<StreamEvent> events = Sinks.many().unicast().onBackpressureBuffer();
    feed = events;
    begun.add(from);
    return events.asFlux();
  }

  private static String token(int time) {
    return "82%016X2B022C0100296E5A04".formatted(time);
  }

  private static Checkpoint place(int time) {
    return Checkpoint.at(token(time));
  }

  private static Lease lease(int channel, long term, Checkpoint place, @Nullable String barrier) {
    return new Lease(channel, "me", term, false, 1, place, barrier);
  }

  private void take(int channel, long term, int place) {
    work.take(lease(channel, term, place(place), null), System.nanoTime() + HELD);
  }

  /** Takes both channels, and waits for the stream that feeds both. */
  private void takeBoth() {
    take(0, 1, 0);
    await().atMost(TIMEOUT).until(() -> begun.size() == 1);
    take(1, 1, 0);
    await().atMost(TIMEOUT).until(() -> begun.size() == 2);
  }

  private void give(int channel, int time) {
    give("insert", new BsonDocument("channel", new BsonInt32(channel)), time);
  }

  /** Emits an event that concerns more than one document. */
  private void giveWide(int time) {
    give("drop", new BsonDocument(), time);
  }

  private void give(String type, BsonDocument event, int time) {
    event
        .append("operationType", new BsonString(type))
        .append("value", new BsonInt32(time))
        .append("_id", new BsonDocument("_data", new BsonString(token(time))));
    feed.tryEmitNext(
            new StreamEvent.Change(
                "a",
                token(time),
                new RawBsonDocument(event, new BsonDocumentCodec()),
                0,
                Checkpoint.of(List.of("a"), new String[] {token(time)}, token(time))))
        .orThrow();
  }

  private Writing written(int number) {
    await().atMost(TIMEOUT).until(() -> writing.size() > number);
    return writing.get(number);
  }

  private Writing done(int number) {
    Writing at = written(number);
    at.end().tryEmitEmpty().orThrow();
    return at;
  }

  private Checkpoint held(int channel) {
    return work.holds().stream()
        .filter(hold -> hold.channel() == channel)
        .map(Hold::place)
        .findFirst()
        .orElseThrow();
  }

  private boolean hasReached(int channel, int time) {
    return held(channel).includes("a", token(time));
  }

  @Test
  void startsBatchAfterPreviousIsWritten() {
    takeBoth();
    give(1, 1);
    assertThat(written(0).values()).containsExactly(1);
    give(1, 2);
    give(1, 3);
    give(0, 4);
    assertThat(written(1).batch().channel()).isZero();
    assertThat(writing).hasSize(2);
    done(0);
    assertThat(written(2).values()).containsExactly(2, 3);
  }

  @Test
  void errorOfStreamOrSinkFailsMember() {
    opening = new StackOverflowError("opening");
    take(0, 1, 0);
    await().atMost(TIMEOUT).until(() -> failures.contains(opening));
    opening = null;
    take(1, 1, 0);
    await().atMost(TIMEOUT).until(() -> begun.size() == 1);
    refused = new StackOverflowError("writing");
    give(1, 1);
    await().atMost(TIMEOUT).until(() -> failures.contains(refused));
  }

  /**
   * A write that has not ended is lost if the process ends, so its position must not be stored yet.
   */
  @Test
  void positionAdvancesAfterWrite() {
    takeBoth();
    give(1, 1);
    give(0, 2);
    written(1);
    assertThat(hasReached(1, 1)).isFalse();
    done(0);
    await().atMost(TIMEOUT).until(() -> hasReached(writing.get(0).batch().channel(), 1));
    done(1);
    // An idle channel has processed everything up to the stream's position.
    await().atMost(TIMEOUT).until(() -> hasReached(0, 2) && hasReached(1, 2));
  }

  @Test
  void writesNothingAfterLeaseHasEnded() {
    takeBoth();
    work.renewed(1, 1, System.nanoTime() - 1);
    give(1, 1);
    give(0, 2);
    assertThat(done(0).values()).containsExactly(2);
    assertThat(writing).hasSize(1);
    // A late reply for another term must not renew the lease.
    work.renewed(1, 7, System.nanoTime() + HELD);
    give(0, 3);
    assertThat(done(1).values()).containsExactly(3);
    work.renewed(1, 1, System.nanoTime() + HELD);
    assertThat(written(2).values()).containsExactly(1);
  }

  @Test
  void writesWideEventInOrderWithAllChannels() {
    takeBoth();
    give(1, 1);
    giveWide(2);
    give(1, 3);
    written(0);
    assertThat(work.isWaiting()).isFalse();
    done(0);
    await().atMost(TIMEOUT).until(work::isWaiting);
    assertThat(work.holds()).extracting(Hold::barrier).containsOnly(token(2));

    // Now another member owns the other channel. It has not reached the event yet.
    work.met(List.of(lease(0, 1, place(1), token(2)), lease(1, 1, place(0), null)));
    assertThat(work.isWaiting()).isTrue();
    assertThat(writing).hasSize(1);
    work.met(List.of(lease(0, 1, place(1), token(2)), lease(1, 1, place(0), token(2))));
    assertThat(done(1).values()).containsExactly(2);
    assertThat(writing.get(1).batch().channel()).isZero();
    assertThat(written(2).values()).containsExactly(3);
  }

  /** The events behind a wide event get their channels on a thread where no caller sees errors. */
  @Test
  void eventWithoutChannelAfterWideEventFailsMember() {
    takeBoth();
    giveWide(1);
    give("insert", new BsonDocument(), 2);
    await().atMost(TIMEOUT).until(work::isWaiting);
    work.met(List.of(lease(0, 1, place(0), token(1)), lease(1, 1, place(0), token(1))));
    done(0);
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () ->
                assertThat(failures)
                    .singleElement()
                    .extracting(Throwable::getMessage)
                    .asString()
                    .contains("no documentKey"));
  }

  @Test
  void skipsWideEventWrittenByAnotherMember() {
    takeBoth();
    giveWide(1);
    give(1, 2);
    await().atMost(TIMEOUT).until(work::isWaiting);
    work.met(List.of(lease(0, 2, place(1), null), lease(1, 1, place(0), token(1))));
    assertThat(written(0).values()).containsExactly(2);
  }

  @Test
  void leavingChannelEndsBatchAndReportsPosition() {
    takeBoth();
    give(1, 1);
    written(0);
    give(1, 2);
    work.leave(1);
    assertThat(work.left()).isEmpty();
    assertThat(work.staying()).containsExactly(0);
    done(0);
    await().atMost(TIMEOUT).until(() -> !work.left().isEmpty());
    Hold left = work.left().get(0);
    assertThat(left.place().includes("a", token(1))).isTrue();
    assertThat(left.place().includes("a", token(2))).isFalse();
    work.released(1, 1);
    assertThat(work.has(1)).isFalse();
    assertThat(writing).hasSize(1);
  }

  @Test
  void keepsLostChannelUntilBatchEnds() {
    takeBoth();
    give(1, 1);
    written(0);
    work.lost(1, 1);
    assertThat(work.has(1)).isTrue();
    assertThat(work.holds()).extracting(Hold::channel).containsExactly(0);
    done(0);
    await().atMost(TIMEOUT).until(() -> !work.has(1));
    assertThat(failures).isEmpty();
  }

  @Test
  void fencedBatchIsNoFailureUnlikeOtherErrors() {
    takeBoth();
    give(1, 1);
    give(0, 2);
    written(1);
    Writing ofOne = writing.stream().filter(each -> each.batch().channel() == 1).findFirst().get();
    Writing ofZero = writing.stream().filter(each -> each.batch().channel() == 0).findFirst().get();
    ofOne.end().tryEmitError(new FencedException(1, 1)).orThrow();
    await().atMost(TIMEOUT).until(() -> !work.has(1));
    assertThat(failures).isEmpty();
    ofZero.end().tryEmitError(new IllegalStateException("full")).orThrow();
    await().atMost(TIMEOUT).until(() -> !failures.isEmpty());
    assertThat(failures.get(0)).hasMessage("full");
    assertThat(hasReached(0, 2)).isFalse();
  }

  /**
   * The stream restarts at the position of the new channel, so events of the other channel come
   * again.
   */
  @Test
  void newChannelCausesNoDuplicateWrites() {
    take(0, 1, 0);
    await().atMost(TIMEOUT).until(() -> begun.size() == 1);
    give(0, 5);
    done(0);
    await().atMost(TIMEOUT).until(() -> hasReached(0, 5));
    take(1, 1, 2);
    await().atMost(TIMEOUT).until(() -> begun.size() == 2);
    assertThat(begun.get(1).includes("a", token(2))).isTrue();
    assertThat(begun.get(1).includes("a", token(3))).isFalse();
    give(1, 3);
    give(0, 5);
    give(0, 6);
    List<List<Integer>> rest = new ArrayList<>(List.of(written(1).values(), written(2).values()));
    assertThat(rest).containsExactlyInAnyOrder(List.of(3), List.of(6));
  }

  /**
   * The sink has later events than the lease shows, because the process was killed before it stored
   * the position.
   */
  @Test
  void skipsEventsThatSinkHas() {
    stored.put(1, place(4));
    takeBoth();
    give(1, 3);
    give(1, 4);
    give(1, 5);
    assertThat(written(0).values()).containsExactly(5);
  }

  @Test
  void rejectsSinkBehindStart() {
    work.start(place(9));
    stored.put(1, place(4));
    take(1, 1, 4);
    await().atMost(TIMEOUT).until(() -> !failures.isEmpty());
    assertThat(failures.get(0)).hasMessageContaining("events would be skipped");
  }

  @Test
  void reachesEndOfStreamAfterLastWrite() {
    takeBoth();
    give(1, 1);
    written(0);
    feed.tryEmitComplete().orThrow();
    assertThat(work.holds())
        .filteredOn(hold -> hold.channel() == 1)
        .extracting(Hold::barrier)
        .containsOnlyNulls();
    done(0);
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> assertThat(work.holds()).extracting(Hold::barrier).containsOnly(LeaseStore.END));
  }
}
