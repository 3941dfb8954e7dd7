package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;

/** The specification tests: {@link Mode#TARGETED_SYNC}, {@link ReplicaSetDeployment}. */
class UnifiedTargetedSyncOnReplicaSetIT extends UnifiedSuite {
  UnifiedTargetedSyncOnReplicaSetIT() {
    super(Mode.TARGETED_SYNC, ReplicaSetDeployment::new);
  }
}
