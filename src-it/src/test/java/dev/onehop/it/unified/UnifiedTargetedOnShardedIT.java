package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;

/** The specification tests: {@link Mode#TARGETED}, {@link ShardedDeployment}. */
class UnifiedTargetedOnShardedIT extends UnifiedOnSharded {
  UnifiedTargetedOnShardedIT() {
    super(Mode.TARGETED);
  }
}
