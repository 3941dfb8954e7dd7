package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import org.junit.jupiter.api.BeforeAll;

/** On the shared cluster. */
@ShardedCluster
abstract class UnifiedOnSharded extends UnifiedSuite {
  UnifiedOnSharded(Mode mode) {
    super(mode);
  }

  @BeforeAll
  void use(SharedCluster cluster) {
    use(new ShardedDeployment(cluster.testbed()));
  }
}
