package dev.onehop.measure.results;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.measure.results.ShardLatencies.Phase;
import dev.onehop.measure.results.Timeline.Group;
import dev.onehop.measure.results.Timeline.Second;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ten seconds. Shard b has a fault from second 4 to second 6. */
class ShardLatenciesTest {
  private static final long START = 1_700_000_000_123L;

  @TempDir private Path folder;

  /** A file in the format of {@code onehop.latencies}. Its lines are not in the order of time. */
  private Path file() throws IOException {
    Path file = folder.resolve("latencies.hlog");
    try (PrintStream out = new PrintStream(Files.newOutputStream(file), false, "US-ASCII")) {
      HistogramLogWriter writer = new HistogramLogWriter(out);
      writer.outputLogFormatVersion();
      writer.outputBaseTime(START);
      writer.setBaseTime(START);
      writer.outputStartTime(START);
      writer.outputLegend();
      for (int second = 9; second >= 0; second--) {
        boolean ill = second >= 4 && second < 6;
        line(writer, second, "READ.intended.a", 100, 1_000);
        line(writer, second, "READ.answered.a", 100, 1_000);
        line(writer, second, "READ.service.a", 100, 7);
        line(writer, second, "UPDATE.intended.b", 50, ill ? 2_000_000 : 3_000);
        line(writer, second, "UPDATE.answered.b", ill ? 0 : second == 6 ? 149 : 50, 3_000);
        line(writer, second, "UPDATE.failed.b", second == 5 ? 1 : 0, 9);
        line(writer, second, "UPDATE.unanswered.b", second == 5 ? 2 : 0, 9_000_000);
        line(writer, second, "UPDATE.notissued.b", second == 5 ? 1 : 0, 8_000_000);
      }
    }
    return file;
  }

  private static void line(
      HistogramLogWriter writer, int second, String tag, int count, long micros) {
    if (count > 0) {
      Histogram histogram = new Histogram(3);
      histogram.recordValueWithCount(micros, count);
      histogram.setTag(tag);
      histogram.setStartTimeStamp(START + second * 1000L);
      histogram.setEndTimeStamp(START + second * 1000L + 1000);
      writer.outputIntervalHistogram(histogram);
    }
  }

  @Test
  void separatesShardsAndPhases() throws IOException {
    ShardLatencies latencies = ShardLatencies.read(file(), 10);

    Group healthy = latencies.of("a"::equals, 4, 6);
    Group ill = latencies.of("b"::equals, 4, 6);
    Phase before = latencies.phase("a"::equals, 2, 4);
    Phase during = latencies.phase("b"::equals, 4, 6);

    assertThat(before.intended()).isEqualTo(200);
    assertThat(before.perSecond()).isEqualTo(100);
    assertThat(before.latency().p99()).isEqualTo(1_000);
    assertThat(before.service().p99()).isEqualTo(7);
    assertThat(healthy.recoverySeconds()).isZero();
    assertThat(healthy.series()).hasSize(10).containsOnly(new Second(100, 0, 1_000L, 1_000L));

    assertThat(during.completed()).isEqualTo(100);
    assertThat(during.errors()).isEqualTo(4);
    assertThat(during.intended()).isEqualTo(104);
    assertThat(during.perSecond()).isZero();
    assertThat(during.latency().p50()).isBetween(1_990_000L, 2_010_000L);
    assertThat(latencies.phase("b"::equals, 6, 10).latency().count()).isEqualTo(200);
    assertThat(ill.recoverySeconds()).isZero();
    assertThat(ill.series().get(5).failed()).isEqualTo(4);
    assertThat(ill.series().get(6).answered()).isEqualTo(149);
  }

  /**
   * Operations without a reply count with the length of their wait. Otherwise a client without
   * replies would look fast.
   */
  @Test
  void unansweredOperationsCountWithTheirWait() throws IOException {
    Phase during = ShardLatencies.read(file(), 10).phase("b"::equals, 4, 6);

    assertThat(during.unanswered()).isEqualTo(2);
    assertThat(during.notIssued()).isEqualTo(1);
    assertThat(during.latency().count()).isEqualTo(103);
    assertThat(during.latency().max()).isGreaterThan(8_900_000);
  }

  @Test
  void recoveryLastsUntilStable() throws IOException {
    // The fault is given as ending at second 4, but it really ends 2 s later.
    Group ill = ShardLatencies.read(file(), 10).of("b"::equals, 3, 4);

    assertThat(ill.recoverySeconds()).isEqualTo(2);
    assertThat(ShardLatencies.read(file(), 6).of("b"::equals, 3, 4).recoverySeconds()).isNull();
  }

  @Test
  void reportsDamagedOrMissingFile() throws IOException {
    Path file =
        Files.writeString(folder.resolve("x.hlog"), "Tag=READ.intended.a,0.0,1.0,1,nothing\n");

    assertThatThrownBy(() -> ShardLatencies.read(file, 10))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("is damaged");
    assertThatThrownBy(() -> ShardLatencies.read(folder.resolve("none"), 10))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("cannot read");
  }
}
