package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.measure.frame.Bench;
import dev.onehop.measure.frame.Session;
import dev.onehop.measure.results.Envelope;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.RunResults;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.measure.results.TopologyFacts;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The output at the end of a run. The bench of this test can interrupt the run at a point. */
class ResultsOptionsTest {

  @TempDir private Path folder;

  private record Counted(String title) implements Bench.Cell {}

  private record Found(@JsonUnwrapped Envelope envelope, List<String> numbers)
      implements RunResults {
    @Override
    public int finished() {
      return numbers.size();
    }
  }

  private record Numbers(String last) implements Bench<Counted, String, Found> {
    @Override
    public void prepare(Session session) throws IOException {
      Files.createDirectories(session.folder().resolve("logs/empty"));
    }

    @Override
    public List<Counted> cells() {
      return List.of(new Counted("one"), new Counted("two"));
    }

    @Override
    public String measure(Counted cell, Session session) throws InterruptedException {
      if (cell.title().equals(last)) {
        throw new InterruptedException();
      }
      return cell.title();
    }

    @Override
    public Found results(List<Measured<Counted, String>> measured, Session session) {
      return measured.isEmpty()
          ? null
          : new Found(
              session.envelope(
                  2,
                  RunFacts.Load.of(0, "numbers", List.of(), 1, 1),
                  TopologyFacts.here("here", List.of()),
                  new ServerFacts("6.0.5", new ServerFacts.Router("none", ""), "6.0")),
              measured.stream().map(Measured::point).toList());
    }

    @Override
    public String table(Found results) {
      return String.join(" ", results.numbers()) + "\n";
    }

    @Override
    public Path page(Path into, Found results) {
      return into.resolve("report.html");
    }
  }

  @Command(name = "numbers")
  private static final class NumbersCommand implements Callable<Integer> {
    @Mixin private ResultsOptions results = new ResultsOptions();
    private final String last;

    NumbersCommand(String last) {
      this.last = last;
    }

    @Override
    public Integer call() {
      return results.run(new Numbers(last), null);
    }
  }

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String last, String... options) {
    Errors errors = new Errors();
    return new CommandLine(new NumbersCommand(last))
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .setExecutionExceptionHandler(errors)
        .execute(options);
  }

  private String file() {
    return folder.resolve("run/results.json").toString();
  }

  @Test
  void finishedRunPrintsTable() {
    assertThat(run("", "--out", folder.resolve("run").toString())).isZero();
    assertThat(out.toString()).startsWith("one two\nResults: " + file());
  }

  @Test
  void interruptedRunPrintsPartialResultsAsJson() throws IOException {
    int exitCode = run("two", "--out", folder.resolve("run").toString(), "--json");
    assertThat(exitCode).isEqualTo(Failure.INTERRUPTED);
    JsonNode found = new ObjectMapper().readTree(out.toString());
    assertThat(found.at("/numbers/0").asText()).isEqualTo("one");
    assertThat(found.at("/run/complete").asBoolean(true)).isFalse();
    assertThat(err).hasToString("onehop: interrupted; 1 of 2 measurements are in " + file() + "\n");
  }

  @Test
  void runWithoutResultsPrintsErrorAndLeavesNoFolder() throws IOException {
    int exitCode = run("one", "--out", folder.resolve("run").toString(), "--json");
    assertThat(exitCode).isEqualTo(Failure.INTERRUPTED);
    JsonNode found = new ObjectMapper().readTree(out.toString());
    assertThat(found.at("/error").asText()).isEqualTo("interrupted");
    assertThat(found.at("/complete").asBoolean(true)).isFalse();
    assertThat(folder.resolve("run")).doesNotExist();
  }
}
