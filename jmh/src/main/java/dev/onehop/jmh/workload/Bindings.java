package dev.onehop.jmh.workload;

import dev.onehop.ycsb.AsyncClient;
import dev.onehop.ycsb.DirectAsyncClient;
import dev.onehop.ycsb.DirectSyncClient;
import dev.onehop.ycsb.LegacyClient;
import dev.onehop.ycsb.TargetedAsyncClient;
import dev.onehop.ycsb.TargetedSyncClient;
import site.ycsb.DB;

/** The YCSB bindings by mode. */
final class Bindings {

  private Bindings() {}

  /** Creates the binding of one thread. */
  static DB of(String mode) {
    return switch (mode) {
      case "legacy" -> new LegacyClient();
      case "async" -> new AsyncClient();
      case "targeted-async" -> new TargetedAsyncClient();
      case "targeted-sync" -> new TargetedSyncClient();
      case "direct-async" -> new DirectAsyncClient();
      case "direct-sync" -> new DirectSyncClient();
      default -> throw new IllegalArgumentException("unknown mode \"%s\"".formatted(mode));
    };
  }
}
