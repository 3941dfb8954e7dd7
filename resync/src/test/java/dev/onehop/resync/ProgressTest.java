package dev.onehop.resync;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ProgressTest {

  private final AtomicLong clock = new AtomicLong();
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(written, true, StandardCharsets.UTF_8);

  private Progress progress(Terminal terminal) {
    return new Progress(out, terminal, clock::get, null);
  }

  private String text() {
    return written.toString(StandardCharsets.UTF_8);
  }

  @Test
  void printsEveryLineWithoutTerminal() {
    try (Progress progress = progress(new Terminal(false, 80, false))) {
      progress.phase("starting servers");
      progress.remaining(Duration.ofSeconds(95));
      progress.point(2, 11, "legacy, 64 threads, 5 connections");
      clock.addAndGet(TimeUnit.SECONDS.toNanos(5));
      progress.state("341 operations, 113/s");
      progress.tick();
    }
    assertThat(text().lines())
        .containsExactly(
            "starting servers",
            "point 2 of 11: legacy, 64 threads, 5 connections | 1 min 30 s left",
            "point 2 of 11: legacy, 64 threads, 5 connections | 341 operations, 113/s"
                + " | 1 min 30 s left");
    assertThat(text()).doesNotContain("\033", "\r");
  }

  @Test
  void rewritesTerminalLineAndRemovesItAtEnd() {
    try (Progress progress = progress(new Terminal(true, 80, false))) {
      progress.phase("starting servers");
      progress.note("mongod 6.0.5");
      progress.phase("loading");
    }
    assertThat(text())
        .isEqualTo(
            "\r\033[Kstarting servers\r\033[Kmongod 6.0.5\n"
                + "\r\033[Kstarting servers\r\033[Kloading\r\033[K");
  }

  @Test
  void printsColoursIfEnabled() {
    try (Progress progress = progress(new Terminal(true, 80, true))) {
      progress.phase("loading");
    }
    assertThat(text()).contains("\033[1mloading\033[0m");
  }

  @Test
  void shortensLineAndKeepsTimeLeft() {
    String line = "point 2 of 11: targeted-async, 64 threads, 5 connections | 113/s | 2 min left";
    String fitted = Progress.fit(line, 50);
    assertThat(fitted).hasSize(50).startsWith("point 2 of 11").endsWith("~ | 2 min left");
    assertThat(Progress.fit(line, 200)).isEqualTo(line);
    assertThat(Progress.fit(line, 20)).hasSize(20);
    assertThat(Progress.fit("a long line without parts", 10)).hasSize(10);
  }

  @Test
  void roundsDurations() {
    assertThat(Progress.about(Duration.ofSeconds(45))).isEqualTo("45 s");
    assertThat(Progress.about(Duration.ofSeconds(60))).isEqualTo("1 min");
    assertThat(Progress.about(Duration.ofSeconds(207))).isEqualTo("3 min 20 s");
    assertThat(Progress.about(Duration.ofMinutes(150))).isEqualTo("2 h 30 min");
  }
}
