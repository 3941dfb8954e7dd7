package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoTimeoutException;
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
  void itReadsTheKeysThatYcsbWouldName(String insertOrder, String zeroPadding) throws Exception {
    Properties properties = new Properties();
    properties.setProperty("recordcount", "20");
    properties.setProperty("insertstart", "5");
    properties.setProperty("insertcount", "15");
    properties.setProperty("insertorder", insertOrder);
    properties.setProperty("zeropadding", zeroPadding);
    Set<String> named = new HashSet<>();
    KeyNames workload = new KeyNames();
    Measurements.setProperties(properties);
    workload.init(properties);
    for (long number = 5; number < 20; number++) {
      named.add(workload.buildKeyName(number));
    }

    Warmup warmup = new Warmup(store, properties);
    Set<String> drawn = new HashSet<>();
    for (int i = 0; i < 2_000; i++) {
      drawn.add(warmup.randomKey());
    }

    // That one of 15 keys is missing after 2,000 draws has a chance of 1 in 10^58.
    assertThat(drawn).isEqualTo(named);
  }

  @Test
  void everyThreadReadsAtLeastOnce() {
    new Warmup(store, new Properties()).run(System.nanoTime() - 1, tally);

    assertThat(store.reads).hasValue(1);
    assertThat(tally.warmupOperations()).isEqualTo(1);
  }

  @Test
  void itReadsUntilTheDeadlineAndMeasuresNothing() {
    long end = System.nanoTime() + 20_000_000;

    new Warmup(store, new Properties()).run(end, tally);

    assertThat(System.nanoTime() - end).isNotNegative();
    assertThat(tally.warmupOperations()).isEqualTo(store.reads.get()).isPositive();
    assertThat(tally.operations()).isZero();
  }

  @Test
  void aReadThatFailsEndsIt() {
    store.failure = new MongoTimeoutException("no server");

    assertThatThrownBy(() -> new Warmup(store, new Properties()).run(Long.MAX_VALUE / 2, tally))
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
