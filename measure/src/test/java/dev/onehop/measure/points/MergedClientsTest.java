package dev.onehop.measure.points;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.measure.results.ClientRun;
import dev.onehop.measure.results.HdrLogs;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.SampleResults;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.HdrHistogram.Histogram;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MergedClientsTest {
  private static final int CLIENTS = 7;

  @TempDir private Path point;

  private Path summary(int index, long operations, long cpuNanos) throws IOException {
    Path client = Files.createDirectories(MergedClients.folder(point, index));
    Files.writeString(
        RunSummary.file(client),
        """
        {"mode": "async", "firstOperationNanos": %d, "lastOperationNanos": %d,
         "measuredSeconds": %s, "operations": %d, "errors": 1, "warmupOperations": 5,
         "mongoDriver": "5.8.0", "routes": {"owner": %d},
         "client": {"index": %d, "of": 7, "startedAtMillis": %d, "cpuNanos": %d}}
        """
            .formatted(
                1_000 + index,
                9_000 + index,
                10.0 + index,
                operations,
                operations,
                index,
                50_000 + 10 * index,
                cpuNanos));
    return client;
  }

  @Test
  void percentilesCoverAllSamplesExactly() throws Exception {
    Histogram all = new Histogram(3);
    List<Path> clients = new ArrayList<>();
    Random random = new Random(3);
    for (int index = 0; index < CLIENTS; index++) {
      List<Histogram> intervals = new ArrayList<>();
      for (int second = 0; second < 4; second++) {
        Histogram interval = new Histogram(3);
        // One client is slow: the mean of the clients' percentiles is far from the percentile of
        // all operations.
        double scale = index == 3 ? 200_000 : 800;
        for (int i = 0; i < 1_500; i++) {
          long micros = (long) (scale * -Math.log(1 - random.nextDouble()));
          interval.recordValue(micros);
          all.recordValue(micros);
        }
        intervals.add(interval);
      }
      Path client = summary(index, 6_000, 6_000L * 250_000);
      SampleResults.writeLog(HdrLogs.file(client, "READ"), intervals);
      clients.add(client);
    }

    ClientRun run = MergedClients.merge(point, "points/async", clients);

    Histogram merged = HdrLogs.merged(point, "READ").orElseThrow();
    assertThat(LatencySummary.of(merged)).isEqualTo(LatencySummary.of(all));
    for (double percentile : new double[] {50, 90, 99, 99.9, 99.99, 100}) {
      assertThat(merged.getValueAtPercentile(percentile))
          .isEqualTo(all.getValueAtPercentile(percentile));
    }
    double meanOfClients =
        run.clients().stream().mapToLong(client -> client.latency().p999()).average().orElseThrow();
    assertThat(meanOfClients).isNotCloseTo((double) all.getValueAtPercentile(99.9), byTenPercent());
  }

  private static Percentage byTenPercent() {
    return Percentage.withPercentage(10);
  }

  @Test
  void addsCountsAndKeepsEachClient() throws Exception {
    List<Path> clients = List.of(summary(0, 1_000, 300_000_000), summary(1, 2_000, 200_000_000));
    for (Path client : clients) {
      SampleResults.writeLog(HdrLogs.file(client, "READ"), List.of(of(700)));
      SampleResults.writeLog(HdrLogs.file(client, "READ-FAILED"), List.of(of(90_000)));
      SampleResults.writeLog(HdrLogs.file(client, "READ-MODIFY-WRITE"), List.of(of(80_000)));
    }

    ClientRun run = MergedClients.merge(point, "points/async", clients);

    RunSummary summary = RunSummary.read(RunSummary.file(point));
    assertThat(summary.operations()).isEqualTo(3_000);
    assertThat(summary.errors()).isEqualTo(2);
    assertThat(summary.routes()).containsEntry("owner", 3_000L);
    assertThat(summary.measuredSeconds()).isEqualTo(11);
    assertThat(summary.firstOperationNanos()).isEqualTo(1_000);
    assertThat(summary.lastOperationNanos()).isEqualTo(9_001);
    assertThat(RunSummary.file(point)).content().contains("\"mongoDriver\" : \"5.8.0\"");
    assertThat(run.startSpreadMillis()).isEqualTo(10);
    assertThat(run.clients()).extracting(ClientRun.Part::cpu).containsExactly(300.0, 100.0);
    assertThat(run.clients()).extracting(client -> client.latency().max()).containsOnly(700L);
  }

  @Test
  void reportsFolderWithoutResults() throws Exception {
    Path client = Files.createDirectories(point.resolve("other"));
    Files.writeString(RunSummary.file(client), "{\"operations\": 5}");

    assertThatThrownBy(() -> MergedClients.merge(point, "points/async", List.of(client)))
        .isInstanceOf(Failure.class)
        .hasMessage(client + " has no results of a client");
  }

  private static Histogram of(long value) {
    Histogram histogram = new Histogram(3);
    histogram.recordValue(value);
    return histogram;
  }
}
