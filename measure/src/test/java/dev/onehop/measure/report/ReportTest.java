package dev.onehop.measure.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.results.Envelope;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.SampleResults;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.measure.results.TopologyFacts;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xml.sax.InputSource;

class ReportTest {

  @TempDir private Path folder;

  private static List<String> charts(String html) {
    return Pattern.compile("<svg class=\"chart .*?</svg>", Pattern.DOTALL)
        .matcher(html)
        .results()
        .map(MatchResult::group)
        .toList();
  }

  /** The version of the servers is unknown if the run uses a user's own mongos. */
  @Test
  void omitsUnknownServer() {
    Results sample = SampleResults.us2014();
    Envelope known = sample.envelope();
    Results results =
        new Results(
            new Envelope(
                known.run(),
                known.topology(),
                new ServerFacts("unknown", new ServerFacts.Router("mongos", "5.0.7"), "unknown"),
                known.machine()),
            sample.points());
    assertThat(Reports.table(sample)).startsWith("Topology us-2014, mongod 6.0.5, STAND-IN");
    assertThat(Reports.table(results)).startsWith("Topology us-2014, mongos 5.0.7\n");
    assertThat(Reports.html(sample, folder)).contains("feature compatibility");
    assertThat(Reports.html(results, folder)).doesNotContain("feature compatibility", "unknown");
  }

  @Test
  void everyChartByThreadsShowsEveryMode() throws Exception {
    Results results = SampleResults.us2014();
    List<String> charts = charts(Reports.html(results, folder));
    // Seven charts: throughput, three of reads and three of updates (mean, p95, p99). Each is there
    // twice, for wide and for narrow pages.
    assertThat(charts).hasSize(2 * 7);
    for (String chart : charts) {
      assertThat(chart).contains("series c0\"", "series c0 alt", "series c1\"", "series c2\"");
    }
    assertThat(charts.get(0))
        .contains("closed-loop limit", "pool bound", "aria-label=\"Throughput");
  }

  @Test
  void showsScenarioInChartsAndTables() throws Exception {
    Results frozen = SampleResults.frozen(SampleResults.us2014());
    String html = Reports.html(frozen, folder);

    assertThat(charts(html))
        .hasSize(2 * 3)
        .allSatisfy(
            chart ->
                assertThat(chart).contains("class=\"band\"", "series c1", "series c2", " piped\""));
    assertThat(html)
        .contains(
            "<p class=\"lede\">While the server of or1 is frozen (SIGSTOP), the p99 latency of"
                + " operations on the other shards was 4,502 ms with async (64.0 before), at 0.0"
                + " operations a second (200 before); 64.5 ms with targeted-async",
            "href=\"#shard-freeze\"",
            "Operations on or1");
    assertThat(Reports.table(frozen))
        .contains("300 operations a second at even intervals", "targeted-async (pipelined)")
        .contains("Operations on the other shards\nclient", "STAND-IN");
    assertThat(ResultsFile.toJson(frozen)).contains("\"recoverySeconds\" : null");
  }

  @Test
  void marksSaturatedMachineInScenariosAndZones() {
    Results frozen = SampleResults.frozen(SampleResults.us2014());
    // At 300 operations a second, 6,000 us each keep two processors 90 % busy, and 5,000 us 75 %.
    // The machine counts as saturated above 85 %.
    assertThat(Reports.table(SampleResults.busy(frozen, 6_000)))
        .contains("saturated: the machine's processors were over 85 % busy")
        .containsPattern("\nasync, saturated +100 ");
    assertThat(Reports.table(SampleResults.busy(frozen, 5_000))).doesNotContain("saturated");

    // The sentence in bold also says that the machine was saturated.
    String caveat =
        "The machine was saturated, so these latencies depend more on its load than on the client.";
    assertThat(Reports.html(SampleResults.busy(frozen, 6_000), folder))
        .containsPattern("<p class=\"lede\">While [^<]* " + caveat + "</p>")
        .doesNotContain("With the best routed client, this latency")
        .contains("on healthy shards, machine saturated");
    assertThat(Reports.html(SampleResults.busy(frozen, 5_000), folder))
        .contains("With the best routed client, this latency");

    Results zones = SampleResults.zones(SampleResults.us2014());
    assertThat(Reports.table(SampleResults.busy(zones, 6_000)))
        .contains("saturated: the machine's processors were over 85 % busy")
        .containsPattern("async, saturated +defaults");
    assertThat(Reports.table(zones)).doesNotContain("saturated");
  }

  @Test
  void showsTrafficAcrossZones() {
    Results zones = SampleResults.zones(SampleResults.us2014());
    String sentence =
        "A read of any member took 1,000 bytes across zones with async (defaults), and 20.0 bytes"
            + " with direct-async (preferred zones): 0.020 times as much.";

    assertThat(Reports.html(zones, folder))
        .contains(
            "<p class=\"lede\">" + sentence, "href=\"#zones\"", "needs 600 bytes across zones");
    assertThat(Reports.table(zones))
        .contains("Reads of any member (nearest)\nclient", sentence)
        .containsPattern("async +defaults +zone-a +1,000 +1,000 +0.0 +0.0 +77.0 +0.80");
    assertThat(ResultsFile.toJson(zones)).contains("\"clientAndRouter\" : 1000.0");
  }

  @Test
  void slowestAndFastestRoundAreDrawn() {
    Results once = SampleResults.us2014();
    Results thrice = SampleResults.inRounds(once);

    assertThat(charts(Reports.html(once, folder)).get(0)).doesNotContain("\"range\"");
    String chart = charts(Reports.html(thrice, folder)).get(0);
    assertThat(chart.split("\"range\"", -1)).hasSize(once.points().size() + 1);
    assertThat(chart).contains("1 threads: 22.5 operations per second (20.3-24.8)");
    assertThat(Reports.html(thrice, Path.of("")))
        .contains("rounds: ops/s of the slowest and the fastest");
    assertThat(Reports.html(once, Path.of(""))).doesNotContain("rounds: ops/s of the slowest");
    assertThat(Reports.html(thrice, folder)).contains(">rounds<", ">20.3-24.8<");
  }

  @Test
  void ratesHaveSmallMultiplesAndTables() {
    String html = Reports.html(SampleResults.atRates(SampleResults.us2014()), folder);

    assertThat(html)
        .contains("href=\"#rates\"", "Latency by rate, p50", "Latency by rate, p99")
        .contains("Compared with the best official client", "href=\"#ratios\"")
        .doesNotContain("NaN", "Infinity");
  }

  @Test
  void showsTableOfConditions() {
    Results all = SampleResults.us2014();
    Results disturbed =
        new Results(all.envelope(), List.of(SampleResults.disturbed(all.points().get(0))));

    assertThat(Reports.html(disturbed, folder))
        .contains("<td>1.2</td><td>14</td><td>8.0</td><td>yes</td><td>2 *</td><td>3.0</td>")
        .contains("<td>2,400</td><td>12</td><td>900</td>", "other virtual machines took more");
    assertThat(Reports.html(all, folder)).doesNotContain("id=\"conditions\"");
  }

  @Test
  void omitsBoundFarAboveValues() {
    Results all = SampleResults.us2014();
    Results pooled =
        new Results(
            all.envelope(),
            List.of(SampleResults.point("async", 16, 5), SampleResults.point("async", 64, 5)));

    String throughput = charts(Reports.html(pooled, folder)).get(0);

    assertThat(throughput).contains("pool bound").doesNotContain("closed-loop limit");
  }

  @Test
  void drawsPercentileCurvesFromLogs() throws Exception {
    Results results = SampleResults.us2014();
    assertThat(Reports.html(results, folder)).doesNotContain("Percentile curves");
    SampleResults.writeLogs(results, folder);
    String html = Reports.html(results, folder);
    // With logs, there are also percentile charts: of two operations, each at three thread counts.
    assertThat(charts(html)).hasSize(2 * (7 + 6));
    assertThat(html).contains("READ latency by percentile at 64 threads");
  }

  @Test
  void isSelfContainedFileWithoutScripts() throws Exception {
    Results results = SampleResults.us2014();
    SampleResults.writeLogs(results, folder);
    String html = Reports.html(results, folder);
    assertThat(html).doesNotContain("<script", "<link", "http:", "https:", "@import", "url(");
  }

  @Test
  void everySvgIsWellFormed() throws Exception {
    Results results = SampleResults.us2014();
    SampleResults.writeLogs(results, folder);
    List<String> drawings =
        Pattern.compile("<svg .*?</svg>", Pattern.DOTALL)
            .matcher(Reports.html(results, folder))
            .results()
            .map(MatchResult::group)
            .toList();
    assertThat(drawings).hasSizeGreaterThan(13);
    for (String svg : drawings) {
      DocumentBuilderFactory.newInstance()
          .newDocumentBuilder()
          .parse(new InputSource(new StringReader(svg)));
      assertThat(svg).doesNotContain("NaN", "Infinity");
    }
  }

  @Test
  void escapesExternalText() {
    Results sample = SampleResults.us2014();
    TopologyFacts topology = sample.topology();
    Results hostile =
        new Results(
            new Envelope(
                new RunFacts(
                    "now",
                    "bench '<b>&'",
                    false,
                    "<i>stopped</i>",
                    12,
                    new RunFacts.Load(
                        1,
                        "<w>",
                        Map.of("k", "<v>"),
                        null,
                        List.of("<u>share</u>"),
                        1,
                        7,
                        null,
                        "<e>")),
                new TopologyFacts(
                    "<script>alert(1)</script>",
                    topology.client(),
                    topology.regions(),
                    topology.rttMillis(),
                    topology.hosts()),
                sample.server(),
                sample.machine()),
            sample.points());
    String html = Reports.html(hostile, folder);
    assertThat(html).doesNotContain("<script", "<i>stopped", "<u>share", "<w>", "<v>", "<b>&'");
    assertThat(html).contains("&lt;script&gt;", "bench '&lt;b&gt;&amp;'");
    assertThat(html).contains("<p>&lt;e&gt;.</p>");
    assertThat(html).contains("Unfinished run: 11 of 12 measurements (&lt;i&gt;stopped");
    assertThat(html).contains("Unknown: &lt;u&gt;share&lt;/u&gt;.");
  }

  @Test
  void namesStandInRouters() {
    assertThat(Reports.html(SampleResults.us2014(), folder))
        .contains("stand-in, not mongos", "STAND-IN routers");
  }

  @Test
  void showsHostsRoundTripsServersAndCommand() {
    assertThat(Reports.html(SampleResults.us2014(), folder))
        .contains("<th scope=\"row\">or1</th><td>or</td><td>router, shard or1</td>")
        .contains("<th scope=\"row\">ca</th><td>62.0</td><td>22.0</td><td>-</td>", "68.2")
        .contains("6.0.5", "A processor, 2 cores", "bin/onehop bench --quick");
  }

  @Test
  void runWithoutPointsHasReport() {
    Results sample = SampleResults.us2014();
    Results none =
        new Results(
            new Envelope(sample.run(), sample.topology(), sample.server(), null), List.of());
    assertThat(Reports.html(none, folder))
        .contains("No point was finished.", "<h2>Topology us-2014");
  }

  @Test
  void headlineComparesWithBestAndCappedOfficialClients() {
    // At 64 threads, targeted mode reaches 225 ops/s with two pools of 5, one for each shard. The
    // best official client reaches 1,442 with one pool of 100.
    assertThat(Reports.html(SampleResults.us2014(), folder))
        .contains(
            "<p class=\"lede\">At 64 threads, targeted-async, 5 connections, is not faster (0.16"
                + " times, because a mongos is on the client's host and no thread waits for a"
                + " connection) than the best official client (legacy, 100 connections): 225"
                + " against 1,442 operations a second. With 5 connections, the official clients"
                + " reached at most 113 operations a second.</p>")
        .contains("<b>0.16×</b> the throughput of the best official client")
        .contains(
            "<b>15 %</b> of the closed-loop limit (threads / mean round trip)",
            "<b>100 %</b> of operations went to a mongos near the owning shard");
  }

  @Test
  void summaryShowsLimitsOfRun() {
    assertThat(Reports.html(SampleResults.us2014(), folder))
        .containsSubsequence(
            "<div class=\"summary\">",
            "Limits of this run",
            "stand-in, not mongos",
            "share all 2 processors",
            "measured once (n = 1)",
            "</div>");
    assertThat(Reports.html(SampleResults.inRounds(SampleResults.us2014()), folder))
        .contains("measured 3 times (n = 3)");
  }

  @Test
  void writesReportBesideResults() {
    Results results = SampleResults.us2014();
    ResultsFile.write(folder, results);
    assertThat(Reports.write(folder, results))
        .isEqualTo(folder.resolve("report.html"))
        .isNotEmptyFile();
  }
}
