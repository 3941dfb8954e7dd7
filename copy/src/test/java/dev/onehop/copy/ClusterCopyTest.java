package dev.onehop.copy;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.copy.progress.CopyException;
import org.junit.jupiter.api.Test;

class ClusterCopyTest {
  @Test
  void whateverEndsARunIsACopyException() {
    IllegalStateException cause = new IllegalStateException("no key store");
    try (ClusterCopy copy =
        ClusterCopy.builder("mongodb://localhost/", "mongodb://localhost/")
            .fromSettings(
                settings -> {
                  throw cause;
                })
            .build()) {
      assertThatThrownBy(copy::run)
          .isInstanceOf(CopyException.class)
          .hasMessage("no key store")
          .hasCause(cause);
    }
  }
}
