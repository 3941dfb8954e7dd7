package dev.onehop.it.unified;

/** The specification tests: {@link Mode#DIRECT}, {@link ShardedDeployment}. */
class UnifiedDirectOnShardedIT extends UnifiedSuite {
  UnifiedDirectOnShardedIT() {
    super(Mode.DIRECT, ShardedDeployment::new);
  }
}
