package dev.onehop.measure.copying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.results.CopyBenchRun;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CopyBenchPlanTest {
  private static final Path PROGRAM = Path.of("program");

  private static List<String> titles(
      ClusterPair pair, int rounds, boolean quick, List<String> kinds, CopyTool... rivals) {
    Map<CopyTool, Path> programs = new HashMap<>();
    for (CopyTool rival : rivals) {
      programs.put(rival, PROGRAM);
    }
    CopyBenchPlan plan =
        new CopyBenchPlan(
            List.of(pair),
            kinds,
            1_000,
            List.of(1),
            1_000,
            100,
            Duration.ofSeconds(1),
            rounds,
            quick,
            null,
            programs,
            null,
            null);
    return plan.cells().stream().map(CopyCell::title).toList();
  }

  @Test
  void comparesWithPlainDriverByDefault() {
    assertThat(
            titles(
                ClusterPair.SHARDED, 1, true, List.of(CopyBenchRun.FULL, CopyBenchRun.INCREMENTAL)))
        .containsExactly(
            "incremental, sharded, round 1: onehop",
            "incremental, sharded, round 1: driver-one-mongos",
            "full, sharded, round 1: onehop",
            "full, sharded, round 1: driver-one-mongos");
  }

  @Test
  void startingToolAlternatesByRound() {
    assertThat(titles(ClusterPair.REPLICA_SET, 2, false, List.of(CopyBenchRun.FULL), CopyTool.PCSM))
        .containsExactly(
            "full, replica set, unmeasured: pcsm",
            "full, replica set, unmeasured: onehop",
            "full, replica set, round 1: onehop",
            "full, replica set, round 1: pcsm",
            "full, replica set, round 2: pcsm",
            "full, replica set, round 2: onehop");
  }

  @Test
  void oneHopAlternatesWithEachTool() {
    assertThat(
            titles(
                ClusterPair.REPLICA_SET,
                1,
                true,
                List.of(CopyBenchRun.LAG),
                CopyTool.MONGOSYNC,
                CopyTool.PCSM))
        .containsExactly(
            "lag, replica set, round 1: onehop",
            "lag, replica set, round 1: pcsm",
            "lag, replica set, round 2: onehop",
            "lag, replica set, round 2: mongosync");
  }

  @Test
  void omitsToolForUnsupportedPair() {
    assertThat(
            titles(
                ClusterPair.SHARDED_TO_REPLICA_SET,
                1,
                true,
                List.of(CopyBenchRun.FULL),
                CopyTool.PCSM))
        .containsExactly(
            "full, sharded to replica set, round 1: onehop",
            "full, sharded to replica set, round 1: driver-one-mongos");
  }

  @Test
  void verifyNeedsNoOtherTool() {
    assertThat(titles(ClusterPair.SHARDED, 1, true, List.of(CopyBenchRun.VERIFY)))
        .containsExactly("verify, sharded, round 1: onehop");
  }
}
