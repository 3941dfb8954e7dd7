package dev.onehop.it.unified;

/** The specification tests: {@link Mode#TARGETED}, {@link ReplicaSetDeployment}. */
class UnifiedTargetedOnReplicaSetIT extends UnifiedSuite {
  UnifiedTargetedOnReplicaSetIT() {
    super(Mode.TARGETED, ReplicaSetDeployment::new);
  }
}
