package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.points.ResultsArchive;
import dev.onehop.measure.results.HdrLogs;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.SampleResults;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CollectCommandTest {

  @TempDir private Path folder;

  /** Writes the results of one of two clients, with a summary in the format of the YCSB binding. */
  private Path client(int index) throws IOException {
    Path client = Files.createDirectories(folder.resolve("client-" + index));
    Results sample = SampleResults.us2014();
    Point point = sample.points().get(1);
    Path logs = Files.createDirectories(client.resolve(point.folder()));
    Histogram latencies = new Histogram(3);
    latencies.recordValueWithCount(1_000L * (index + 1), 1_000);
    SampleResults.writeLog(HdrLogs.file(logs, "READ"), List.of(latencies));
    Files.writeString(
        logs.resolve("summary.json"),
        """
        {"firstOperationNanos": 5, "lastOperationNanos": 10000000005, "measuredSeconds": 10.0,
         "operations": 1000, "errors": 0, "warmupOperations": 9, "routes": {},
         "client": {"index": %d, "of": 2, "startedAtMillis": 1000, "cpuNanos": 100000000}}
        """
            .formatted(index));
    ResultsFile.write(client, new Results(sample.envelope(), List.of(point)));
    return client;
  }

  private final StringWriter err = new StringWriter();

  private int collect(Path... clients) {
    StringBuilder line = new StringBuilder("bench collect --out " + folder.resolve("run"));
    for (Path client : clients) {
      line.append(' ').append(client);
    }
    return OneHopCommand.commandLine()
        .setOut(new PrintWriter(new StringWriter()))
        .setErr(new PrintWriter(err))
        .execute(line.toString().split(" ", -1));
  }

  @Test
  void acceptsClientFolderOrSavedOutput() throws Exception {
    Path log = folder.resolve("client-1.log");
    Files.writeString(log, "table\n" + ResultsArchive.pack(client(1)) + "more\n");

    assertThat(collect(client(0), log)).isZero();

    Point point = ResultsFile.read(folder.resolve("run")).points().get(0);
    assertThat(point.done().operations()).isEqualTo(2_000);
    assertThat(point.latencies().read().count()).isEqualTo(2_000);
  }

  @Test
  void reportsOutputWithoutResults() throws Exception {
    Path log = Files.writeString(folder.resolve("client-1.log"), "onehop: cannot connect\n");

    assertThat(collect(client(0), log)).isEqualTo(2);
    assertThat(err.toString().lines())
        .containsExactly("onehop: " + log + " has no results: run the client with --print-results");
  }
}
