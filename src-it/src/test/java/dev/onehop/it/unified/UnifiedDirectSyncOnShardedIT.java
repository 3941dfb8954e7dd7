package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import org.junit.jupiter.api.Tag;

/** The specification tests: {@link Mode#DIRECT_SYNC}, {@link ShardedDeployment}. */
@Tag("full")
class UnifiedDirectSyncOnShardedIT extends UnifiedOnSharded {
  UnifiedDirectSyncOnShardedIT() {
    super(Mode.DIRECT_SYNC);
  }
}
