package dev.onehop.streams.channel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

class BatchSizeTest {
  private static List<List<Long>> batches(int most, Long... sizes) {
    BatchSize size = new BatchSize(most);
    return Flux.just(sizes)
        .bufferUntil(next -> !size.takes(next), /* cutBefore= */ true)
        .collectList()
        .block();
  }

  @Test
  void excessEventStartsNextBatch() {
    assertThat(batches(3, 1L, 1L, 1L, 1L, 1L, 1L, 1L))
        .extracting(List::size)
        .containsExactly(3, 3, 1);
    long half = BatchSize.MOST_BYTES / 2;
    assertThat(batches(9, half, half, 1L, half, half))
        .extracting(List::size)
        .containsExactly(2, 2, 1);
  }

  @Test
  void firstEventAlwaysFits() {
    long large = BatchSize.MOST_BYTES + 1;
    assertThat(batches(9, large, large, 1L)).extracting(List::size).containsExactly(1, 1, 1);
  }
}
