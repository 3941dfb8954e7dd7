package dev.onehop.it.unified;

import dev.onehop.it.RealMongod;
import dev.onehop.it.SharedReplicaSet;
import dev.onehop.it.clients.Mode;
import org.junit.jupiter.api.BeforeAll;

@SharedReplicaSet
abstract class UnifiedOnReplicaSet extends UnifiedSuite {
  UnifiedOnReplicaSet(Mode mode) {
    super(mode);
  }

  @BeforeAll
  void use(RealMongod mongod) {
    use(new ReplicaSetDeployment(mongod));
  }
}
