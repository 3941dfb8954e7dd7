package dev.onehop.measure.joining;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ResyncBenchTest {

  @Test
  void titleUsesSingularForOneCollection() {
    assertThat(new ResyncBench.Load(64, 1, 0).title()).isEqualTo("64 MiB, 1 collection, 0 indexes");
    assertThat(new ResyncBench.Load(8, 50, 1).title()).isEqualTo("8 MiB, 50 collections, 1 index");
  }
}
