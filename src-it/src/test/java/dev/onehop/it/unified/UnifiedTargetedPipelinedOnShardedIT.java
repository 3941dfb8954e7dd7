package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

@EnabledIfSystemProperty(named = UnifiedSuite.ALL, matches = ".*")
class UnifiedTargetedPipelinedOnShardedIT extends UnifiedOnSharded {
  UnifiedTargetedPipelinedOnShardedIT() {
    super(Mode.TARGETED_PIPELINED);
  }
}
