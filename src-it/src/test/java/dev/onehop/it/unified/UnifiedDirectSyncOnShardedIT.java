package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import org.junit.jupiter.api.Tag;

@Tag("full")
class UnifiedDirectSyncOnShardedIT extends UnifiedOnSharded {
  UnifiedDirectSyncOnShardedIT() {
    super(Mode.DIRECT_SYNC);
  }
}
