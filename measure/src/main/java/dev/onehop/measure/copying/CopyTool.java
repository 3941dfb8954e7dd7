package dev.onehop.measure.copying;

import dev.onehop.measure.results.CopyBenchRun;

/** How documents get from source to destination. */
enum CopyTool {
  /** One reader for each collection, all through one router, and writers through one router. */
  ONE(CopyBenchRun.ONE),
  /** OneHop's copy. */
  OURS(CopyBenchRun.OURS);

  private final String label;

  CopyTool(String label) {
    this.label = label;
  }

  /** Its name in results, and that of its database at the destination. */
  String label() {
    return label;
  }
}
