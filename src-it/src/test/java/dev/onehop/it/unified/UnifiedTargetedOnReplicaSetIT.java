package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;

/** The specification tests: {@link Mode#TARGETED}, {@link ReplicaSetDeployment}. */
class UnifiedTargetedOnReplicaSetIT extends UnifiedSuite {
  UnifiedTargetedOnReplicaSetIT() {
    super(Mode.TARGETED, ReplicaSetDeployment::new);
  }
}
