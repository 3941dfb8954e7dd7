package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoTimeoutException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Properties;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

class WarmupTest {
  private final InMemoryStore store = new InMemoryStore();
  private final Tally tally = new Tally();

  @ParameterizedTest
  @CsvSource({"hashed, 1", "ordered, 1", "ordered, 8", "hashed, 25"})
  void readsKeysOfYcsb(String insertOrder, String zeroPadding) throws Exception {
    Properties properties = new Properties();
    properties.setProperty("recordcount", "20");
    properties.setProperty("insertstart", "5");
    properties.setProperty("insertcount", "15");
    properties.setProperty("insertorder", insertOrder);
    properties.setProperty("zeropadding", zeroPadding);
    Set<String> expected = new HashSet<>();
    Measurements.setProperties(properties); // a workload's constructor needs the properties
    KeyNames workload = new KeyNames();
    workload.init(properties);
    for (long number = 5; number < 20; number++) {
      expected.add(workload.buildKeyName(number));
    }

    Warmup warmup = new Warmup(store, properties);
    Set<String> drawn = new HashSet<>();
    for (int i = 0; i < 2_000; i++) {
      drawn.add(warmup.randomKey());
    }

    // After 2,000 draws, the probability that one of 15 keys is missing is 1 in 10^58.
    assertThat(drawn).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({"1, 32", "4, 8", "10, 4", "64, 1"})
  void usesExtraThreadsForSmallRun(String threads, long operations) {
    Properties properties = new Properties();
    properties.setProperty("threadcount", threads);

    new Warmup(store, properties).run(WarmupTime.fixed(Duration.ZERO), tally);

    assertThat(tally.warmupOperations()).isEqualTo(operations);
    assertThat(store.reads.get() + store.updates.get()).isEqualTo((int) operations);
  }

  @Test
  void runsUntilDeadlineWithoutMeasuring() {
    WarmupTime time = WarmupTime.fixed(Duration.ofMillis(20));

    new Warmup(store, new Properties()).run(time, tally);

    assertThat(System.nanoTime() - time.endNanos()).isNotNegative();
    assertThat(store.reads).hasPositiveValue();
    assertThat(store.updates).hasPositiveValue();
    assertThat(tally.warmupOperations()).isEqualTo(store.reads.get() + store.updates.get());
    assertThat(tally.operations()).isZero();
  }

  @Test
  void changesNoRecord() {
    Properties properties = new Properties();
    properties.setProperty("recordcount", "3");
    properties.setProperty("insertorder", "ordered");
    for (int number = 0; number < 3; number++) {
      store.insert("usertable", Documents.withKey("user" + number));
    }

    new Warmup(store, properties).run(WarmupTime.fixed(Duration.ofMillis(20)), tally);

    assertThat(store.updates).hasPositiveValue();
    assertThat(store.of("usertable").values()).allMatch(document -> document.size() == 1);
  }

  @Test
  void onlyReadsForReadOnlyWorkload() {
    Properties properties = new Properties();
    properties.setProperty("updateproportion", "0");

    new Warmup(store, properties).run(WarmupTime.fixed(Duration.ofMillis(20)), tally);

    assertThat(store.reads).hasPositiveValue();
    assertThat(store.updates).hasValue(0);
  }

  @Test
  void failedOperationEndsWarmup() {
    store.failure = new MongoTimeoutException("no server");

    assertThatThrownBy(
            () ->
                new Warmup(store, new Properties())
                    .run(WarmupTime.fixed(Duration.ofDays(1)), tally))
        .isSameAs(store.failure);
  }

  /** Shows the names. */
  private static final class KeyNames extends CoreWorkload {
    @Override
    protected String buildKeyName(long number) {
      return super.buildKeyName(number);
    }
  }
}
