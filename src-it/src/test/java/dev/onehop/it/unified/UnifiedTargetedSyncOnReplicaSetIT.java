package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The specification tests: {@link Mode#TARGETED_SYNC}, {@link ReplicaSetDeployment}. */
@EnabledIfSystemProperty(named = UnifiedSuite.ALL, matches = ".*")
class UnifiedTargetedSyncOnReplicaSetIT extends UnifiedOnReplicaSet {
  UnifiedTargetedSyncOnReplicaSetIT() {
    super(Mode.TARGETED_SYNC);
  }
}
