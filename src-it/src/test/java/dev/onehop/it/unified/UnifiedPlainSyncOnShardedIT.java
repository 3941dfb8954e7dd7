package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The specification tests: {@link Mode#PLAIN_SYNC}, {@link ShardedDeployment}. */
@EnabledIfSystemProperty(named = UnifiedSuite.ALL, matches = ".*")
class UnifiedPlainSyncOnShardedIT extends UnifiedOnSharded {
  UnifiedPlainSyncOnShardedIT() {
    super(Mode.PLAIN_SYNC);
  }
}
