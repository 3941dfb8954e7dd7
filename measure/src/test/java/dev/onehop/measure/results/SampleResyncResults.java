package dev.onehop.measure.results;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Sample results of {@code onehop resync bench}. */
public final class SampleResyncResults {

  private static final LatencySummary LATENCY =
      new LatencySummary(500, 2_000, 1_500, 2_500, 3_000, 9_000, 20_000, 30_000);

  private SampleResyncResults() {}

  /**
   * Both methods with 0 and 5 indexes at two sizes. Copying files takes 5 s plus 4 s per gibibyte.
   * An initial sync takes 2 s plus 16 s per gibibyte; with indexes, 2 s plus 40 s per gibibyte.
   */
  public static ResyncResults all() {
    List<ResyncCell> cells = new ArrayList<>();
    for (int mebibytes : new int[] {512, 64}) {
      for (int indexes : new int[] {0, 5}) {
        cells.add(cell(ResyncCell.LOGICAL, indexes, mebibytes, 2, indexes == 0 ? 16 : 40));
        cells.add(cell(ResyncCell.FILES, indexes, mebibytes, 5, 4));
      }
    }
    return of(cells);
  }

  /** A run with these cells. */
  static ResyncResults of(List<ResyncCell> cells) {
    return ResyncResults.of(
        new Envelope(
            new RunFacts(
                "2026-11-21T10:30:00Z",
                "bin/onehop resync bench",
                true,
                null,
                cells.size(),
                new RunFacts.Load(
                    600_000,
                    "documents as of POCDriver",
                    Map.of(),
                    null,
                    List.of(),
                    3,
                    1,
                    null,
                    null)),
            TopologyFacts.here("replica set", List.of()),
            new ServerFacts("6.0.5", new ServerFacts.Router(ServerFacts.Router.NONE, ""), "6.0"),
            SampleResults.us2014().machine()),
        cells);
  }

  /**
   * A cell of three runs. Their time is a fixed time plus a time per gibibyte; two of them differ
   * from the first by 0.2 s.
   */
  static ResyncCell cell(
      String method, int indexes, int mebibytes, double fixed, double perGibibyte) {
    double seconds = fixed + perGibibyte * mebibytes / 1024;
    boolean files = method.equals(ResyncCell.FILES);
    return new ResyncCell(
        method,
        indexes,
        1,
        (long) mebibytes << 20,
        mebibytes * 1_000L,
        List.of(seconds, seconds + 0.2, seconds - 0.2),
        null,
        null,
        (long) mebibytes << 20,
        true,
        true,
        files ? 0.7 : null,
        false,
        900,
        0,
        LATENCY,
        files ? LATENCY : null,
        LATENCY,
        files ? LATENCY : null);
  }
}
