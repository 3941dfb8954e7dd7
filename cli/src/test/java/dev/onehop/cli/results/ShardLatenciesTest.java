package dev.onehop.cli.results;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.cli.Failure;
import dev.onehop.cli.results.ScenarioResult.Group;
import dev.onehop.cli.results.ScenarioResult.Second;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ten seconds, of which shard b is ill from the fourth to the sixth. */
class ShardLatenciesTest {
  private static final long START = 1_700_000_000_123L;

  @TempDir private Path folder;

  /** As {@code onehop.latencies} has it, in no order. */
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
  void tellsShardsAndPhasesApart() throws IOException {
    ShardLatencies latencies = ShardLatencies.read(file(), 10);

    Group healthy = latencies.of("a"::equals, 4, 6);
    Group ill = latencies.of("b"::equals, 4, 6);

    assertThat(healthy.before().latency().count()).isEqualTo(200); // two seconds of settling
    assertThat(healthy.during().latency().p99()).isEqualTo(1_000);
    assertThat(healthy.during().answeredPerSecond()).isEqualTo(100);
    assertThat(healthy.recoverySeconds()).isZero();
    assertThat(healthy.series()).hasSize(10).containsOnly(new Second(100, 0, 1_000L, 1_000L));

    assertThat(ill.before().answeredPerSecond()).isEqualTo(50);
    assertThat(ill.during().answeredPerSecond()).isZero();
    assertThat(ill.during().failed()).isEqualTo(1);
    assertThat(ill.during().latency().p50()).isBetween(1_990_000L, 2_010_000L);
    assertThat(ill.after().latency().count()).isEqualTo(200);
    assertThat(ill.recoverySeconds()).isZero();
    assertThat(ill.series().get(6).answered()).isEqualTo(149);
  }

  @Test
  void recoveryIsWhenItStaysWell() throws IOException {
    // The fault is said to end earlier than it does.
    Group ill = ShardLatencies.read(file(), 10).of("b"::equals, 3, 4);

    assertThat(ill.recoverySeconds()).isEqualTo(2);
    assertThat(ShardLatencies.read(file(), 6).of("b"::equals, 3, 4).recoverySeconds()).isNull();
  }

  @Test
  void aDamagedFileIsSaidToBe() throws IOException {
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
