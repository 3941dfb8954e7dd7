package dev.onehop.measure.results;

import dev.onehop.measure.results.ShardLatencies.Phase;
import dev.onehop.measure.results.TopologyFacts.HostFacts;
import dev.onehop.measure.results.TopologyFacts.RoundTrips;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/** Sample results. The figures are computed for a closed loop, with noise from a fixed seed. */
public final class SampleResults {

  private static final double MEAN_ROUND_TRIP = 43.5;

  private SampleResults() {}

  /** Eleven points in the topology us-2014, without log files. */
  public static Results us2014() {
    return us2014(topology());
  }

  /** The same points as {@link #us2014()}, with other round trips. */
  public static Results us2014(TopologyFacts topology) {
    List<Point> points = new ArrayList<>();
    for (int threads : new int[] {1, 16, 64}) {
      for (String mode : List.of("legacy", "async", "targeted-async")) {
        points.add(point(mode, threads, 5));
      }
    }
    points.add(point("legacy", 64, 100));
    points.add(point("async", 64, 100));
    return new Results(
        new Envelope(
            new RunFacts(
                "2026-11-21T10:30:00Z",
                "bin/onehop bench --quick",
                true,
                null,
                11,
                new RunFacts.Load(
                    10_000,
                    "workloada",
                    Map.of(),
                    new RunFacts.Placement(Map.of("or1", 3334L, "ca1", 3333L, "va2", 3333L), 0),
                    List.of(),
                    1,
                    7,
                    "client, routers, mongods and links share all 2 processors",
                    null)),
            topology,
            new ServerFacts("6.0.5", new ServerFacts.Router("stand-in", "0.1.0"), "6.0"),
            new MachineFacts(
                "A processor",
                2,
                24_000,
                "Linux 6.18 amd64",
                "17.0.15",
                "0.1.0",
                "abc",
                "5.8.0",
                "0.17.0")),
        points);
  }

  /** The topology of the experiment of 2014. */
  public static TopologyFacts topology() {
    Map<String, Double> configured = new LinkedHashMap<>();
    configured.put("va1-va2", 0.6);
    configured.put("va1-or1", 68.0);
    configured.put("va1-ca1", 62.0);
    configured.put("va2-or1", 68.0);
    configured.put("va2-ca1", 62.0);
    configured.put("or1-ca1", 22.0);
    return new TopologyFacts(
        "us-2014",
        "va1",
        List.of("va", "or", "ca"),
        new RoundTrips(configured, Map.of("va1-va2", 0.7, "va1-or1", 68.2, "va1-ca1", 62.1)),
        List.of(
            new HostFacts("va1", "va", List.of("client", "config", "router")),
            new HostFacts("va2", "va", List.of("router", "shard va2")),
            new HostFacts("or1", "or", List.of("router", "shard or1")),
            new HostFacts("ca1", "ca", List.of("router", "shard ca1"))));
  }

  /** One point, computed by the arithmetic of a closed loop through one or more pools. */
  public static Point point(String mode, int threads, int connections) {
    return point(mode, threads, connections, 1, 0);
  }

  /** {@link #point} with failed reads. */
  static Point failing(String mode, int threads, int connections, long errors) {
    return point(mode, threads, connections, 1, errors);
  }

  private static Point round(Point point, double factor) {
    return point(point.client().mode(), point.threads(), point.client().connections(), factor, 0);
  }

  private static Point point(
      String mode, int threads, int connections, double factor, long errors) {
    int pools = mode.startsWith("targeted") ? 2 : 1;
    double expected = 0.98 * Math.min(threads, pools * connections) * 1000 / MEAN_ROUND_TRIP;
    double throughput = factor * expected;
    Histogram histogram = histogram(threads * 1e6 / expected);
    boolean targeted = mode.startsWith("targeted");
    return new Point(
        new Client(mode, connections, false),
        threads,
        new Point.Done(
            5.0,
            Math.round(throughput * 5),
            errors,
            throughput,
            List.of(),
            errors == 0 ? Map.of() : Map.of("READ ERROR", errors)),
        new Point.Bounds(
            threads * 1000 / MEAN_ROUND_TRIP,
            targeted ? null : Math.min(threads, connections) * 1000 / MEAN_ROUND_TRIP,
            MEAN_ROUND_TRIP),
        new Evidence(Map.of("va2", 0.33, "or1", 0.34, "ca1", 0.33), targeted ? 1.0 : 0.0, 120L),
        new CpuPerOperation(400.0, targeted ? 300.4 : 290.0, 250.0, 150.0),
        null,
        targeted ? Map.of("targeted", 100L) : Map.of(),
        "points/" + mode + "-t" + threads + "-c" + connections,
        new Latencies(
            LatencySummary.of(histogram), LatencySummary.of(histogram), null, null, null));
  }

  private static Histogram histogram(double meanMicros) {
    Random random = new Random(7);
    double wait = meanMicros - MEAN_ROUND_TRIP * 1000;
    Histogram histogram = new Histogram(3);
    for (int i = 0; i < 2000; i++) {
      double roundTrip = new double[] {700, 62_300, 68_300}[i % 3];
      histogram.recordValue((long) (roundTrip + wait * (0.8 + 0.4 * random.nextDouble())));
    }
    return histogram;
  }

  /** {@code sample} with three rounds of each point: 110 %, 100 % and 90 % of its throughput. */
  public static Results inRounds(Results sample) {
    return new Results(
        sample.envelope(),
        sample.points().stream()
            .map(p -> Point.median(List.of(round(p, 1.1), p, round(p, 0.9))))
            .toList());
  }

  /** {@code sample} with a scenario in place of points. */
  public static Results frozen(Results sample) {
    List<Timeline.Line> lines = new ArrayList<>();
    List<ScenarioEntry> entries = new ArrayList<>();
    for (String mode : List.of("async", "targeted-async")) {
      for (boolean pipelining : mode.equals("async") ? List.of(false) : List.of(false, true)) {
        Client client = new Client(mode, pipelining ? 5 : 100, pipelining);
        long during = mode.equals("async") ? 4_500_000 : 64_500;
        lines.add(
            new Timeline.Line(
                client, group(64_000, during, 200), group(64_000, 4_500_000, 100), "points/x"));
        for (String shards : List.of("healthy", "affected")) {
          double perSecond = shards.equals("healthy") ? 200 : 100;
          long ill = shards.equals("healthy") ? during : 4_500_000;
          double then = ill > 1_000_000 ? 0 : perSecond;
          entries.add(entry("shard-freeze", client, 300, "before", shards, 64_000, perSecond));
          entries.add(entry("shard-freeze", client, 300, "during", shards, ill, then));
          entries.add(entry("shard-freeze", client, 300, "after", shards, 64_000, perSecond));
        }
      }
    }
    return new Results(
        sample.envelope(),
        List.of(),
        entries,
        List.of(
            new Timeline(
                "shard-freeze",
                "the server of or1 is frozen (SIGSTOP)",
                "or1",
                300,
                "constant",
                25,
                8,
                16,
                lines)),
        List.of(),
        List.of(),
        List.of(),
        List.of());
  }

  /**
   * {@code sample} with {@code micros} of processor time per operation in all entries of scenarios.
   * To raise the load of zones, too, their rates are multiplied by {@code micros}.
   */
  public static Results busy(Results sample, double micros) {
    CpuPerOperation cpu = new CpuPerOperation(micros, 0.0, 0.0, 0.0);
    List<ScenarioEntry> entries =
        sample.scenarios().stream()
            .map(
                entry ->
                    new ScenarioEntry(
                        entry.scenario(),
                        entry.client(),
                        entry.rate(),
                        entry.arrivals(),
                        entry.phase(),
                        entry.shards(),
                        entry.figures(),
                        entry.seconds(),
                        entry.rounds(),
                        cpu,
                        null,
                        entry.folder()))
            .toList();
    List<ZonesResult> zones =
        sample.zones().stream()
            .map(each -> new ZonesResult(each.rate() * micros, each.seconds(), each.lines()))
            .toList();
    return new Results(
        sample.envelope(),
        sample.points(),
        entries,
        sample.timelines(),
        List.of(),
        zones,
        List.of(),
        List.of());
  }

  public static ScenarioEntry withoutErrors(ScenarioEntry entry) {
    return new ScenarioEntry(
        entry.scenario(),
        entry.client(),
        entry.rate(),
        entry.arrivals(),
        entry.phase(),
        entry.shards(),
        new Phase(
            entry.figures().completed(),
            entry.figures().completed(),
            0,
            0,
            0,
            entry.figures().perSecond(),
            entry.figures().latency(),
            entry.figures().service()),
        entry.seconds(),
        List.of(),
        null,
        null,
        entry.folder());
  }

  /** A point with a throughput. */
  static Point pointOf(String mode, int threads, int connections, double throughput) {
    Point one = point(mode, threads, connections);
    return point(mode, threads, connections, throughput / one.throughput(), 0);
  }

  /** A point whose measurement lost 2 % of the processors' time to other machines. */
  public static Point disturbed(Point point) {
    return new Point(
        point.client(),
        point.threads(),
        point.done(),
        point.bounds(),
        point.evidence(),
        point.cpu(),
        new Conditions(0.02, 3.0, 2_400.0, 12, 900.0, 8.0, true, 0.012, 14),
        point.routes(),
        point.folder(),
        point.latencies());
  }

  /** {@code sample} with rates and ratios in place of points. */
  public static Results atRates(Results sample) {
    List<ScenarioEntry> entries = new ArrayList<>();
    for (Client client :
        List.of(
            new Client("async", 5, false),
            new Client("async", 100, false),
            new Client("targeted-async", 5, true))) {
      for (double rate : new double[] {100, 300}) {
        boolean over = client.connections() == 5 && !client.pipelining() && rate == 300;
        entries.add(
            ScenarioEntry.median(
                List.of(
                    entry("rate", client, rate, "all", "all", over ? 9_000_000 : 65_000, rate))));
      }
    }
    return new Results(
        sample.envelope(),
        List.of(),
        entries,
        List.of(),
        Ratios.of(List.of(), entries, 7),
        List.of(),
        List.of(),
        List.of());
  }

  /** {@code sample} with bytes across zones in place of points. */
  public static Results zones(Results sample) {
    List<ZonesResult.Line> lines = new ArrayList<>();
    for (boolean reads : new boolean[] {true, false}) {
      lines.add(crossing(reads, "async", "defaults", 1_000));
      lines.add(crossing(reads, "direct-async", "preferred zones", reads ? 20 : 600));
    }
    return new Results(
        sample.envelope(),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        List.of(new ZonesResult(300, 9, lines)),
        List.of(),
        List.of());
  }

  private static ZonesResult.Line crossing(
      boolean reads, String mode, String variant, double bytes) {
    boolean direct = mode.startsWith("direct");
    return new ZonesResult.Line(
        "zone-a",
        reads,
        mode,
        variant,
        direct,
        2_700,
        0,
        new LatencySummary(2_700, 900, 800, 1_200, 1_500, 2_000, 3_000, 4_000),
        new ZonesResult.Crossed(direct ? 0 : bytes, direct ? bytes : 0, 0, 77),
        new CpuPerOperation(400.0, 300.0, 250.0, 150.0),
        "points/" + mode);
  }

  private static Timeline.Group group(long before, long during, double perSecond) {
    List<Timeline.Second> series = new ArrayList<>();
    for (int second = 0; second < 25; second++) {
      boolean ill = second >= 8 && second < 16;
      long micros = ill ? during : before;
      series.add(
          new Timeline.Second(
              ill && during > 1_000_000 ? 0 : (long) perSecond, 0, micros, micros + 5_000));
    }
    return new Timeline.Group(during > 1_000_000 ? null : (Integer) 0, series);
  }

  /** An entry of 1,001 operations: one failed, and the others took the same time. */
  public static ScenarioEntry entry(
      String scenario,
      Client client,
      double rate,
      String phase,
      String shards,
      long micros,
      double perSecond) {
    Histogram histogram = new Histogram(3);
    histogram.recordValueWithCount(micros, 1_000);
    LatencySummary latency = LatencySummary.of(histogram);
    return new ScenarioEntry(
        scenario,
        client,
        rate,
        "constant",
        phase,
        shards,
        new Phase(1_001, 1_000, 1, 0, 0, perSecond, latency, latency),
        8,
        List.of(),
        null,
        null,
        "points/" + client.mode());
  }

  /** Writes HdrHistogram logs for the points in YCSB's format. */
  public static void writeLogs(Results results, Path folder) throws IOException {
    for (Point point : results.points()) {
      Path logs = Files.createDirectories(folder.resolve(point.folder()));
      Histogram histogram = histogram(point.threads() * 1e6 / point.throughput());
      for (String operation : List.of("READ", "UPDATE")) {
        writeLog(HdrLogs.file(logs, operation), List.of(histogram));
      }
    }
  }

  /** Writes a log of intervals of one second. */
  public static void writeLog(Path file, List<Histogram> intervals) throws IOException {
    try (PrintStream out = new PrintStream(Files.newOutputStream(file), false, "UTF-8")) {
      HistogramLogWriter writer = new HistogramLogWriter(out);
      writer.outputLogFormatVersion();
      writer.outputStartTime(1_000_000);
      writer.setBaseTime(1_000_000);
      writer.outputLegend();
      long start = 1_000_000;
      for (Histogram interval : intervals) {
        interval.setStartTimeStamp(start);
        interval.setEndTimeStamp(start += 1000);
        writer.outputIntervalHistogram(interval);
      }
    }
  }
}
