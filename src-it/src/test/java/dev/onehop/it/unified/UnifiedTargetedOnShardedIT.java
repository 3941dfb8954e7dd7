package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import org.junit.jupiter.api.Tag;

/** The specification tests: {@link Mode#TARGETED}, {@link ShardedDeployment}. */
@Tag("full")
class UnifiedTargetedOnShardedIT extends UnifiedOnSharded {
  UnifiedTargetedOnShardedIT() {
    super(Mode.TARGETED);
  }
}
