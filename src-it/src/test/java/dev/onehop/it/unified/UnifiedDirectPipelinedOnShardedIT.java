package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The specification tests: {@link Mode#DIRECT_PIPELINED}, {@link ShardedDeployment}. */
@EnabledIfSystemProperty(named = UnifiedSuite.ALL, matches = ".*")
class UnifiedDirectPipelinedOnShardedIT extends UnifiedOnSharded {
  UnifiedDirectPipelinedOnShardedIT() {
    super(Mode.DIRECT_PIPELINED);
  }
}
