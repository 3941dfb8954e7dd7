package dev.onehop.streams.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoTimeoutException;
import dev.onehop.streams.channel.RecordingSink.Freezer;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.wire.CapturedLog;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class ChannelGroupTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final Duration LEASE = Duration.ofMillis(600);
  private static final Duration RENEWAL = Duration.ofMillis(150);
  private static final int CHANNELS = 6;
  private static final int KEYS = 40;

  /** Captures the expected messages of the members: they are stopped, or lose replies. */
  @RegisterExtension
  private final CapturedLog keepers =
      new CapturedLog(
          LeaseKeeper.class.getName(),
          "was not renewed in time, so the channel is released",
          "the leases can't be released; they will expire: lost",
          "the leases can't be read or written, retrying: lost");

  private final InMemoryLeases leases = new InMemoryLeases(CHANNELS, LEASE);
  private final Map<Integer, Integer> written = new TreeMap<>();
  private final List<Member> members = new ArrayList<>();

  /** A member in a simulated process, which can be stopped. */
  private static final class Member {
    private final Freezer process = new Freezer();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicBoolean completed = new AtomicBoolean();
    private Disposable running;

    boolean isEnded() {
      return running.isDisposed();
    }
  }

  @AfterEach
  void stop() {
    members.forEach(
        member -> {
          member.process.set(false);
          member.running.dispose();
        });
  }

  private Member join(ScriptedShards shards, RecordingSink sink, double lostReplies) {
    return join(shards, ScriptedShards.start(), sink, lostReplies);
  }

  /** Starts a member. If it is the first, the group's stream begins at {@code start}. */
  private Member join(
      ScriptedShards shards, Checkpoint start, RecordingSink sink, double lostReplies) {
    Member member = new Member();
    ChannelGroup group =
        ChannelGroup.builder(
                shards::after,
                Mono.just(start),
                CHANNELS,
                lease -> new ProcessLeases(leases, member.process, lostReplies))
            .maxBatch(20)
            .maxUnacknowledged(200)
            .lease(LEASE, RENEWAL)
            .build();
    member.running =
        Mono.from(group.process(sink.of(member.process)))
            .subscribe(nothing -> {}, member.failure::set, () -> member.completed.set(true));
    members.add(member);
    return member;
  }

  /**
   * The leases as one process uses them. The process can be stopped, and the network loses some
   * replies.
   */
  private record ProcessLeases(LeaseStore all, Freezer process, double lostReplies)
      implements LeaseStore {
    private <T> Mono<T> over(Mono<T> call) {
      return Mono.defer(
          () -> {
            process.pass();
            boolean lost = Math.random() < lostReplies;
            return lost ? call.then(Mono.error(new MongoTimeoutException("lost"))) : call;
          });
    }

    @Override
    public Mono<Group> create(Mono<Checkpoint> start) {
      return over(all.create(start));
    }

    @Override
    public Mono<Void> remove() {
      return over(all.remove());
    }

    @Override
    public String toString() {
      return all.toString();
    }

    @Override
    public Mono<Void> renew(String member, long renewal, List<Hold> holds) {
      return over(all.renew(member, renewal, holds));
    }

    @Override
    public Mono<View> read() {
      return over(all.read());
    }

    @Override
    public Mono<Lease> take(int channel, String member) {
      return over(all.take(channel, member));
    }

    @Override
    public Mono<Void> release(String member, Hold hold) {
      return over(all.release(member, hold));
    }

    @Override
    public Mono<Void> end() {
      return over(all.end());
    }

    @Override
    public Mono<Void> leave(String member) {
      return over(all.leave(member));
    }
  }

  private void write(ScriptedShards shards, Random random, int events) {
    for (int i = 0; i < events; i++) {
      int key = random.nextInt(KEYS);
      shards.add(key, written.merge(key, 1, Integer::sum));
    }
  }

  private Map<String, Long> owned() {
    return IntStream.range(0, CHANNELS)
        .mapToObj(channel -> String.valueOf(leases.owner(channel)))
        .collect(Collectors.groupingBy(owner -> owner, Collectors.counting()));
  }

  private void awaitShares(Long... shares) {
    await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(owned().values()).containsExactlyInAnyOrder(shares));
  }

  @Test
  void rebalancesWhenMemberJoinsOrLeaves() {
    ScriptedShards shards = new ScriptedShards(1, Duration.ZERO);
    RecordingSink sink = new RecordingSink(true);
    join(shards, sink, 0);
    awaitShares(6L);
    Member second = join(shards, sink, 0);
    awaitShares(3L, 3L);
    write(shards, new Random(1), 500);
    Member third = join(shards, sink, 0);
    join(shards, sink, 0);
    awaitShares(2L, 2L, 1L, 1L);
    write(shards, new Random(2), 500);
    second.running.dispose();
    awaitShares(2L, 2L, 2L);
    third.process.set(true);
    awaitShares(3L, 3L);
    write(shards, new Random(3), 500);
    await().atMost(TIMEOUT).until(() -> sink.size() == 1_500);
    sink.check(written, 0);
    assertThat(members).allMatch(member -> member.failure.get() == null);
  }

  /**
   * {@code released()} does not complete while the group has a member, even one without channels.
   * Otherwise the next member would not get all channels at once.
   */
  @Test
  void groupIsReleasedAfterLastMemberLeaves() {
    InMemoryLeases quiet = new InMemoryLeases(CHANNELS, TIMEOUT);
    quiet.create(Mono.just(ScriptedShards.start())).block();
    quiet.renew("leaving", 1, List.of()).block();
    AtomicBoolean released = new AtomicBoolean();
    ChannelGroup group =
        ChannelGroup.builder(
                place -> Flux.never(), Mono.just(ScriptedShards.start()), CHANNELS, lease -> quiet)
            .build();
    Mono.from(group.released()).subscribe(nothing -> {}, lost -> {}, () -> released.set(true));
    await()
        .during(Duration.ofMillis(500))
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(released).isFalse());
    quiet.leave("leaving").block();
    await().atMost(TIMEOUT).untilTrue(released);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void changingMembersWriteEachEventOnceInOrder(int seed) throws Exception {
    Random random = new Random(seed);
    ScriptedShards shards = new ScriptedShards(seed, Duration.ofMillis(2));
    RecordingSink sink = new RecordingSink(true);
    int wide = 0;
    for (int round = 0; round < 25; round++) {
      write(shards, random, 200);
      if (round % 8 == 5) {
        shards.drop(random.nextInt(2), 0);
        wide++;
      }
      List<Member> alive = members.stream().filter(member -> !member.isEnded()).toList();
      switch (alive.isEmpty() ? 0 : random.nextInt(5)) {
        case 0, 1 -> {
          if (alive.size() < 4) {
            join(shards, sink, 0.05);
          }
        }
        case 2 -> alive.get(random.nextInt(alive.size())).running.dispose();
        case 3 -> alive.get(random.nextInt(alive.size())).process.set(true);
        default -> members.forEach(member -> member.process.set(false));
      }
      RealTime.pass(Duration.ofMillis(random.nextInt(400)));
    }
    members.forEach(member -> member.process.set(false));
    join(shards, sink, 0);
    int all = written.values().stream().mapToInt(Integer::intValue).sum() + wide;
    await().atMost(TIMEOUT).until(() -> sink.size() >= all);
    shards.end();
    await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(members).allMatch(member -> member.isEnded()));
    sink.check(written, wide + 1);
    assertThat(members).allMatch(member -> member.failure.get() == null);
  }

  /** The second run shows that the test detects late writes: without terms, the result is wrong. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void fencesLateWriteOfStoppedMember(boolean fenced) {
    ScriptedShards shards = new ScriptedShards(1, Duration.ZERO);
    RecordingSink sink = new RecordingSink(fenced);
    Member first = join(shards, sink, 0);
    awaitShares(6L);
    first.process.set(true);
    // The first member has received these events, and is stopped before it has written them.
    write(shards, new Random(1), 300);
    Member second = join(shards, sink, 0);
    await().atMost(TIMEOUT).until(() -> sink.size() == 300);
    first.process.set(false);
    awaitShares(3L, 3L);
    write(shards, new Random(2), 300);
    await().atMost(TIMEOUT).until(() -> sink.size() >= 600);
    if (fenced) {
      await().atMost(TIMEOUT).until(() -> sink.refused() > 0);
      sink.check(written, 0);
    } else {
      await()
          .atMost(TIMEOUT)
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> sink.check(written, 0))
                      .isInstanceOf(AssertionError.class));
    }
    assertThat(List.of(first, second)).allMatch(member -> member.failure.get() == null);
  }

  /**
   * The member can't reach the store. It must stop anyway, because its leases have expired by its
   * own clock.
   */
  @Test
  void memberStopsProcessingWithoutRenewal() {
    ScriptedShards shards = new ScriptedShards(1, Duration.ZERO);
    RecordingSink sink = new RecordingSink(false);
    Member member = new Member();
    Freezer network = new Freezer();
    member.running =
        Mono.from(
                ChannelGroup.builder(
                        shards::after,
                        Mono.just(ScriptedShards.start()),
                        CHANNELS,
                        lease -> new ProcessLeases(leases, network, 0))
                    .lease(LEASE, RENEWAL)
                    .build()
                    .process(sink.of(member.process)))
            .subscribe();
    members.add(member);
    awaitShares(6L);
    write(shards, new Random(1), 100);
    await().atMost(TIMEOUT).until(() -> sink.size() == 100);
    network.set(true);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(owned()).containsOnlyKeys("null"));
    write(shards, new Random(2), 100);
    await()
        .during(Duration.ofMillis(300))
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(sink.size()).isEqualTo(100));
    network.set(false);
    await().atMost(TIMEOUT).until(() -> sink.size() == 200);
    sink.check(written, 0);
  }

  @Test
  void nextMemberContinuesAfterSinkFailure() {
    ScriptedShards shards = new ScriptedShards(1, Duration.ZERO);
    RecordingSink sink = new RecordingSink(true);
    ChannelSink failing =
        new ChannelSink() {
          @Override
          public Publisher<Checkpoint> begin(int channel, long term) {
            return Mono.empty();
          }

          @Override
          public Publisher<Void> write(ChannelBatch batch) {
            return Mono.error(new IllegalStateException("the sink is full"));
          }
        };
    write(shards, new Random(1), 100);
    assertThatThrownBy(
            () ->
                Mono.from(
                        ChannelGroup.builder(
                                shards::after,
                                Mono.just(ScriptedShards.start()),
                                CHANNELS,
                                lease -> leases)
                            .lease(LEASE, RENEWAL)
                            .build()
                            .process(failing))
                    .block(TIMEOUT))
        .hasMessage("the sink is full");
    assertThat(owned()).containsOnlyKeys("null");
    join(shards, sink, 0);
    await().atMost(TIMEOUT).until(() -> sink.size() == 100);
    sink.check(written, 0);
  }

  /**
   * The group also completes if the pipeline removes the invalidate event, and if members join and
   * leave at the end.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void allMembersCompleteAtStreamEnd(boolean withLastEvent) {
    ScriptedShards shards = new ScriptedShards(1, Duration.ZERO);
    RecordingSink sink = new RecordingSink(true);
    for (int i = 0; i < CHANNELS + 1; i++) {
      join(shards, sink, 0);
    }
    write(shards, new Random(1), 500);
    if (withLastEvent) {
      shards.end();
    } else {
      shards.endWithoutLastEvent();
    }
    await().atMost(TIMEOUT).until(() -> sink.size() >= 500);
    members.remove(0).running.dispose();
    join(shards, sink, 0);
    await().atMost(TIMEOUT).until(() -> members.stream().allMatch(each -> each.completed.get()));
    sink.check(written, withLastEvent ? 1 : 0);
    Member late = join(shards, sink, 0);
    await().atMost(TIMEOUT).until(late.completed::get);
    sink.check(written, withLastEvent ? 1 : 0);
  }

  /**
   * The positions of the channels are lost. No member may start at the current time, because events
   * would be missing.
   */
  @Test
  void removedLeasesFailCurrentAndNewMembers() {
    ScriptedShards shards = new ScriptedShards(1, Duration.ZERO);
    RecordingSink sink = new RecordingSink(false);
    join(shards, sink, 0);
    join(shards, sink, 0);
    awaitShares(3L, 3L);
    write(shards, new Random(1), 100);
    await().atMost(TIMEOUT).until(() -> sink.size() == 100);
    leases.drop();
    awaitRemoved();
    write(shards, new Random(2), 100);
    join(shards, shards.now(), sink, 0);
    awaitRemoved();
    assertThat(sink.size()).isEqualTo(100);
  }

  /** The new member joins before the other members have noticed the removal. */
  @Test
  void removedLeasesFailMemberThatJoinsImmediately() {
    ScriptedShards shards = new ScriptedShards(1, Duration.ZERO);
    RecordingSink sink = new RecordingSink(false);
    Member first = join(shards, sink, 0);
    awaitShares(6L);
    first.process.set(true);
    leases.drop();
    Member second = join(shards, shards.now(), sink, 0);
    awaitShares(6L);
    first.process.set(false);
    awaitRemoved();
    assertThat(second.failure.get()).hasMessageContaining("removed");
  }

  private void awaitRemoved() {
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () ->
                assertThat(members)
                    .allSatisfy(
                        member ->
                            assertThat(member.failure.get())
                                .isInstanceOf(IllegalStateException.class)
                                .hasMessageContaining("the leases were removed")));
  }

  /**
   * The leases were removed while no member ran. The sink has stored an older position than the new
   * start. The member fails, because the events between the two positions would be missing.
   */
  @Test
  void rejectsStartAfterPositionOfSink() {
    ScriptedShards shards = new ScriptedShards(1, Duration.ZERO);
    RecordingSink sink = new RecordingSink(true);
    Member first = join(shards, sink, 0);
    awaitShares(6L);
    write(shards, new Random(1), 200);
    await().atMost(TIMEOUT).until(() -> sink.size() == 200);
    first.running.dispose();
    await().atMost(TIMEOUT).until(() -> owned().containsKey("null"));
    leases.drop();
    write(shards, new Random(2), 200);
    Member second = join(shards, shards.now(), sink, 0);
    await().atMost(TIMEOUT).until(() -> second.failure.get() != null);
    assertThat(second.failure.get()).hasMessageContaining("events would be skipped");
    assertThat(sink.size()).isEqualTo(200);
    leases.drop();
    join(shards, sink, 0);
    await().atMost(TIMEOUT).until(() -> sink.size() == 400);
    sink.check(written, 0);
  }

  @Test
  void processorWithoutTermsReceivesAllEvents() {
    ScriptedShards shards = new ScriptedShards(1, Duration.ZERO);
    write(shards, new Random(1), 500);
    shards.end();
    List<StreamEvent.Change> seen = Collections.synchronizedList(new ArrayList<>());
    ChannelProcessor processor =
        (channel, events) -> {
          seen.addAll(events);
          return Mono.empty();
        };
    Mono.from(
            ChannelGroup.builder(
                    shards::after, Mono.just(ScriptedShards.start()), CHANNELS, lease -> leases)
                .lease(LEASE, RENEWAL)
                .build()
                .process(processor))
        .block(TIMEOUT);
    assertThat(seen).hasSize(501).doesNotHaveDuplicates();
  }

  @Test
  void limitsBytesOfBatch() {
    ScriptedShards shards = new ScriptedShards(1, Duration.ZERO);
    for (int i = 1; i <= 12; i++) {
      shards.add(1, i, 5 << 20);
    }
    shards.end();
    List<Integer> sizes = Collections.synchronizedList(new ArrayList<>());
    ChannelProcessor processor =
        (channel, events) -> {
          sizes.add(events.size());
          return Mono.empty();
        };
    Mono.from(
            ChannelGroup.builder(
                    shards::after, Mono.just(ScriptedShards.start()), CHANNELS, lease -> leases)
                .lease(LEASE, RENEWAL)
                .build()
                .process(processor))
        .block(TIMEOUT);
    assertThat(sizes).allMatch(size -> size <= 3);
    assertThat(sizes.stream().mapToInt(Integer::intValue).sum()).isEqualTo(13);
  }

  @Test
  void rejectsInvalidSettings() {
    assertThatThrownBy(
            () -> ChannelGroup.builder(place -> Flux.empty(), Mono.never(), 129, lease -> leases))
        .isInstanceOf(IllegalArgumentException.class);
    ChannelGroup.Builder builder =
        ChannelGroup.builder(place -> Flux.empty(), Mono.never(), 1, lease -> leases);
    assertThatThrownBy(() -> builder.lease(Duration.ofSeconds(1), Duration.ofSeconds(1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> builder.lease(Duration.ofSeconds(1), Duration.ofMillis(10)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
