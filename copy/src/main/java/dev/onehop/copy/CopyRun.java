package dev.onehop.copy;

import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import java.time.Duration;
import java.util.List;

/** One run of a copy, phase by phase. */
final class CopyRun {
  private final CopySettings settings;

  CopyRun(CopySettings settings) {
    this.settings = settings;
  }

  void run() throws InterruptedException {
    throw new UnsupportedOperationException();
  }

  CopyProgress progress() {
    return new CopyProgress(
        settings.job(),
        CopyPhase.START,
        false,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        Duration.ZERO,
        null,
        null,
        List.of());
  }

  void close() {}
}
