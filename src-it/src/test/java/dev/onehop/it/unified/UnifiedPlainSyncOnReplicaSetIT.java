package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;

/** The specification tests: {@link Mode#PLAIN_SYNC}, {@link ReplicaSetDeployment}. */
class UnifiedPlainSyncOnReplicaSetIT extends UnifiedSuite {
  UnifiedPlainSyncOnReplicaSetIT() {
    super(Mode.PLAIN_SYNC, ReplicaSetDeployment::new);
  }
}
