package dev.onehop.measure.points;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.measure.report.Reports;
import dev.onehop.measure.results.HdrLogs;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.SampleResults;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CollectedRunTest {
  private static final int CLIENTS = 3;

  @TempDir private Path folder;
  private final Histogram all = new Histogram(3);

  /** Writes the files of a client, with a summary in the format of the YCSB binding. */
  private Path part(int index) throws IOException {
    Path part = Files.createDirectories(folder.resolve("part-" + index));
    Results sample = SampleResults.us2014();
    Point point = sample.points().get(1);
    Path logs = Files.createDirectories(part.resolve(point.folder()));
    Histogram histogram = new Histogram(3);
    Random random = new Random(index);
    for (int i = 0; i < 1_000; i++) {
      long micros = 1_000L * (index + 1) + random.nextInt(5_000);
      histogram.recordValue(micros);
      all.recordValue(micros);
    }
    SampleResults.writeLog(HdrLogs.file(logs, "READ"), List.of(histogram));
    Files.writeString(
        RunSummary.file(logs),
        """
        {"firstOperationNanos": 5, "lastOperationNanos": 10000000005, "measuredSeconds": 10.0,
         "operations": 1000, "errors": 0, "warmupOperations": 9, "routes": {},
         "client": {"index": %d, "of": %d, "startedAtMillis": %d, "cpuNanos": %d}}
        """
            .formatted(index, CLIENTS, 1_000 + 20 * index, 100_000_000 * (index + 1)));
    ResultsFile.write(part, new Results(sample.envelope(), List.of(point)));
    return part;
  }

  private List<Path> parts() throws IOException {
    List<Path> parts = new ArrayList<>();
    for (int index = 0; index < CLIENTS; index++) {
      parts.add(part(index));
    }
    return parts;
  }

  @Test
  void mergesClientsIntoOneRun() throws Exception {
    Path out = folder.resolve("out");
    List<Path> parts = parts();
    Collections.reverse(parts); // the order of a shell: client-10 comes before client-2
    Results merged = CollectedRun.merge(parts, out);

    Point point = merged.points().get(0);
    assertThat(point.done().operations()).isEqualTo(3_000);
    assertThat(point.throughput()).isEqualTo(300);
    assertThat(point.latencies().read()).isEqualTo(LatencySummary.of(all));
    assertThat(point.cpu().client()).isEqualTo(200.0);
    assertThat(merged.clients().get(0).startSpreadMillis()).isEqualTo(40);
    assertThat(ResultsFile.read(out)).isEqualTo(merged);
    assertThat(Reports.table(merged)).contains("3 clients, started within 40 ms");
    assertThat(Reports.html(merged, out)).contains("id=\"clients\"");
  }

  @Test
  void rejectsMissingOrDuplicatedClient() throws Exception {
    List<Path> parts = parts();
    List<Path> twice = List.of(parts.get(0), parts.get(1), parts.get(1));

    assertThatThrownBy(() -> CollectedRun.merge(twice, folder.resolve("out")))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("client 2 is missing or duplicated");
  }

  @Test
  void unpacksArchiveInLogAndRejectsDamagedOne() throws Exception {
    String log = "table\n" + ResultsArchive.pack(part(0)) + "more\n";
    Path copy = folder.resolve("copy");

    assertThat(ResultsArchive.unpack(log, copy)).isTrue();
    assertThat(ResultsFile.read(copy)).isEqualTo(ResultsFile.read(folder.resolve("part-0")));
    assertThat(ResultsArchive.unpack("no results", copy)).isFalse();
    assertThatThrownBy(
            () -> ResultsArchive.unpack(log.replaceAll("(?m)^UEs.{40}", "UEsAAAA"), copy))
        .isInstanceOf(Failure.class);
  }
}
