package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;

/** The specification tests: {@link Mode#DIRECT_SYNC}, {@link ShardedDeployment}. */
class UnifiedDirectSyncOnShardedIT extends UnifiedOnSharded {
  UnifiedDirectSyncOnShardedIT() {
    super(Mode.DIRECT_SYNC);
  }
}
