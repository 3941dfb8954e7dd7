package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The specification tests: {@link Mode#TARGETED_PIPELINED}, {@link ShardedDeployment}. */
@EnabledIfSystemProperty(named = UnifiedSuite.ALL, matches = ".*")
class UnifiedTargetedPipelinedOnShardedIT extends UnifiedOnSharded {
  UnifiedTargetedPipelinedOnShardedIT() {
    super(Mode.TARGETED_PIPELINED);
  }
}
