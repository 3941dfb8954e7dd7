package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

@EnabledIfSystemProperty(named = UnifiedSuite.ALL, matches = ".*")
class UnifiedPlainSyncOnReplicaSetIT extends UnifiedOnReplicaSet {
  UnifiedPlainSyncOnReplicaSetIT() {
    super(Mode.PLAIN_SYNC);
  }
}
