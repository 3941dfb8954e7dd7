package dev.onehop.measure.frame;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.onehop.measure.results.Envelope;
import dev.onehop.measure.results.MachineFacts;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.RunResults;
import dev.onehop.measure.results.SampleResults;
import dev.onehop.resync.Failure;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("reads what is written to System.err")
class SessionTest {

  @TempDir Path folder;

  private record Letter(String title) implements Bench.Cell {}

  private record Found(@JsonUnwrapped Envelope envelope, List<String> letters)
      implements RunResults {
    @Override
    public int finished() {
      return letters.size();
    }
  }

  /** The event. */
  @FunctionalInterface
  private interface Step {
    void run() throws InterruptedException;
  }

  /**
   * A bench whose points are letters. At the letter {@code last}, it runs the action {@code then}
   * of the test.
   */
  private static final class Letters implements Bench<Letter, String, Found> {
    private final List<String> log = new ArrayList<>();
    private final List<String> files = new ArrayList<>();
    private final String last;
    private final Step then;
    private Session session;

    Letters(String last, Step then) {
      this.last = last;
      this.then = then;
    }

    @Override
    public void prepare(Session session) {
      this.session = session;
      log.add("prepare");
    }

    @Override
    public List<Letter> cells() {
      return List.of(new Letter("a"), new Letter("b"), new Letter("c"));
    }

    @Override
    public Duration estimate(Letter cell, Session session) {
      return Duration.ofSeconds(1);
    }

    @Override
    public String measure(Letter cell, Session session) throws IOException, InterruptedException {
      Path file = session.folder().resolve("results.json");
      files.add(Files.exists(file) ? Files.readString(file) : "");
      if (cell.title().equals(last)) {
        then.run();
        Thread.sleep(0); // throws if the thread was interrupted
      }
      log.add(cell.title());
      return cell.title().toUpperCase(Locale.ROOT);
    }

    @Override
    public Found results(List<Measured<Letter, String>> measured, Session session) {
      return measured.isEmpty()
          ? null
          : new Found(
              session.envelope(
                  3,
                  RunFacts.Load.of(0, "letters", List.of(), 1, 5),
                  SampleResults.us2014().topology(),
                  SampleResults.us2014().server()),
              measured.stream().map(Measured::point).toList());
    }

    @Override
    public String table(Found results) {
      return String.join(" ", results.letters());
    }

    @Override
    public Path page(Path into, Found results) {
      return into.resolve("report.html");
    }
  }

  private Session.Outcome<Found> run(Letters letters) {
    MachineFacts machine = Machine.facts(folder);
    return Session.run(letters, null, new RunContext(folder, machine, "now", "onehop letters"));
  }

  @Test
  void measuresCellsInOrderAndSavesAfterEach() {
    Letters letters = new Letters("none", () -> {});

    Session.Outcome<Found> ended = run(letters);

    assertThat(ended.failure()).isNull();
    assertThat(ended.results().letters()).containsExactly("A", "B", "C");
    assertThat(ended.results().run().complete()).isTrue();
    assertThat(ended.results().run().pointsPlanned()).isEqualTo(3);
    assertThat(letters.log).containsExactly("prepare", "a", "b", "c");
    assertThat(letters.files.get(0)).isEmpty();
    assertThat(letters.files.get(1)).contains("\"A\"").doesNotContain("\"B\"");
    assertThat(letters.files.get(2)).contains("\"B\"", "\"complete\" : false");
    assertThat(folder.resolve("results.json")).content().contains("\"complete\" : true");
  }

  /**
   * Each letter is estimated to take a second, but takes no time. So the estimate must be
   * corrected.
   */
  @Test
  void correctsRemainingTimeByMeasuredCells() {
    PrintStream before = System.err;
    ByteArrayOutputStream shown = new ByteArrayOutputStream();
    System.setErr(new PrintStream(shown, true, StandardCharsets.UTF_8));
    try {
      run(new Letters("none", () -> {}));
    } finally {
      System.setErr(before);
    }
    assertThat(shown.toString(StandardCharsets.UTF_8).lines())
        .contains(
            "point 1 of 3: a | 3 s left",
            "point 2 of 3: b | 0 s left",
            "point 3 of 3: c | 0 s left");
  }

  @Test
  void failureEndsRunAndKeepsFinishedCells() {
    Session.Outcome<Found> ended =
        run(
            new Letters(
                "c",
                () -> {
                  throw Failure.run("the third letter is missing", null);
                }));

    assertThat(ended.failure()).hasMessage("the third letter is missing");
    assertThat(ended.results().letters()).containsExactly("A", "B");
    assertThat(ended.results().run().complete()).isFalse();
    assertThat(ended.results().run().stopped()).isEqualTo("the third letter is missing");
    assertThat(folder.resolve("results.json")).content().contains("the third letter is missing");
  }

  @Test
  void interruptEndsRunAndWritesResults() {
    Session.Outcome<Found> ended = run(new Letters("b", () -> Thread.currentThread().interrupt()));

    assertThat(ended.failure().exitCode()).isEqualTo(Failure.INTERRUPTED);
    assertThat(ended.results().letters()).containsExactly("A");
    assertThat(folder.resolve("results.json")).content().contains("\"A\"");
    assertThat(Thread.interrupted()).isFalse();
  }

  /** An operation on a dead server never returns, but the run ends. */
  @Test
  void deadServerEndsRunAndIsReported() {
    AtomicReference<Letters> letters = new AtomicReference<>();
    letters.set(
        new Letters(
            "b",
            () -> {
              Session session = letters.get().session;
              String message =
                  "member0 ended with exit code 137; its log ends with:\n  out of disk";
              new Thread(() -> session.serverDied(message)).start();
              new CountDownLatch(1).await();
            }));

    Session.Outcome<Found> ended = run(letters.get());

    assertThat(ended.failure().exitCode()).isEqualTo(Failure.RUN);
    assertThat(ended.failure()).hasMessageEndingWith("its log ends with:\n  out of disk");
    assertThat(ended.results().run().stopped()).isEqualTo("member0 ended with exit code 137");
    letters.get().session.serverDied("member1 ended"); // no effect: the run has ended
    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void failureBeforeFirstCellLeavesNoResults() {
    Session.Outcome<Found> ended =
        run(
            new Letters(
                "a",
                () -> {
                  throw new IllegalStateException("nothing works");
                }));

    assertThat(ended.failure()).hasMessage("nothing works");
    assertThat(ended.results()).isNull();
    assertThat(folder.resolve("results.json")).doesNotExist();
  }
}
