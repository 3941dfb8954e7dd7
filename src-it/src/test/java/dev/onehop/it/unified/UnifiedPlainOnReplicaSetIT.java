package dev.onehop.it.unified;

/** The specification tests: {@link Mode#PLAIN}, {@link ReplicaSetDeployment}. */
class UnifiedPlainOnReplicaSetIT extends UnifiedSuite {
  UnifiedPlainOnReplicaSetIT() {
    super(Mode.PLAIN, ReplicaSetDeployment::new);
  }
}
