package dev.onehop.it.unified;

/** The specification tests: {@link Mode#PLAIN}, {@link ShardedDeployment}. */
class UnifiedPlainOnShardedIT extends UnifiedSuite {
  UnifiedPlainOnShardedIT() {
    super(Mode.PLAIN, ShardedDeployment::new);
  }
}
