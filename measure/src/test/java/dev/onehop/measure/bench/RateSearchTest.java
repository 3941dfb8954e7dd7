package dev.onehop.measure.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RateSearchTest {
  private final List<Double> tried = new ArrayList<>();

  private RateSearch.Found search(double first, double highest) throws Exception {
    return new RateSearch(first, 1, 100_000)
        .run(
            rate -> {
              tried.add(rate);
              return rate <= highest;
            });
  }

  @ParameterizedTest
  @ValueSource(doubles = {1.5, 23, 99, 100, 101, 137, 4_711, 99_000})
  void bracketsTheHighestRateToFivePercent(double highest) throws Exception {
    RateSearch.Found found = search(100, highest);

    assertThat(found.holds()).isLessThanOrEqualTo(highest);
    assertThat(found.fails()).isGreaterThan(highest);
    assertThat(found.fails() / found.holds()).isLessThanOrEqualTo(1.05);
    assertThat(tried).doesNotHaveDuplicates().hasSizeLessThan(20);
  }

  @Test
  void doublesUntilItFails() throws Exception {
    search(100, 500);

    assertThat(tried).startsWith(100.0, 200.0, 400.0, 800.0, 566.0);
  }

  @Test
  void theEndsOfTheRangeAreTold() throws Exception {
    assertThat(search(100, 1e9)).isEqualTo(new RateSearch.Found(100_000.0, null));
    assertThat(search(100, 0)).isEqualTo(new RateSearch.Found(null, 1.0));
  }
}
