package dev.onehop.streams.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.onehop.core.bson.HashedKey;
import dev.onehop.core.bson.MalformedBsonException;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.merge.Bursts;
import dev.onehop.streams.observation.StreamMeters;
import dev.onehop.wire.CapturedLog;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class ChangeChannelsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  @RegisterExtension
  private final CapturedLog reactor =
      new CapturedLog(
          "reactor.core",
          "throwIfFatal detected a jvm fatal exception",
          "failed with an uncaught exception: thrown");

  @RegisterExtension
  private final CapturedLog errors =
      new CapturedLog(
          "dev.onehop.streams.channel",
          "the processing of the channels ends, because an error was thrown");

  @Test
  void eachChannelHasItsRangeOfHashes() {
    assertThat(Channels.ofHash(Long.MIN_VALUE, 4)).isZero();
    assertThat(Channels.ofHash(-1, 4)).isEqualTo(1);
    assertThat(Channels.ofHash(0, 4)).isEqualTo(2);
    assertThat(Channels.ofHash(Long.MAX_VALUE, 4)).isEqualTo(3);
    for (int count : List.of(1, 3, 64, 128)) {
      int[] sizes = new int[count];
      for (int key = 0; key < 20_000; key++) {
        int channel = Channels.of(change(key, key).document(), count);
        assertThat(channel).isEqualTo(Channels.ofHash(HashedKey.hash(new BsonInt32(key)), count));
        sizes[channel]++;
      }
      assertThat(sizes).doesNotContain(0);
      assertThat(Arrays.stream(sizes).max().orElseThrow()).isLessThan(2 * (20_000 / count) + 1);
    }
  }

  @Test
  void processesAllEventsInOrderOfEachKey() {
    Map<Integer, List<Integer>> seen = new ConcurrentHashMap<>();
    Set<Integer> busy = ConcurrentHashMap.newKeySet();
    Random random = new Random(1);
    List<StreamEvent> events = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      events.add(change(random.nextInt(50), i));
    }
    run(
        events,
        8,
        (channel, batch) -> {
          assertThat(busy.add(channel)).isTrue();
          for (StreamEvent.Change each : batch) {
            seen.computeIfAbsent(key(each), key -> Collections.synchronizedList(new ArrayList<>()))
                .add(value(each));
          }
          busy.remove(channel);
          return Mono.empty();
        });
    assertThat(seen.values().stream().mapToInt(List::size).sum()).isEqualTo(5_000);
    assertThat(seen.values()).allSatisfy(values -> assertThat(values).isSorted());
  }

  @Test
  void processesBurstAsOneBatch() {
    List<StreamEvent> events = List.of(change(1, 1), change(1, 2), change(1, 3));
    Publisher<StreamEvent> source =
        subscriber ->
            subscriber.onSubscribe(
                new Bursts() {
                  private Runnable end = () -> {};
                  private boolean given;

                  @Override
                  public void afterBurst(Runnable task) {
                    end = task;
                  }

                  @Override
                  public void request(long n) {
                    if (!given) {
                      given = true;
                      events.forEach(subscriber::onNext);
                      end.run();
                      subscriber.onComplete();
                    }
                  }

                  @Override
                  public void cancel() {}
                });
    List<Integer> batches = Collections.synchronizedList(new ArrayList<>());
    Mono.from(
            ChangeChannels.builder(source, 1)
                .build()
                .process(
                    (channel, batch) -> {
                      batches.add(batch.size());
                      return Mono.empty();
                    }))
        .block(TIMEOUT);
    assertThat(batches).containsExactly(3);
  }

  @Test
  void processesWideEventAloneAndInOrder() {
    List<StreamEvent> events = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      events.add(i == 100 || i == 101 ? drop(i) : change(i, i));
    }
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    AtomicInteger active = new AtomicInteger();
    run(
        events,
        16,
        (channel, batch) -> {
          active.incrementAndGet();
          for (StreamEvent.Change each : batch) {
            if (value(each) == 100 || value(each) == 101) {
              assertThat(active).hasValue(1);
              assertThat(channel).isZero();
            }
            order.add(value(each));
          }
          active.decrementAndGet();
          return Mono.empty();
        });
    assertThat(order).hasSize(300);
    assertThat(order.subList(0, 100)).allMatch(value -> value < 100);
    assertThat(order.subList(100, 102)).containsExactly(100, 101);
    assertThat(order.subList(102, 300)).allMatch(value -> value > 101);
  }

  @Test
  void acknowledgedPositionWaitsForSlowestChannel() {
    Sinks.Empty<Void> slow = Sinks.empty();
    List<Checkpoint> places = Collections.synchronizedList(new ArrayList<>());
    List<StreamEvent> events = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      events.add(change(i, i));
    }
    AtomicInteger processed = new AtomicInteger();
    Disposable running =
        Mono.from(
                ChangeChannels.builder(Flux.fromIterable(events), 8)
                    .maxBatch(1)
                    .acknowledged(places::add, Duration.ZERO)
                    .build()
                    .process(
                        (channel, batch) -> {
                          processed.incrementAndGet();
                          return value(batch.get(0)) == 50 ? slow.asMono() : Mono.empty();
                        }))
            .subscribe();
    int stuck = Channels.of(change(50, 50).document(), 8);
    long rest =
        events.stream()
            .map(event -> (StreamEvent.Change) event)
            .filter(each -> value(each) > 50 && Channels.of(each.document(), 8) == stuck)
            .count();
    await().atMost(TIMEOUT).until(() -> processed.get() == 200 - rest);
    assertThat(places).allMatch(place -> place.clusterTime().getValue() < 1_050);
    slow.tryEmitEmpty().orThrow();
    await().atMost(TIMEOUT).until(running::isDisposed);
    assertThat(places.get(places.size() - 1)).isEqualTo(Checkpoint.before(time(199)));
    assertThat(places).extracting(place -> place.clusterTime().getValue()).isSorted();
  }

  @Test
  void limitsUnacknowledgedEvents() {
    AtomicLong asked = new AtomicLong();
    Disposable running =
        Mono.from(
                ChangeChannels.builder(
                        Flux.range(0, 10_000)
                            .map(i -> change(i, i))
                            .cast(StreamEvent.class)
                            .doOnRequest(asked::addAndGet),
                        4)
                    .maxUnacknowledged(100)
                    .build()
                    .process((channel, batch) -> Mono.never()))
            .subscribe();
    assertThat(asked).hasValue(100);
    running.dispose();
  }

  @Test
  void limitsUnacknowledgedBytes() {
    StreamEvent large = large(1 << 20);
    AtomicInteger arrived = new AtomicInteger();
    AtomicInteger processing = new AtomicInteger();
    Sinks.Empty<Void> slow = Sinks.empty();
    Disposable running =
        Mono.from(
                ChangeChannels.builder(
                        Flux.range(0, 3_000)
                            .map(i -> large)
                            .doOnNext(event -> arrived.incrementAndGet()),
                        4)
                    .build()
                    .process(
                        (channel, batch) -> {
                          processing.addAndGet(batch.size());
                          return slow.asMono();
                        }))
            .subscribe();
    await().atMost(TIMEOUT).until(() -> processing.get() > 0);
    assertThat(arrived).hasValueBetween(64, (int) (Demand.MOST_BYTES >> 20) + Demand.AT_ONCE);
    slow.tryEmitEmpty().orThrow();
    await().atMost(TIMEOUT).until(running::isDisposed);
    assertThat(processing).hasValue(3_000);
  }

  @Test
  void limitsBytesOfBatch() {
    List<StreamEvent> events = new ArrayList<>(Collections.nCopies(7, large(6 << 20)));
    events.add(large(17 << 20));
    events.addAll(Collections.nCopies(3, large(6 << 20)));
    List<Integer> sizes = Collections.synchronizedList(new ArrayList<>());
    run(
        events,
        1,
        (channel, batch) -> {
          sizes.add(batch.size());
          assertThat(batch.stream().mapToLong(Channels::bytes).sum())
              .isLessThanOrEqualTo(batch.size() == 1 ? Long.MAX_VALUE : BatchSize.MOST_BYTES);
          return Mono.empty();
        });
    assertThat(sizes.stream().mapToInt(Integer::intValue).sum()).isEqualTo(11);
    assertThat(sizes).contains(2);
  }

  private static StreamEvent large(int bytes) {
    return change(
        new BsonDocument("operationType", new BsonString("insert"))
            .append("documentKey", new BsonDocument("_id", new BsonInt32(1)))
            .append("filler", new BsonString("x".repeat(bytes))),
        1);
  }

  @Test
  void processorFailureEndsProcessing() {
    Flux<StreamEvent> endless = Flux.range(0, Integer.MAX_VALUE).map(i -> change(i, i));
    assertThatThrownBy(
            () ->
                Mono.from(
                        ChangeChannels.builder(endless, 4)
                            .build()
                            .process(
                                (channel, batch) ->
                                    Mono.error(new IllegalStateException("the sink is full"))))
                    .block(TIMEOUT))
        .hasMessage("the sink is full");
  }

  /**
   * Errors of each kind. Reactor throws some of them directly and does not pass them to the
   * subscriber.
   */
  static List<Error> errors() {
    return List.of(
        new Error("thrown"), new StackOverflowError("thrown"), new NoClassDefFoundError("thrown"));
  }

  @ParameterizedTest
  @MethodSource("errors")
  void processorErrorEndsProcessing(Error thrown) {
    for (ChannelProcessor processor :
        List.<ChannelProcessor>of(
            (channel, batch) -> {
              throw thrown;
            },
            (channel, batch) ->
                Mono.fromRunnable(
                    () -> {
                      throw thrown;
                    }))) {
      Flux<StreamEvent> endless = Flux.range(0, Integer.MAX_VALUE).map(i -> change(i, i));
      assertThatThrownBy(
              () ->
                  Mono.from(ChangeChannels.builder(endless, 4).build().process(processor))
                      .block(TIMEOUT))
          .satisfies(failure -> assertThat(Exceptions.unwrap(failure)).isSameAs(thrown));
    }
    assertThat(errors.messages()).hasSize(2);
  }

  @Test
  void doesNotInterruptThreadAtEnd() throws InterruptedException {
    for (Duration interval : List.of(Duration.ZERO, Duration.ofHours(1))) {
      Sinks.One<Boolean> interrupted = Sinks.one();
      Mono.from(
              ChangeChannels.builder(Flux.just(change(1, 1)), 4)
                  .acknowledged(place -> {}, interval)
                  .build()
                  .process((channel, batch) -> Mono.empty()))
          .subscribe(
              nothing -> {},
              interrupted::tryEmitError,
              () -> interrupted.tryEmitValue(Thread.currentThread().isInterrupted()));
      assertThat(interrupted.asMono().block(TIMEOUT)).isFalse();
    }
  }

  @Test
  void lostHistoryFailsUnlessProcessorHandlesIt() {
    StreamEvent lost =
        new StreamEvent.HistoryLost("a", time(1), time(2), Checkpoint.before(time(2)));
    assertThatThrownBy(() -> run(List.of(lost), 4, (channel, batch) -> Mono.empty()))
        .hasMessageContaining("lost");
    List<StreamEvent> taken = new ArrayList<>();
    run(
        List.of(change(1, 1), lost, change(2, 2)),
        4,
        new ChannelProcessor() {
          @Override
          public Mono<Void> process(int channel, List<StreamEvent.Change> events) {
            return Mono.empty();
          }

          @Override
          public Mono<Void> notice(StreamEvent notice) {
            taken.add(notice);
            return Mono.empty();
          }
        });
    assertThat(taken).containsExactly(lost);
  }

  @Test
  void processesTransactionAloneAndInOrder() {
    List<StreamEvent> events = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      events.add(i == 100 ? transaction(i, 40) : change(i, i));
    }
    List<List<Integer>> batches = Collections.synchronizedList(new ArrayList<>());
    AtomicInteger active = new AtomicInteger();
    run(
        events,
        16,
        (channel, batch) -> {
          active.incrementAndGet();
          if (value(batch.get(0)) == 100) {
            assertThat(active).hasValue(1);
            assertThat(channel).isZero();
          }
          batches.add(batch.stream().map(ChangeChannelsTest::value).toList());
          active.decrementAndGet();
          return Mono.empty();
        });
    List<Integer> order = batches.stream().flatMap(List::stream).toList();
    assertThat(order).hasSize(339);
    assertThat(order.subList(0, 100)).allMatch(value -> value < 100);
    assertThat(batches).contains(Collections.nCopies(40, 100));
    assertThat(order.subList(140, 339)).allMatch(value -> value > 100);
  }

  private static StreamEvent transaction(int value, int changes) {
    return new StreamEvent.Transaction(
        "a",
        new BsonDocument(),
        1,
        IntStream.range(0, changes).mapToObj(key -> change(key, value)).toList(),
        true,
        Checkpoint.before(time(value)));
  }

  @Test
  void measuresAndObservesBatches() {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    ObservationRegistry observations = ObservationRegistry.create();
    Map<String, Integer> observed = new ConcurrentHashMap<>();
    Queue<Object> current = new ConcurrentLinkedQueue<>();
    observations
        .observationConfig()
        .observationHandler(
            new ObservationHandler<>() {
              @Override
              public void onStop(Observation.Context context) {
                observed.merge(
                    context.getName() + context.getLowCardinalityKeyValue("channel").getValue(),
                    Integer.parseInt(context.getHighCardinalityKeyValue("events").getValue()),
                    Integer::sum);
              }

              @Override
              public boolean supportsContext(Observation.Context context) {
                return true;
              }
            });
    List<StreamEvent> events = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      events.add(change(i, i));
    }
    AtomicInteger batches = new AtomicInteger();
    Mono.from(
            ChangeChannels.builder(Flux.fromIterable(events), 4)
                .meterRegistry(meters)
                .observationRegistry(observations)
                .build()
                .process(
                    (channel, batch) -> {
                      batches.incrementAndGet();
                      return Mono.deferContextual(
                          context -> {
                            current.add(context.get("micrometer.observation"));
                            // The delay makes the lag greater than 0.
                            return Mono.<Void>empty().delaySubscription(Duration.ofMillis(5));
                          });
                    }))
        .block(TIMEOUT);
    Timer lag = meters.get(StreamMeters.LAG_ACKNOWLEDGED.meterName()).timer();
    assertThat(lag.count()).isEqualTo(batches.get());
    assertThat(lag.max(TimeUnit.MILLISECONDS)).isGreaterThanOrEqualTo(5);
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () ->
                assertThat(observed.values().stream().mapToInt(Integer::intValue).sum())
                    .isEqualTo(200));
    assertThat(observed.keySet())
        .containsExactlyInAnyOrder(
            "onehop.stream.batch0",
            "onehop.stream.batch1",
            "onehop.stream.batch2",
            "onehop.stream.batch3");
    assertThat(current).hasSize(batches.get()).allMatch(each -> each instanceof Observation);
  }

  @Test
  void rejectsInvalidNumberOfChannels() {
    for (int count : List.of(0, -1, 129)) {
      assertThatThrownBy(() -> ChangeChannels.builder(Flux.empty(), count))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("from 1 to 128");
    }
  }

  /** Each channel blocks its thread until the last channel has arrived. */
  @Test
  void blockedChannelsDoNotDelayOthers() {
    int count = 16;
    CountDownLatch all = new CountDownLatch(count);
    Set<Integer> met = ConcurrentHashMap.newKeySet();
    run(
        IntStream.range(0, 1_000).<StreamEvent>mapToObj(i -> change(i, i)).toList(),
        count,
        (channel, batch) ->
            Mono.fromRunnable(
                () -> {
                  all.countDown();
                  try {
                    if (all.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
                      met.add(channel);
                    }
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                }));
    assertThat(met).hasSize(count);
  }

  private static void run(List<StreamEvent> events, int channels, ChannelProcessor processor) {
    Mono.from(
            ChangeChannels.builder(Flux.fromIterable(events), channels).build().process(processor))
        .block(TIMEOUT);
  }

  private static BsonTimestamp time(int value) {
    return new BsonTimestamp(1_000L + value);
  }

  private static StreamEvent.Change change(int key, int value) {
    return change(
        new BsonDocument("operationType", new BsonString("insert"))
            .append("documentKey", new BsonDocument("_id", new BsonInt32(key)))
            .append("value", new BsonInt32(value)),
        value);
  }

  /** The events behind a wide event get their channels on a thread where no caller sees errors. */
  @Test
  void malformedEventAfterWideEventEndsProcessing() {
    StreamEvent malformed =
        new StreamEvent.Change(
            "a",
            "",
            new RawBsonDocument(new byte[] {9, 0, 0, 0, 99, 'a', 0, 0, 0}),
            0,
            Checkpoint.before(time(2)));
    Mono<Void> processing =
        Mono.from(
            ChangeChannels.builder(Flux.concat(Flux.just(drop(1), malformed), Flux.never()), 2)
                .build()
                .process((channel, events) -> Mono.empty()));
    assertThatThrownBy(() -> processing.block(TIMEOUT)).isInstanceOf(MalformedBsonException.class);
  }

  private static StreamEvent.Change drop(int value) {
    return change(
        new BsonDocument("operationType", new BsonString("drop"))
            .append("value", new BsonInt32(value)),
        value);
  }

  private static StreamEvent.Change change(BsonDocument event, int value) {
    return new StreamEvent.Change(
        "a",
        "",
        new RawBsonDocument(event, new BsonDocumentCodec()),
        0,
        Checkpoint.before(time(value)));
  }

  private static int key(StreamEvent.Change change) {
    return change.document().getDocument("documentKey").getInt32("_id").getValue();
  }

  private static int value(StreamEvent.Change change) {
    return change.document().getInt32("value").getValue();
  }
}
