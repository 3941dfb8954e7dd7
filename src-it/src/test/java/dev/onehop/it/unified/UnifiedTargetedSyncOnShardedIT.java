package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The specification tests: {@link Mode#TARGETED_SYNC}, {@link ShardedDeployment}. */
@EnabledIfSystemProperty(named = UnifiedSuite.ALL, matches = ".*")
class UnifiedTargetedSyncOnShardedIT extends UnifiedOnSharded {
  UnifiedTargetedSyncOnShardedIT() {
    super(Mode.TARGETED_SYNC);
  }
}
