package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;

/** The specification tests: {@link Mode#PLAIN_SYNC}, {@link ShardedDeployment}. */
class UnifiedPlainSyncOnShardedIT extends UnifiedSuite {
  UnifiedPlainSyncOnShardedIT() {
    super(Mode.PLAIN_SYNC, ShardedDeployment::new);
  }
}
