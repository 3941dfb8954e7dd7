package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;

/** The specification tests: {@link Mode#DIRECT}, {@link ShardedDeployment}. */
class UnifiedDirectOnShardedIT extends UnifiedSuite {
  UnifiedDirectOnShardedIT() {
    super(Mode.DIRECT, ShardedDeployment::new);
  }
}
