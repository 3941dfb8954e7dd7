package dev.onehop.measure.results;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Sample results of {@code onehop bench copy}. */
public final class SampleCopyBenchResults {

  private SampleCopyBenchResults() {}

  /**
   * Three rounds. OneHop makes full copies twice as fast as the other tool, and applies a backlog
   * 1.5 times as fast. Its lag is half of the other tool's lag.
   */
  public static CopyBenchResults all() {
    List<CopyBenchRun> runs = new ArrayList<>();
    for (int round = 1; round <= 3; round++) {
      for (String tool : List.of(CopyBenchRun.DRIVER, CopyBenchRun.ONEHOP)) {
        boolean ours = tool.equals(CopyBenchRun.ONEHOP);
        double disturbed = 1 + round / 100.0;
        runs.add(run(CopyBenchRun.FULL, tool, round, (ours ? 20_000 : 10_000) * disturbed, null));
        runs.add(
            run(CopyBenchRun.INCREMENTAL, tool, round, (ours ? 9_000 : 6_000) * disturbed, null));
        runs.add(run(CopyBenchRun.LAG, tool, round, 1_000, ours ? 40_000L : 80_000L));
      }
    }
    return of(runs);
  }

  /** One copy by each tool. The copy by the other tool is wrong. */
  public static CopyBenchResults withOneThatDiffers() {
    return of(
        List.of(
            run(CopyBenchRun.FULL, CopyBenchRun.DRIVER, 1, 100, null, false),
            run(CopyBenchRun.FULL, CopyBenchRun.ONEHOP, 1, 100, null, true)));
  }

  /** A run with these copies. */
  static CopyBenchResults of(List<CopyBenchRun> runs) {
    return new CopyBenchResults(
        new Envelope(
            new RunFacts(
                "2026-11-21T10:30:00Z",
                "bin/onehop bench copy",
                true,
                null,
                runs.size(),
                new RunFacts.Load(
                    100_000, "documents as of YCSB", Map.of(), null, List.of(), 3, 1, null, null)),
            TopologyFacts.here("three shards to three shards", List.of()),
            new ServerFacts("6.0.5", new ServerFacts.Router("mongos", "6.0.5"), "6.0"),
            SampleResults.us2014().machine()),
        runs);
  }

  /** A copy of 100,000 documents. OneHop uses three mongoses, the other tool uses one. */
  static CopyBenchRun run(
      String kind, String tool, int round, double perSecond, @Nullable Long p99) {
    return run(kind, tool, round, perSecond, p99, true);
  }

  private static CopyBenchRun run(
      String kind, String tool, int round, double perSecond, @Nullable Long p99, boolean equal) {
    boolean ours = tool.equals(CopyBenchRun.ONEHOP);
    Map<String, Long> even = Map.of("shard-1", 33_000L, "shard-2", 34_000L, "shard-3", 33_000L);
    return new CopyBenchRun(
        kind.equals(CopyBenchRun.FULL) ? CopyBenchRun.FULL : CopyBenchRun.INCREMENTAL,
        CopyBenchRun.SHARDED,
        CopyBenchRun.SHARDED,
        1,
        tool,
        round,
        100_000,
        0.4,
        100_000 / perSecond,
        perSecond,
        even,
        even,
        ours
            ? Map.of("a:1", 330.0, "b:1", 340.0, "c:1", 330.0)
            : Map.of("a:1", 1_000.0, "b:1", 0.0, "c:1", 0.0),
        ours ? 4 : 5,
        ours ? 1 : 6,
        8,
        300L << 20,
        12,
        equal,
        p99 == null
            ? null
            : new LatencySummary(
                20_000, p99 / 2.0, p99 / 2, p99 - 2, p99 - 1, p99, p99 * 2, p99 * 3),
        List.of(perSecond * 0.9, perSecond, perSecond * 1.1));
  }
}
