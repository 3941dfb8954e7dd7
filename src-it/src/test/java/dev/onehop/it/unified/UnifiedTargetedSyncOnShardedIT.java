package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;

/** The specification tests: {@link Mode#TARGETED_SYNC}, {@link ShardedDeployment}. */
class UnifiedTargetedSyncOnShardedIT extends UnifiedSuite {
  UnifiedTargetedSyncOnShardedIT() {
    super(Mode.TARGETED_SYNC, ShardedDeployment::new);
  }
}
