package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

@EnabledIfSystemProperty(named = UnifiedSuite.ALL, matches = ".*")
class UnifiedDirectPipelinedOnShardedIT extends UnifiedOnSharded {
  UnifiedDirectPipelinedOnShardedIT() {
    super(Mode.DIRECT_PIPELINED);
  }
}
