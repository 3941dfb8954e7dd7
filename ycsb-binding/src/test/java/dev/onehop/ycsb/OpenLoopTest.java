package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.ycsb.LatencyLog.Kind;
import dev.onehop.ycsb.OpenLoopOptions.Arrivals;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import site.ycsb.ByteIterator;
import site.ycsb.Client;
import site.ycsb.StringByteIterator;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/** Compares times with wide margins, because the machine may be busy. */
class OpenLoopTest {
  private static final int RECORDS = 100;
  private static final Duration DRAIN = Duration.ofSeconds(3);

  private final InMemoryStore store = new InMemoryStore();
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private final Properties properties = new Properties();

  @TempDir Path folder;

  @BeforeEach
  void load() {
    properties.setProperty(Client.RECORD_COUNT_PROPERTY, String.valueOf(RECORDS));
    properties.setProperty(CoreWorkload.FIELD_COUNT_PROPERTY, "1");
    KeyPopulation keys =
        KeyPopulation.of(Map.of(Client.RECORD_COUNT_PROPERTY, String.valueOf(RECORDS)));
    for (int i = 0; i < RECORDS; i++) {
      ByteIterator value = new StringByteIterator("v");
      store.insert("usertable", Documents.record(keys.key(i), Map.of("field0", value))).block();
    }
  }

  /**
   * During the pause, the loop issues all operations that are due. A closed loop would issue only
   * one.
   */
  @Test
  void pauseShowsInIntendedLatencies() throws Exception {
    proportions("1", "0", "0");
    long begin = System.nanoTime();
    DocumentStore pausing =
        new Delegating(store) {
          @Override
          public Mono<BsonDocument> findOne(
              String collection, BsonDocument filter, @Nullable BsonDocument projection) {
            long now = System.nanoTime() - begin;
            long left = TimeUnit.SECONDS.toNanos(2) - now;
            Mono<BsonDocument> found = super.findOne(collection, filter, projection);
            return now < TimeUnit.SECONDS.toNanos(1) || left <= 0
                ? found
                : found.delaySubscription(Duration.ofNanos(left));
          }
        };

    OpenLoop loop = loop(options(200, 600, null, 1), pausing, false);
    RunSummary.Intended ended = loop.run(new PrintStream(printed));

    assertThat(ended).isEqualTo(new RunSummary.Intended(200, 600, 0, 0));
    Histogram latencies = loop.latencies(Kind.INTENDED).get("READ");
    assertThat(latencies.getTotalCount()).isEqualTo(600);
    // 200 operations are due during the pause, 100 of them in its first half.
    assertThat(latencies.getCountBetweenValues(500_000, 1_500_000)).isBetween(80L, 200L);
    assertThat(latencies.getValueAtPercentile(99)).isGreaterThan(900_000);
    assertThat(latencies.getValueAtPercentile(50)).isLessThan(500_000);
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .contains("[OVERALL], Intended, 600\n", "[READ], 99thPercentileLatency(us), ");
  }

  @Test
  void intendedLatencyIncludesWaitForThread() throws Exception {
    proportions("1", "0", "0");
    store.delay = Duration.ofMillis(50);
    DocumentStore slow =
        new Delegating(store) {
          @Override
          public boolean isBlocking() {
            return true;
          }

          @Override
          public Mono<BsonDocument> findOne(
              String collection, BsonDocument filter, @Nullable BsonDocument projection) {
            Mono<BsonDocument> found = super.findOne(collection, filter, projection);
            return Mono.fromCallable(() -> found.block());
          }
        };

    OpenLoop loop = loop(options(100, 40, null, 1), slow, true);
    loop.run(new PrintStream(printed));

    Histogram intended = loop.latencies(Kind.INTENDED).get("READ");
    Histogram service = loop.latencies(Kind.SERVICE).get("READ");
    assertThat(intended.getTotalCount()).isEqualTo(40);
    // The last operation is due after 0.4 s, and is issued after 1.95 s.
    assertThat(intended.getMaxValue()).isGreaterThan(1_400_000);
    assertThat(service.getValueAtPercentile(50)).isBetween(50_000L, 200_000L);
  }

  @Test
  void unansweredOperationsCountAsFailed() throws Exception {
    proportions("1", "0", "0");
    DocumentStore silent =
        new Delegating(store) {
          @Override
          public Mono<BsonDocument> findOne(
              String collection, BsonDocument filter, @Nullable BsonDocument projection) {
            return Mono.never();
          }
        };

    OpenLoop loop = loop(options(100, 10, null, 1), silent, false);
    RunSummary.Intended ended = loop.run(new PrintStream(printed));

    assertThat(ended).isEqualTo(new RunSummary.Intended(100, 10, 0, 10));
    assertThat(loop.tally().errors()).isEqualTo(10);
    assertThat(loop.latencies(Kind.INTENDED)).isEmpty();
    assertThat(loop.latencies(Kind.UNANSWERED).get("READ").getTotalCount()).isEqualTo(10);
  }

  @Test
  void operationsWithoutThreadAreNotIssued() throws Exception {
    proportions("1", "0", "0");
    CountDownLatch released = new CountDownLatch(1);
    DocumentStore stuck =
        new Delegating(store) {
          @Override
          public Mono<BsonDocument> findOne(
              String collection, BsonDocument filter, @Nullable BsonDocument projection) {
            return Mono.fromRunnable(() -> awaitQuietly(released));
          }
        };

    OpenLoop loop = loop(options(100, 10, null, 2), stuck, true);
    RunSummary.Intended ended = loop.run(new PrintStream(printed));
    released.countDown();

    assertThat(ended).isEqualTo(new RunSummary.Intended(100, 10, 8, 2));
    assertThat(loop.tally().errors()).isEqualTo(10);
  }

  /**
   * In an open loop, an insert returns before its reply. The record must not be read until the
   * reply.
   */
  @Test
  void recordIsNotReadBeforeInsertReply() throws Exception {
    proportions("0.5", "0", "0.5");
    properties.setProperty(CoreWorkload.REQUEST_DISTRIBUTION_PROPERTY, "latest");
    store.delay = Duration.ofMillis(100);

    OpenLoop loop = loop(options(500, 500, null, 1), store, false);
    loop.run(new PrintStream(printed));

    assertThat(loop.tally().operations()).isEqualTo(500);
    assertThat(loop.tally().errors()).isZero();
  }

  @Test
  void keepsRateWithPoissonArrivals() throws Exception {
    proportions("0.5", "0.5", "0");

    OpenLoop loop =
        loop(
            new OpenLoopOptions(
                400,
                Arrivals.POISSON,
                Long.MAX_VALUE,
                Duration.ofSeconds(2),
                1,
                null,
                DRAIN,
                false,
                1,
                1),
            store,
            false);
    RunSummary.Intended ended = loop.run(new PrintStream(printed));

    // The bounds are six standard deviations from 800.
    assertThat(ended.operations()).isBetween(630L, 970L);
    assertThat(loop.latencies(Kind.INTENDED)).containsOnlyKeys("READ", "UPDATE");
    assertThat(loop.tally().errors()).isZero();
  }

  @Test
  void writesLatenciesOfEachSecond() throws Exception {
    proportions("1", "0", "0");
    Path file = folder.resolve("latencies.hlog");

    loop(options(100, 250, file, 1), store, false).run(new PrintStream(printed));

    List<String> lines = Files.readAllLines(file);
    assertThat(lines).filteredOn(line -> line.startsWith("Tag=READ.intended,")).hasSize(3);
    assertThat(lines).filteredOn(line -> line.startsWith("Tag=READ.service,")).hasSize(3);
  }

  @Test
  void keepsRateWithBursts() throws Exception {
    proportions("1", "0", "0");
    OpenLoopOptions bursts =
        new OpenLoopOptions(
            500,
            Arrivals.CONSTANT,
            Long.MAX_VALUE,
            Duration.ofSeconds(1),
            1,
            null,
            DRAIN,
            false,
            50,
            1);

    RunSummary.Intended ended = loop(bursts, store, false).run(new PrintStream(printed));

    assertThat(ended.operations()).isEqualTo(500);
    assertThat(ended.notIssued() + ended.unanswered()).isZero();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void proportions(String reads, String updates, String inserts) {
    properties.setProperty(CoreWorkload.READ_PROPORTION_PROPERTY, reads);
    properties.setProperty(CoreWorkload.UPDATE_PROPORTION_PROPERTY, updates);
    properties.setProperty(CoreWorkload.INSERT_PROPORTION_PROPERTY, inserts);
  }

  private static OpenLoopOptions options(
      double rate, long operations, @Nullable Path latencies, int threads) {
    return new OpenLoopOptions(
        rate, Arrivals.CONSTANT, operations, null, threads, latencies, DRAIN, false, 1, 1);
  }

  private OpenLoop loop(OpenLoopOptions options, DocumentStore of, boolean blocking)
      throws Exception {
    Measurements.setProperties(properties);
    CoreWorkload workload = new CoreWorkload();
    workload.init(properties);
    return new OpenLoop(
        options,
        new IntendedOperations(workload, new Object(), new Operations(of, false)),
        null,
        blocking,
        null);
  }
}
