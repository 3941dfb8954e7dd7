package dev.onehop.measure.copying;

import dev.onehop.measure.frame.Bench;
import dev.onehop.measure.results.CopyBenchRun;
import java.util.List;

/**
 * A copy to measure.
 *
 * @param scene the clusters and data of the copy
 * @param kind the kind of {@link CopyBenchRun}
 * @param round the round, from 1 on; 0 for a warm-up, which does not count
 * @param tool the tool that copies
 */
record CopyCell(Scene scene, String kind, int round, CopyTool tool) implements Bench.Cell {

  /**
   * The clusters, data and tools of several copies, which run one after the other.
   *
   * @param changes whether changes are copied; each tool then makes a full copy first
   * @param collections the number of collections that share the documents
   * @param tools the other tool, if there is one, and OneHop as the last tool
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
