package dev.onehop.measure.copying;

import dev.onehop.measure.copying.CopyCell.Scene;
import dev.onehop.measure.results.CopyBenchRun;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the copy bench.
 *
 * @param pairs the kinds of sources and destinations
 * @param kinds the kinds of {@link CopyBenchRun}, in the order of measurement
 * @param records the number of documents of all collections together
 * @param collections the numbers of collections that share the documents, measured one after the
 *     other
 * @param operations the number of inserts and updates of a backlog
 * @param rate the writes per second while lags are measured
 * @param duration the time for which lags are measured
 * @param rounds the number of measurements of each tool
 * @param quick whether all copies are so small that the optimizing compiler costs more than it
 *     saves
 * @param routerCpus the number of processors that each router may use; null for all
 * @param rivals the programs to compare OneHop with; empty for the plain driver
 * @param mongod the servers' program; null to search for one
 * @param mongos the routers' program; null to search for one, and to use the stand-in router if
 *     there is none
 */
public record CopyBenchPlan(
    List<ClusterPair> pairs,
    List<String> kinds,
    int records,
    List<Integer> collections,
    int operations,
    int rate,
    Duration duration,
    int rounds,
    boolean quick,
    @Nullable Double routerCpus,
    Map<CopyTool, Path> rivals,
    @Nullable Path mongod,
    @Nullable Path mongos) {

  /**
   * Returns all copies in their order. For each pair, the copies of changes come before the full
   * copies.
   */
  List<CopyCell> cells() {
    List<CopyCell> cells = new ArrayList<>();
    for (ClusterPair pair : pairs) {
      List<List<CopyTool>> groups = groups(pair);
      for (boolean changes : List.of(true, false)) {
        List<String> wanted = kinds.stream().filter(kind -> isOfChanges(kind) == changes).toList();
        for (int split : changes ? List.of(1) : collections) {
          for (List<CopyTool> tools : groups) {
            Scene scene = new Scene(pair, changes, split, tools);
            wanted.forEach(kind -> add(cells, scene, kind, rounds * groups.indexOf(tools)));
          }
        }
      }
    }
    return cells;
  }

  private static boolean isOfChanges(String kind) {
    return kind.equals(CopyBenchRun.INCREMENTAL) || kind.equals(CopyBenchRun.LAG);
  }

  /** Returns the groups of tools that copy in turn: OneHop with each of the other tools. */
  private List<List<CopyTool>> groups(ClusterPair pair) {
    List<List<CopyTool>> groups =
        rivals.keySet().stream()
            .sorted()
            .filter(rival -> rival.supports(pair))
            .map(rival -> List.of(rival, CopyTool.ONEHOP))
            .toList();
    if (!groups.isEmpty()) {
      return groups;
    }
    return List.of(
        kinds.contains(CopyBenchRun.VERIFY)
            ? List.of(CopyTool.ONEHOP)
            : List.of(CopyTool.DRIVER, CopyTool.ONEHOP));
  }

  /** Adds all rounds of a kind of copy. The numbers of the rounds start after {@code earlier}. */
  private void add(List<CopyCell> cells, Scene scene, String kind, int earlier) {
    List<CopyTool> turned = new ArrayList<>(scene.tools());
    Collections.reverse(turned);
    // Round 0 does not count: on a small machine, the JVMs' compilers use the processors during
    // this round.
    for (int round = quick ? 1 : 0; round <= rounds; round++) {
      for (CopyTool tool : round % 2 == 0 ? scene.tools() : turned) {
        cells.add(new CopyCell(scene, kind, round == 0 ? 0 : earlier + round, tool));
      }
    }
  }
}
