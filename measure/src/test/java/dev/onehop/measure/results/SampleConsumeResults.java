package dev.onehop.measure.results;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.HdrHistogram.Histogram;

/** Sample results of {@code onehop consume}. */
public final class SampleConsumeResults {

  private SampleConsumeResults() {}

  /** Results of both sources for all kinds of points, without log files. */
  public static ConsumeResults all() {
    List<ConsumePoint> points = new ArrayList<>();
    for (int channels : new int[] {1, 4, 64}) {
      for (String source : List.of("mongos", "direct")) {
        points.add(point(source, channels, ConsumePoint.DRAIN));
        points.add(point(source, channels, ConsumePoint.LIVE));
      }
    }
    points.add(point("mongos", 1, ConsumePoint.IDLE));
    points.add(point("direct", 1, ConsumePoint.IDLE));
    Results bench = SampleResults.us2014();
    return new ConsumeResults(
        new Envelope(
            new RunFacts(
                "2026-11-21T10:30:00Z",
                "bin/onehop consume --quick",
                true,
                null,
                points.size(),
                new RunFacts.Load(
                    200_000, "rows of 220 bytes", Map.of(), null, List.of(), 1, 0, null, null)),
            bench.topology(),
            bench.server(),
            bench.machine()),
        points);
  }

  private static ConsumePoint point(String source, int channels, String kind) {
    boolean direct = source.equals("direct");
    double rate = (direct ? 180_000 : 60_000) - 100.0 * channels;
    boolean drain = kind.equals(ConsumePoint.DRAIN);
    LatencySummary lag = drain ? null : LatencySummary.of(lags(direct));
    return new ConsumePoint(
        source,
        direct && !kind.equals(ConsumePoint.IDLE) ? "key" : "total",
        channels,
        1,
        kind,
        200_000,
        drain ? 200_000 / rate : 12,
        rate,
        1e6 / rate,
        0.9,
        rate / 0.9,
        direct ? 0.0 : 0.8,
        1.1,
        200L << 20,
        rate * 430 * 8 / 1e6,
        drain ? null : 50_000.0,
        lag,
        lag,
        0,
        0,
        0,
        0,
        0,
        drain ? List.of(rate) : List.of(rate, rate * 0.98, rate * 1.01),
        "points/%s-%s-%03d".formatted(kind, source, channels));
  }

  private static Histogram lags(boolean direct) {
    Histogram lags = new Histogram(3);
    lags.setStartTimeStamp(1_700_000_000_000L);
    lags.setEndTimeStamp(1_700_000_001_000L);
    Random random = new Random(7);
    for (int i = 0; i < 5_000; i++) {
      lags.recordValue((long) ((direct ? 6_000 : 60_000) * (0.5 + random.nextDouble())));
    }
    return lags;
  }

  /** Writes the logs of the points' folders. */
  public static void writeLogs(ConsumeResults results, Path folder) throws Exception {
    for (ConsumePoint point : results.points()) {
      if (point.lag() != null) {
        Path its = Files.createDirectories(folder.resolve(point.folder()));
        HdrLogs.write(HdrLogs.file(its, "LAG"), lags(point.source().equals("direct")));
      }
    }
  }
}
