package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The specification tests: {@link Mode#PLAIN_SYNC}, {@link ReplicaSetDeployment}. */
@EnabledIfSystemProperty(named = UnifiedSuite.ALL, matches = ".*")
class UnifiedPlainSyncOnReplicaSetIT extends UnifiedOnReplicaSet {
  UnifiedPlainSyncOnReplicaSetIT() {
    super(Mode.PLAIN_SYNC);
  }
}
