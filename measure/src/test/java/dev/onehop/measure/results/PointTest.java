package dev.onehop.measure.results;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class PointTest {

  @Test
  void pointOfSeveralRoundsIsMedian() {
    Point slow = SampleResults.point("async", 4, 5);
    Point middle = SampleResults.point("async", 5, 5);
    Point fast = SampleResults.point("async", 64, 100);

    Point point = Point.median(List.of(fast, slow, middle));

    assertThat(point.threads()).isEqualTo(5);
    assertThat(point.done().rounds())
        .containsExactly(fast.throughput(), slow.throughput(), middle.throughput());
    assertThat(Point.median(List.of(fast, slow)).throughput()).isEqualTo(slow.throughput());
    assertThat(Point.median(List.of(slow))).isEqualTo(slow);
  }

  @Test
  void pointHasFailuresOfAllRounds() {
    Point clean = SampleResults.point("async", 4, 5);
    Point failed = SampleResults.failing("async", 64, 5, 3);

    Point point = Point.median(List.of(failed, clean));

    assertThat(point.throughput()).isEqualTo(clean.throughput());
    assertThat(point.errors()).isEqualTo(3);
    assertThat(point.done().failures()).containsEntry("READ ERROR", 3L);
  }
}
