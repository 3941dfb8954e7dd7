package dev.onehop.jmh.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.jmh.check.Side.Iterations;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BarsTest {
  @Test
  void readsBothSidesOfBar() {
    List<Comparison> bars = Bars.of(BarredBenchmark.class);
    Comparison fast = bars.get(0);
    assertThat(fast.rounds()).isEqualTo(3);
    assertThat(fast.benchmark().benchmark()).isEqualTo("check.BarredBenchmark.a");
    assertThat(fast.baseline().benchmark()).isEqualTo("check.BarredBenchmark.b");
    assertThat(fast.benchmark().parameters()).isEqualTo(Map.of("size", "10", "kind", "x"));
    assertThat(fast.baseline().parameters()).isEqualTo(Map.of("size", "10", "kind", "y"));
    assertThat(fast.benchmark().warmup()).isEqualTo(new Iterations(3, 300));
    assertThat(fast.atLeast()).isEqualTo(1.5);
    assertThat(fast.moreBytes()).isNull();
    Comparison once = bars.get(1);
    assertThat(once.baseline().benchmark()).isEqualTo("check.BarredBenchmark.a");
    assertThat(once.moreBytes()).isEqualTo(512);
    assertThat(once.rounds()).isOne();
    assertThat(once.benchmark().warmup()).isEqualTo(fast.benchmark().warmup());
    assertThat(once.benchmark().measurement()).isEqualTo(new Iterations(1, 1));
  }

  @Test
  void readsBarsOfAllBenchmarks() {
    assertThat(Bars.all())
        .extracting(Comparison::name)
        .contains("routing-table lookup", "key encoding", "hashing", "targeting", "refresh")
        .contains("shared sockets", "wire codec", "workload")
        .doesNotHaveDuplicates();
  }

  /** A bar with a baseline that does not exist. */
  private static final class Wrong {
    @Bar(name = "hashing", baseline = "sha", atLeast = 1)
    @SuppressWarnings("unused")
    void string() {}
  }

  @Test
  void rejectsUnknownBaseline() {
    assertThatThrownBy(() -> Bars.of(Wrong.class))
        .isInstanceOf(BarsException.class)
        .hasMessage("bar \"hashing\" names check.BarsTest$Wrong.sha, which is not a benchmark");
  }
}
