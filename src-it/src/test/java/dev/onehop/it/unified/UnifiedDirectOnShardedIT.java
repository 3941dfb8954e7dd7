package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

@EnabledIfSystemProperty(named = UnifiedSuite.ALL, matches = ".*")
class UnifiedDirectOnShardedIT extends UnifiedOnSharded {
  UnifiedDirectOnShardedIT() {
    super(Mode.DIRECT);
  }
}
