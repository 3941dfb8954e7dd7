package dev.onehop.streams.internal.merge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.HistoryLostException;
import dev.onehop.streams.event.HistoryLostPolicy;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.merge.ReadFailure.Kind;
import dev.onehop.streams.observation.StreamListener;
import dev.onehop.streams.observation.StreamMeters;
import dev.onehop.wire.CapturedLog;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.search.MeterNotFoundException;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.BaseSubscriber;

class MergedStreamTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final String ERROR =
      "the stream ends, because an error was thrown while events were handled";

  /** The messages that the scripted failures cause. */
  @RegisterExtension
  private final CapturedLog stream =
      new CapturedLog(
          "dev.onehop.streams.internal.merge",
          "can't be read, retrying: scripted",
          "has lost its events from Timestamp",
          "events wait for the config servers, which don't answer: down",
          ERROR,
          "the change stream of it.c",
          "the position of it.c");

  private final List<StreamEvent> given = Collections.synchronizedList(new ArrayList<>());
  // The numbers of events at the ends of bursts; -1 for an end after the stream's end.
  private final List<Integer> burstEnds = Collections.synchronizedList(new ArrayList<>());
  private Duration heartbeatInterval = Duration.ofMillis(5);
  private volatile Throwable failure;
  private final MeterRegistry registry = new SimpleMeterRegistry();
  private volatile boolean completed;
  private long buffer = 2_000;
  private boolean groupTransactions;
  private @Nullable MeterRegistry metering;
  private StreamListener listener = StreamListener.NONE;
  private Duration stallAfter = Duration.ofMinutes(1);

  @ParameterizedTest
  @EnumSource(Order.class)
  void emitsEventsOfAllShards(Order order) {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    subscribe(cluster, order, Long.MAX_VALUE);
    for (int i = 0; i < 100; i++) {
      cluster.shard(i % 3 == 0 ? "b" : "a").insert(10 + i, i);
    }
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).hasSize(100));
    assertThat(keys())
        .containsExactlyInAnyOrderElementsOf(IntStream.range(0, 100).boxed().toList());
    if (order == Order.TOTAL) {
      assertThat(tokens()).isSorted();
    }
  }

  @Test
  void burstEndsAfterItsEventsAndBeforeCompletion() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE);
    for (int i = 0; i < 2_000; i++) {
      cluster.shard("a").insert(10 + i, i);
    }
    cluster.shard("a").add("invalidate", 3_000, 3_000);
    await().atMost(TIMEOUT).until(() -> completed);
    assertThat(burstEnds).isSorted().endsWith(given.size()).doesNotContain(-1);
    assertThat(given).hasSizeGreaterThan(2_000);
  }

  @Test
  void totalOrderWaitsForClockOfIdleShard() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    cluster.shard("b").setIdleAdvances(false);
    subscribe(cluster, Order.TOTAL, Long.MAX_VALUE);
    cluster.shard("a").insert(10, 1);
    await().atMost(TIMEOUT).until(() -> cluster.shard("a").reads() > 20);
    assertThat(keys()).isEmpty();
    cluster.shard("b").setIdleAdvances(true);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(1));
  }

  @Test
  void sendsPeriodicHeartbeatsOnlyToAwaitedShard() {
    heartbeatInterval = Duration.ofMillis(200);
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    cluster.shard("b").setIdleAdvances(false);
    subscribe(cluster, Order.TOTAL, Long.MAX_VALUE);
    await().atMost(TIMEOUT).until(() -> cluster.shard("b").reads() > 20);
    assertThat(cluster.shard("b").advances()).isZero();
    long begin = System.nanoTime();
    cluster.shard("a").insert(10, 1);
    await().atMost(TIMEOUT).until(() -> cluster.shard("b").advances() == 3);
    assertThat(System.nanoTime() - begin).isGreaterThan(2 * heartbeatInterval.toNanos());
    assertThat(cluster.shard("a").advances()).isZero();
    assertThat(keys()).isEmpty();
  }

  @Test
  void heartbeatsDoNotWaitForConfigServers() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    subscribe(cluster, Order.TOTAL, Long.MAX_VALUE);
    await().atMost(TIMEOUT).until(() -> cluster.shard("b").reads() > 0);
    cluster.failPlacements(new ReadFailure(Kind.PASSING, new IllegalStateException("silent")));
    cluster.shard("a").insert(10, 1);
    await().atMost(TIMEOUT).until(() -> cluster.shard("b").advances() > 0);
    assertThat(keys()).isEmpty();
    cluster.failPlacements(null);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(1));
  }

  @Test
  void orderPerKeyDoesNotWaitWithoutMoves() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    cluster.shard("b").setSilent(true);
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE);
    cluster.shard("a").insert(10, 1);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(1));
  }

  @Test
  void orderPerKeyWaitsForDonorAfterMove() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE);
    cluster.shard("a").insert(10, 1);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(1));
    cluster.shard("a").setSilent(true);
    await().atMost(TIMEOUT).until(cluster.shard("a")::isHeld);
    cluster.shard("a").insert(20, 1);
    cluster.move();
    cluster.shard("b").insert(30, 1);
    int before = cluster.shard("b").reads();
    await().atMost(TIMEOUT).until(() -> cluster.shard("b").reads() > before + 10);
    assertThat(keys()).containsExactly(1);
    cluster.shard("a").setSilent(false);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(tokens()).hasSize(3));
    assertThat(tokens()).isSorted();
  }

  @Test
  void orderPerKeyEmitsDropInTotalOrder() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    cluster.shard("b").setSilent(true);
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE);
    await().atMost(TIMEOUT).until(() -> cluster.shard("b").isOpen());
    cluster.shard("b").insert(5, 1);
    cluster.shard("a").add("drop", 10, 0);
    cluster.shard("a").insert(20, 2);
    int before = cluster.shard("a").reads();
    await().atMost(TIMEOUT).until(() -> cluster.shard("a").reads() > before + 10);
    assertThat(tokens()).isEmpty();
    cluster.shard("b").setSilent(false);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(tokens()).hasSize(3));
    assertThat(tokens()).isSorted();
  }

  /** Waits until the number of a shard's reads no longer grows. */
  private static void awaitSettled(ScriptedCluster.Shard shard) {
    AtomicInteger before = new AtomicInteger(-1);
    await()
        .atMost(TIMEOUT)
        .pollInterval(Duration.ofMillis(50))
        .until(
            () -> {
              int reads = shard.reads();
              return before.getAndSet(reads) == reads;
            });
  }

  @Test
  void eventsWaitForUnavailableConfigServers() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE);
    await().atMost(TIMEOUT).until(() -> cluster.shard("a").isOpen());
    cluster.failPlacements(new ReadFailure(Kind.PASSING, new IllegalStateException("down")));
    cluster.shard("a").insert(10, 1);
    int before = cluster.placements.get();
    await().atMost(TIMEOUT).until(() -> cluster.placements.get() > before + 2);
    assertThat(keys()).isEmpty();
    cluster.failPlacements(null);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(1));
  }

  @ParameterizedTest
  @EnumSource(Order.class)
  void resumesAfterBrokenStream(Order order) {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    subscribe(cluster, order, Long.MAX_VALUE);
    for (int i = 0; i < 60; i++) {
      cluster.shard("a").insert(10 + i / 3, i);
      if (i % 20 == 0) {
        cluster.shard("a").fail(Kind.PASSING);
        cluster.shard("b").fail(Kind.PASSING);
      }
    }
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).hasSize(60));
    assertThat(keys()).isEqualTo(IntStream.range(0, 60).boxed().toList());
    assertThat(cluster.shard("a").opened().size()).isGreaterThan(1);
  }

  @ParameterizedTest
  @EnumSource(Order.class)
  void resumesFromCheckpointWithoutDuplicates(Order order) {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    for (int i = 0; i < 40; i++) {
      cluster.shard(i % 2 == 0 ? "a" : "b").insert(10 + i / 4, i);
    }
    Subscription first = subscribe(cluster, order, 17);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).hasSize(17));
    first.cancel();
    // A scripted shard has only one cursor. The last request of the first subscription must have
    // ended before the second subscription starts.
    await().atMost(TIMEOUT).until(cluster::isClosed);
    awaitSettled(cluster.shard("a"));
    awaitSettled(cluster.shard("b"));
    Checkpoint place = given.get(16).checkpoint();
    cluster.startAt(Checkpoint.parse(place.toDocument()));
    subscribe(cluster, order, Long.MAX_VALUE);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).hasSize(40));
    assertThat(keys()).doesNotHaveDuplicates();
  }

  @Test
  void readsOnlyUpToBufferWithoutDemand() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    for (int i = 0; i < 1_000; i++) {
      cluster.shard("a").insert(10 + i, i);
    }
    BaseSubscriber<StreamEvent> subscriber = subscribe(cluster, Order.PER_KEY, 0);
    awaitSettled(cluster.shard("a"));
    // A batch has 10 events of more than 100 bytes each. The buffer has 2,000 bytes, so two batches
    // fill it.
    assertThat(cluster.shard("a").reads()).isLessThan(3);
    subscriber.request(1_000);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).hasSize(1_000));
    assertThat(keys()).isEqualTo(IntStream.range(0, 1_000).boxed().toList());
  }

  @Test
  void cancelClosesCursors() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    Subscription subscription = subscribe(cluster, Order.TOTAL, Long.MAX_VALUE);
    await().atMost(TIMEOUT).until(() -> cluster.shard("a").isOpen() && cluster.shard("b").isOpen());
    subscription.cancel();
    await()
        .atMost(TIMEOUT)
        .until(
            () ->
                !cluster.shard("a").isOpen() && !cluster.shard("b").isOpen() && cluster.isClosed());
  }

  @Test
  void failsWhenServerRejectsStream() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    cluster.shard("b").fail(Kind.FINAL);
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE);
    await().atMost(TIMEOUT).until(() -> failure != null);
    assertThat(failure).hasMessage("scripted FINAL");
    await().atMost(TIMEOUT).until(cluster::isClosed);
  }

  @Test
  void failsOnLostHistoryWithShardAndInterval() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    cluster.startAt(Checkpoint.before(Events.at(7)));
    cluster.shard("b").fail(Kind.HISTORY_LOST);
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE);
    await().atMost(TIMEOUT).until(() -> failure != null);
    assertThat(failure)
        .isInstanceOfSatisfying(
            HistoryLostException.class,
            lost -> {
              assertThat(lost.shard()).isEqualTo("b");
              assertThat(lost.from()).isEqualTo(Events.at(7));
              assertThat(lost.to()).isEqualTo(Events.at(51));
            });
  }

  @Test
  void emitsLostHistoryUnderContinuePolicy() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    cluster.shard("b").fail(Kind.HISTORY_LOST);
    cluster.shard("b").insert(60, 5);
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE, HistoryLostPolicy.CONTINUE);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(5));
    assertThat(given.get(0))
        .isInstanceOfSatisfying(
            StreamEvent.HistoryLost.class,
            lost -> {
              assertThat(lost.shard()).isEqualTo("b");
              assertThat(lost.to()).isEqualTo(Events.at(51));
            });
  }

  @Test
  void continuesAfterTooLargeEvent() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    for (int i = 0; i < 30; i++) {
      String token = cluster.shard("a").add("insert", 10 + i / 5, i);
      if (i == 13) {
        cluster.shard("a").tooLarge(token);
      }
    }
    subscribe(cluster, Order.TOTAL, Long.MAX_VALUE);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).hasSize(30));
    assertThat(keys()).isEqualTo(IntStream.range(0, 30).boxed().toList());
    assertThat(given)
        .filteredOn(event -> event instanceof StreamEvent.TooLarge)
        .singleElement()
        .isEqualTo(given.stream().filter(event -> key(event) == 13).findFirst().orElseThrow());
  }

  @Test
  void completesAfterInvalidateAndEarlierEvents() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    cluster.shard("b").insert(11, 1);
    cluster.shard("a").insert(10, 0);
    String drop = cluster.shard("a").add("drop", 12, 2);
    String invalidate = cluster.shard("a").add("invalidate", 12, 3);
    cluster.shard("b").add("drop", 14, 4);
    cluster.shard("b").add("invalidate", 14, 5);
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE);
    await().atMost(TIMEOUT).until(() -> completed);
    assertThat(tokens()).hasSize(4).isSorted().endsWith(drop, invalidate);
    await().atMost(TIMEOUT).until(cluster::isClosed);
  }

  /** The pipeline removes the invalidate event, as a {@code $match} for inserts does. */
  @ParameterizedTest
  @EnumSource(Order.class)
  void completesIfPipelineRemovesInvalidate(Order order) {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    cluster.shard("a").setHidesInvalidate(true);
    cluster.shard("b").setHidesInvalidate(true);
    cluster.shard("a").insert(10, 1);
    cluster.shard("b").insert(11, 2);
    String invalidate = cluster.shard("a").add("invalidate", 12, 3);
    cluster.shard("b").insert(13, 4);
    cluster.shard("b").add("invalidate", 14, 5);
    subscribe(cluster, order, Long.MAX_VALUE);
    await().atMost(TIMEOUT).until(() -> completed);
    StreamEvent last = given.get(given.size() - 1);
    assertThat(last).isInstanceOf(StreamEvent.Progress.class);
    assertThat(last.checkpoint().includes("a", invalidate)).isTrue();
    // All events before the invalidate event were emitted. With order per key, a later event may
    // have been emitted, too.
    assertThat(keys()).startsWith(1, 2).doesNotContain(3, 5);
    assertThat(cluster.shard("a").opened()).hasSize(1);
  }

  @Test
  void resumesAfterRemovedInvalidate() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a");
    cluster.shard("a").setHidesInvalidate(true);
    String invalidate = cluster.shard("a").add("invalidate", 12, 3);
    cluster.shard("a").insert(13, 7);
    cluster.startAt(Checkpoint.at(invalidate));
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(7));
    assertThat(completed).isFalse();
  }

  @Test
  void resumesAfterEmittedInvalidate() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a");
    String invalidate = cluster.shard("a").add("invalidate", 12, 3);
    cluster.shard("a").insert(13, 7);
    cluster.startAt(Checkpoint.at(invalidate));
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(7));
    assertThat(completed).isFalse();
  }

  @ParameterizedTest
  @EnumSource(Order.class)
  void readsAddedShardAndClosesRemovedShard(Order order) {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    subscribe(cluster, order, Long.MAX_VALUE);
    cluster.shard("a").insert(10, 0);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(0));
    cluster.addShard("c");
    cluster.shard("c").insert(1_000_000, 1);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(0, 1));
    ScriptedCluster.Shard removed = cluster.shard("b");
    removed.insert(1_500_000, 2);
    cluster.removeShard("b");
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(0, 1, 2));
    await().atMost(TIMEOUT).until(() -> !removed.isOpen());
    cluster.shard("a").insert(2_000_000, 3);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(0, 1, 2, 3));
  }

  @Test
  void failsIfStartPrecedesRemovalOfShard() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a");
    cluster.removed.put("b", Events.at(20));
    cluster.startAt(Checkpoint.before(Events.at(10)));
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE);
    await().atMost(TIMEOUT).until(() -> failure != null);
    assertThat(failure)
        .isInstanceOfSatisfying(
            HistoryLostException.class,
            lost -> {
              assertThat(lost.shard()).isEqualTo("b");
              assertThat(lost.from()).isEqualTo(Events.at(10));
              assertThat(lost.to()).isEqualTo(Events.at(20));
            });
    assertThat(given).isEmpty();
  }

  @Test
  void reportsLostHistoryOfRemovedShardAndContinues() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a");
    cluster.removed.put("b", Events.at(20));
    cluster.startAt(Checkpoint.before(Events.at(10)));
    cluster.shard("a").insert(30, 1);
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE, HistoryLostPolicy.CONTINUE);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(1));
    assertThat(given)
        .filteredOn(event -> event instanceof StreamEvent.HistoryLost)
        .singleElement()
        .isInstanceOfSatisfying(
            StreamEvent.HistoryLost.class, lost -> assertThat(lost.shard()).isEqualTo("b"));
  }

  @Test
  void positionAdvancesWithoutEvents() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE);
    cluster.shard("a").insert(500, 0);
    await()
        .atMost(TIMEOUT)
        .until(
            () -> {
              cluster.shard("b").advance().block();
              return given.stream()
                  .anyMatch(
                      event ->
                          event instanceof StreamEvent.Progress progress
                              && progress.checkpoint().clusterTime().getValue() >= 500);
            });
  }

  @ParameterizedTest
  @EnumSource(Order.class)
  void emitsWholeTransactions(Order order) {
    groupTransactions = true;
    buffer = 100_000;
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    subscribe(cluster, order, Long.MAX_VALUE);
    cluster.shard("a").insert(10, 0);
    cluster.shard("a").transaction(20, 7, IntStream.rangeClosed(1, 25).toArray());
    cluster.shard("b").transaction(21, 7, 26, 27);
    cluster.shard("a").insert(30, 28);
    // No event follows the last transaction. It is emitted completely, too.
    cluster.shard("a").transaction(40, 8, 29, 30);
    await().atMost(TIMEOUT).until(() -> transactions().size() == 3);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(0, 28));
    assertThat(transactions())
        .allSatisfy(
            each -> {
              assertThat(each.last()).isTrue();
              assertThat(each.changes())
                  .extracting(StreamEvent.Change::checkpoint)
                  .containsOnly(each.checkpoint());
            });
    assertThat(transactions().stream().filter(each -> each.shard().equals("a")))
        .extracting(StreamEvent.Transaction::txnNumber)
        .containsExactly(7L, 8L);
    assertThat(transactions())
        .filteredOn(each -> each.txnNumber() == 7)
        .extracting(each -> each.changes().size())
        .containsExactlyInAnyOrder(25, 2);
    assertThat(
            transactions().stream()
                .flatMap(each -> each.changes().stream())
                .map(MergedStreamTest::key)
                .toList())
        .containsExactlyInAnyOrderElementsOf(
            IntStream.rangeClosed(1, 30).filter(key -> key != 28).boxed().toList());
  }

  @Test
  void emitsReceivedPartOfInterruptedTransaction() {
    groupTransactions = true;
    buffer = 100_000;
    ScriptedCluster cluster = new ScriptedCluster(true, "a");
    ScriptedCluster.Shard shard = cluster.shard("a");
    shard.transaction(20, 7, IntStream.range(0, 15).toArray());
    shard.failAfterOpening(Kind.HISTORY_LOST);
    shard.insert(60, 99);
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE, HistoryLostPolicy.CONTINUE);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(99));
    assertThat(transactions())
        .singleElement()
        .satisfies(
            part -> {
              assertThat(part.changes()).hasSize(10);
              assertThat(part.last()).isFalse();
            });
    assertThat(given).filteredOn(event -> event instanceof StreamEvent.HistoryLost).hasSize(1);
  }

  @Test
  void emitsLargeTransactionInParts() {
    groupTransactions = true;
    ScriptedCluster cluster = new ScriptedCluster(true, "a");
    cluster.shard("a").transaction(20, 7, IntStream.range(0, 45).toArray());
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE);
    await()
        .atMost(TIMEOUT)
        .until(
            () ->
                !transactions().isEmpty() && transactions().get(transactions().size() - 1).last());
    assertThat(transactions().size()).isGreaterThan(2);
    assertThat(transactions().subList(0, transactions().size() - 1))
        .noneMatch(StreamEvent.Transaction::last);
    assertThat(
            transactions().stream()
                .flatMap(each -> each.changes().stream())
                .map(MergedStreamTest::key)
                .toList())
        .isEqualTo(IntStream.range(0, 45).boxed().toList());
  }

  private List<StreamEvent.Transaction> transactions() {
    synchronized (given) {
      return given.stream()
          .filter(event -> event instanceof StreamEvent.Transaction)
          .map(event -> (StreamEvent.Transaction) event)
          .toList();
    }
  }

  @Test
  void emitsSplitEventAsChange() {
    ScriptedCluster cluster = new ScriptedCluster(true, "a");
    cluster.shard("a").insert(10, 0);
    cluster.shard("a").tooLarge(cluster.shard("a").add("insert", 11, 1));
    cluster.shard("a").insert(12, 2);
    cluster.shard("a").setSplits(true);
    metering = registry;
    subscribe(cluster, Order.TOTAL, Long.MAX_VALUE);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(0, 1, 2));
    assertThat(tokens()).hasSize(3);
    assertThat(registry.find(StreamMeters.TOO_LARGE.meterName()).counter()).isNull();
  }

  @Test
  void metersReadsOfEachShard() {
    metering = registry;
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    cluster.startAt(Checkpoint.before(Events.seconds(100)));
    cluster.shard("a").setOplogBegin(Events.seconds(40));
    cluster.shard("b").setOplogBegin(null);
    cluster.shard("b").setIdleAdvances(false);
    Subscription subscription = subscribe(cluster, Order.TOTAL, Long.MAX_VALUE);
    cluster.shard("b").insert(Events.seconds(101).getValue(), 0);
    await().atMost(TIMEOUT).until(() -> cluster.shard("b").hasReportedEnd());
    // Shard a is now 19 s ahead of the other shard.
    cluster.shard("a").insert(Events.seconds(120).getValue(), 1);
    await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(gauge(StreamMeters.BEHIND, "b")).isEqualTo(19));
    assertThat(gauge(StreamMeters.BEHIND, "a")).isZero();
    await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(gauge(StreamMeters.AWAITED, "b")).isGreaterThan(0.05));
    assertThat(gauge(StreamMeters.AWAITED, "a")).isZero();
    cluster.shard("b").fail(Kind.PASSING);
    cluster.shard("b").setIdleAdvances(true);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).containsExactly(0, 1));
    await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(gauge(StreamMeters.AWAITED, "b")).isZero());
    await()
        .atMost(TIMEOUT)
        .ignoreException(MeterNotFoundException.class)
        .untilAsserted(() -> assertThat(gauge(StreamMeters.OPLOG_LEFT, "a")).isEqualTo(80));
    assertThat(registry.find(StreamMeters.OPLOG_LEFT.meterName()).tag("shard", "b").timeGauge())
        .isNull();
    for (String shard : List.of("a", "b")) {
      assertThat(counter(StreamMeters.EVENTS, shard)).isEqualTo(1);
      assertThat(counter(StreamMeters.BYTES, shard))
          .isEqualTo(Events.insert(1, shard, 0, 0).getByteBuffer().remaining());
      assertThat(counter(StreamMeters.REFILLS, shard)).isPositive();
    }
    assertThat(counter(StreamMeters.REOPENINGS, "b")).isEqualTo(1);
    assertThat(registry.find(StreamMeters.REOPENINGS.meterName()).tag("shard", "a").counter())
        .isNull();
    assertThat(
            registry
                .get(StreamMeters.PLACEMENTS.meterName())
                .tags("stream", "it.c", "outcome", "ok")
                .timer()
                .count())
        .isPositive();
    Timer released = registry.get(StreamMeters.LAG_RELEASED.meterName()).timer();
    assertThat(released.count()).isPositive();
    assertThat(released.max(TimeUnit.MILLISECONDS)).isGreaterThan(50);
    subscription.cancel();
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> assertThat(registry.getMeters()).noneMatch(meter -> meter instanceof TimeGauge));
  }

  @Test
  void measuresLagByWallTimeIfPresent() {
    MockClock clock = new MockClock();
    MeterRegistry measured = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
    metering = measured;
    ScriptedCluster cluster = new ScriptedCluster(true, "a");
    cluster.startAt(Checkpoint.before(Events.seconds(0)));
    long now = clock.wallTime();
    cluster.shard("a").insertAt(now - 30);
    subscribe(cluster, Order.PER_KEY, Long.MAX_VALUE);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).hasSize(1));
    assertThat(received(measured, "wallTime")).isEqualTo(30);
    cluster.shard("a").insert(Events.seconds(1).getValue(), 5);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).hasSize(2));
    // By the clock of this process, the commit time of the event is in the future. The lag counts
    // as 0.
    assertThat(received(measured, "clusterTime")).isZero();
    clock.add(Duration.ofSeconds(10));
    cluster.shard("a").insert(Events.seconds(2).getValue(), 6);
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(keys()).hasSize(3));
    assertThat(received(measured, "clusterTime")).isEqualTo((double) (clock.wallTime() - 2_000));
  }

  private static double received(MeterRegistry from, String commit) {
    return from.get(StreamMeters.LAG_RECEIVED.meterName())
        .tag("commit", commit)
        .timer()
        .totalTime(TimeUnit.MILLISECONDS);
  }

  private double gauge(StreamMeters meter, String shard) {
    return registry
        .get(meter.meterName())
        .tags("stream", "it.c", "shard", shard)
        .timeGauge()
        .value(TimeUnit.SECONDS);
  }

  private double counter(StreamMeters meter, String shard) {
    return registry.get(meter.meterName()).tags("stream", "it.c", "shard", shard).counter().count();
  }

  @Test
  void reportsStallWithItsCause() {
    metering = registry;
    List<StreamListener.Stall> stalls = Collections.synchronizedList(new ArrayList<>());
    List<StreamListener.Stall> ended = Collections.synchronizedList(new ArrayList<>());
    listener =
        new StreamListener() {
          @Override
          public void stalled(Stall stall) {
            stalls.add(stall);
          }

          @Override
          public void resumed(Stall stall) {
            ended.add(stall);
          }
        };
    stallAfter = Duration.ofMillis(200);
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    subscribe(cluster, Order.TOTAL, Long.MAX_VALUE);
    await().atMost(TIMEOUT).until(() -> cluster.shard("b").reads() > 0);
    cluster.shard("b").setSilent(true);
    await().atMost(TIMEOUT).until(cluster.shard("b")::isHeld);
    cluster.shard("a").insert(1_000, 1);
    await().atMost(TIMEOUT).until(() -> !stalls.isEmpty());
    assertThat(stalls.get(0).cause()).isEqualTo(StreamListener.Cause.SHARDS);
    assertThat(stalls.get(0).shards()).containsExactly("b");
    assertThat(stalls.get(0).clusterTime()).isGreaterThanOrEqualTo(Events.at(1_000));
    assertThat(stalls.get(0).duration()).isGreaterThanOrEqualTo(stallAfter);
    assertThat(
            registry
                .get(StreamMeters.STALLED.meterName())
                .tags("stream", "it.c")
                .timeGauge()
                .value(TimeUnit.SECONDS))
        .isGreaterThan(0.2);
    assertThat(ended).isEmpty();
    cluster.shard("b").setSilent(false);
    await().atMost(TIMEOUT).until(() -> !ended.isEmpty());
    assertThat(keys()).containsExactly(1);
    assertThat(stalls).hasSize(1);
    assertThat(ended).isEqualTo(stalls);
  }

  /** Errors of each kind that Reactor distinguishes. */
  static List<Error> errors() {
    return List.of(
        new Error("any"), new StackOverflowError("any"), new NoClassDefFoundError("any"));
  }

  @ParameterizedTest
  @MethodSource("errors")
  void subscriberErrorEndsStream(Error thrown) {
    ScriptedCluster cluster = new ScriptedCluster(true, "a", "b");
    new MergedStream(() -> cluster, settings(Order.PER_KEY, HistoryLostPolicy.FAIL), observation())
        .subscribe(
            new CoreSubscriber<>() {
              @Override
              public void onSubscribe(Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
              }

              @Override
              public void onNext(StreamEvent event) {
                if (event instanceof StreamEvent.Change) {
                  throw thrown;
                }
              }

              @Override
              public void onError(Throwable cause) {
                failure = cause;
              }

              @Override
              public void onComplete() {}
            });
    cluster.shard("a").insert(10, 1);
    await().atMost(TIMEOUT).until(cluster::isClosed);
    assertThat(failure).isSameAs(thrown);
    assertThat(stream.messages()).contains(ERROR + ": any");
  }

  private BaseSubscriber<StreamEvent> subscribe(ScriptedCluster cluster, Order order, long demand) {
    return subscribe(cluster, order, demand, HistoryLostPolicy.FAIL);
  }

  private BaseSubscriber<StreamEvent> subscribe(
      ScriptedCluster cluster, Order order, long demand, HistoryLostPolicy policy) {
    BaseSubscriber<StreamEvent> subscriber =
        new BaseSubscriber<>() {
          @Override
          protected void hookOnSubscribe(Subscription subscription) {
            ((Bursts) subscription).afterBurst(() -> burstEnds.add(completed ? -1 : given.size()));
            if (demand > 0) {
              request(demand);
            }
          }

          @Override
          protected void hookOnNext(StreamEvent event) {
            given.add(event);
          }

          @Override
          protected void hookOnError(Throwable cause) {
            failure = cause;
          }

          @Override
          protected void hookOnComplete() {
            completed = true;
          }
        };
    new MergedStream(() -> cluster, settings(order, policy), observation()).subscribe(subscriber);
    return subscriber;
  }

  private MergedStream.Observation observation() {
    return new MergedStream.Observation("it.c", metering, listener, stallAfter);
  }

  private MergeSettings settings(Order order, HistoryLostPolicy policy) {
    return new MergeSettings(
        order,
        policy,
        Duration.ofSeconds(1),
        heartbeatInterval,
        Duration.ofMillis(100),
        buffer,
        groupTransactions);
  }

  private List<Integer> keys() {
    synchronized (given) {
      return given.stream().map(MergedStreamTest::key).filter(key -> key >= 0).toList();
    }
  }

  private List<String> tokens() {
    synchronized (given) {
      return given.stream()
          .filter(event -> event instanceof StreamEvent.Change)
          .map(event -> ((StreamEvent.Change) event).token())
          .toList();
    }
  }

  private static int key(StreamEvent event) {
    if (event instanceof StreamEvent.Change change) {
      return change.document().getDocument("documentKey").getInt32("_id").getValue();
    }
    return event instanceof StreamEvent.TooLarge large
        ? large.event().getDocument("documentKey").getInt32("_id").getValue()
        : -1;
  }
}
