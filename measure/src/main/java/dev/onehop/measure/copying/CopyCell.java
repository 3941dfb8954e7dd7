package dev.onehop.measure.copying;

import dev.onehop.measure.frame.Bench;
import dev.onehop.measure.results.CopyBenchRun;
import java.util.List;

/**
 * A copy that is measured.
 *
 * @param scene what it needs
 * @param kind of {@link CopyBenchRun}
 * @param round the round, from 1 on; 0 is not kept
 * @param tool the tool that copies
 */
record CopyCell(Scene scene, String kind, int round, CopyTool tool) implements Bench.Cell {

  /**
   * What copies one after the other share: the clusters, the data and the tools that take turns.
   *
   * @param changes whether changes are copied, for which each tool copies everything first
   * @param collections how many collections share the documents
   * @param tools OneHop as the last, and another one before it, if there is one
   */
  record Scene(ClusterPair pair, boolean changes, int collections, List<CopyTool> tools) {}

  boolean isMeasured() {
    return round > 0;
  }

  @Override
  public String title() {
    return "%s, %s, %s: %s"
        .formatted(
            kind,
            scene.pair().label(),
            isMeasured() ? "round " + round : "unmeasured",
            tool.label());
  }
}
