package dev.onehop.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyOperation;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterCopyTest {
  @Test
  void runThrowsCopyExceptionForEveryFailure() {
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

  /** A close at the end of a run must not interrupt the later work of the thread. */
  @Test
  void closeLeavesThreadUninterruptedAfterRun() {
    List<ClusterCopy> copies = new ArrayList<>();
    ClusterCopy copy =
        ClusterCopy.builder("mongodb://localhost/", "mongodb://localhost/")
            .fromSettings(
                settings -> {
                  copies.get(0).close();
                  throw new IllegalStateException("no key store");
                })
            .build();
    copies.add(copy);
    assertThatThrownBy(copy::run).isInstanceOf(CopyException.class);
    assertThat(Thread.interrupted()).isFalse();
  }

  /** An update may move a document to a part of the index that was read already. */
  @Test
  void readOrderNeedsUpdates() {
    ClusterCopy.Builder ordered =
        ClusterCopy.builder("mongodb://localhost/", "mongodb://localhost/")
            .orderBy("x")
            .operations(EnumSet.of(CopyOperation.INSERT));
    assertThatThrownBy(ordered::build).isInstanceOf(IllegalArgumentException.class);
  }
}
