package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;

/** The specification tests: {@link Mode#PLAIN}, {@link ReplicaSetDeployment}. */
class UnifiedPlainOnReplicaSetIT extends UnifiedSuite {
  UnifiedPlainOnReplicaSetIT() {
    super(Mode.PLAIN, ReplicaSetDeployment::new);
  }
}
