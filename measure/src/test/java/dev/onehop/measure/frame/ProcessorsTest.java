package dev.onehop.measure.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProcessorsTest {
  private final List<String> pinned = new ArrayList<>();

  private Processors divide(int available, boolean possible) {
    return Processors.divide(
        available,
        (routers, mongods) -> {
          pinned.add(routers + " | " + mongods);
          return possible;
        });
  }

  @ParameterizedTest
  @CsvSource({"8, 0-1, 2-3 | 4-7", "11, 0-1, 2-3 | 4-10", "16, 0-3, 4-7 | 8-15"})
  void eachRoleHasItsOwnProcessors(int available, String client, String servers) {
    assertThat(divide(available, true).client()).isEqualTo(client);
    assertThat(pinned).containsExactly(servers);
  }

  @Test
  void fewProcessorsAreSharedAndReported() {
    assertThat(divide(7, true))
        .isEqualTo(
            new Processors(null, "client, routers, mongods and links share all 7 processors"));
    assertThat(pinned).isEmpty();
  }

  @Test
  void rolesShareProcessorsIfPinningFails() {
    assertThat(divide(8, false).client()).isNull();
  }
}
