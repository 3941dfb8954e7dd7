package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import org.junit.jupiter.api.Tag;

@Tag("full")
class UnifiedTargetedOnShardedIT extends UnifiedOnSharded {
  UnifiedTargetedOnShardedIT() {
    super(Mode.TARGETED);
  }
}
