package dev.onehop.testbed.evidence;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class OperationCountsTest {

  @Test
  void computesSharesOfDifference() {
    OperationCounts before = counts(Map.of("a", 100L, "b", 50L));
    OperationCounts after = counts(Map.of("a", 175L, "b", 75L, "c", 0L));
    OperationCounts between = after.since(before);
    assertThat(between.total()).isEqualTo(100);
    assertThat(between.shares())
        .containsExactlyInAnyOrderEntriesOf(Map.of("a", .75, "b", .25, "c", .0));
  }

  @Test
  void equalCountsHaveNoShares() {
    OperationCounts counts = counts(Map.of("a", 7L));
    assertThat(counts.since(counts).shares()).isEmpty();
  }

  @Test
  void emptySampleHasNoFraction() {
    assertThat(new LocalHits(counts(Map.of("a", 0L)), 0).fraction()).isEmpty();
    assertThat(new LocalHits(counts(Map.of("a", 3L, "b", 1L)), 2).fraction()).hasValue(0.5);
  }

  private static OperationCounts counts(Map<String, Long> counts) {
    return new OperationCounts(new TreeMap<>(counts));
  }
}
