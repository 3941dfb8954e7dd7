package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;

/** The specification tests: {@link Mode#PLAIN}, {@link ShardedDeployment}. */
class UnifiedPlainOnShardedIT extends UnifiedSuite {
  UnifiedPlainOnShardedIT() {
    super(Mode.PLAIN, ShardedDeployment::new);
  }
}
