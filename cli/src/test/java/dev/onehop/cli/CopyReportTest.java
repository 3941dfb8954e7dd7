package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The progress and the summary of a copy as text. */
class CopyReportTest {
  static CopyProgress progress(
      CopyPhase phase,
      @Nullable String doing,
      Duration lag,
      @Nullable Duration oplogLeft,
      @Nullable Duration left) {
    return new CopyProgress(
        "move",
        phase,
        doing,
        false,
        3,
        16,
        7,
        500_000,
        250_000,
        256_000_000,
        41_000,
        42_000_000,
        1,
        1_234,
        200,
        lag,
        5_678L,
        phase == CopyPhase.DONE ? Duration.ofMillis(250) : null,
        oplogLeft,
        new BsonTimestamp(9, 1),
        left,
        Map.of(CopyPhase.FULL, Duration.ofMillis(12_100), CopyPhase.FINISH, Duration.ofSeconds(1)),
        List.of("noted"));
  }

  @Test
  void incrementalPhaseShowsCatchUpTimeNotEnd() {
    CopyProgress now =
        progress(
            CopyPhase.INCREMENTAL, null, Duration.ofSeconds(60), null, Duration.ofSeconds(150));
    assertThat(CopyReport.state(now))
        .isEqualTo(
            "1,234 events applied, 200/s | 60.0 s, 5,678 operations behind,"
                + " catches up in about 2 min 30 s");
    assertThat(CopyReport.left(now)).isNull();
    assertThat(
            CopyReport.state(
                progress(CopyPhase.INCREMENTAL, null, Duration.ofMillis(100), null, null)))
        .isEqualTo("1,234 events applied, 200/s | 0.1 s, 5,678 operations behind");
  }

  @Test
  void showsRemainingOplogOnceMostIsUsed() {
    Duration behind = Duration.ofMinutes(10);
    assertThat(
            CopyReport.state(
                progress(CopyPhase.INCREMENTAL, null, behind, behind.plusSeconds(1), null)))
        .doesNotContain("oplog");
    assertThat(
            CopyReport.state(
                progress(CopyPhase.INCREMENTAL, null, behind, Duration.ofMinutes(9), null)))
        .endsWith(" | oplog lasts 9 min");
  }

  @Test
  void stepsShowRemainingTime() {
    CopyProgress now =
        progress(CopyPhase.INDEXES, "building", Duration.ZERO, null, Duration.ofSeconds(9));
    assertThat(CopyReport.state(now)).isEqualTo("building");
    assertThat(CopyReport.left(now)).isEqualTo(Duration.ofSeconds(9));
  }

  @Test
  void summaryShowsTimesRatesAndCutOver() throws Exception {
    CopyProgress done = progress(CopyPhase.DONE, null, Duration.ZERO, null, null);
    StringWriter text = new StringWriter();
    CopyReport.print(new PrintWriter(text), done);
    assertThat(text.toString())
        .isEqualToNormalizingNewlines(
            """
            collections  3
            documents    250,000, 256.0 MB; 41,000/s, 42.0 MB/s
            ranges       16, 1 of them read again
            changes      1,234 applied by this process
            seconds      full 12.1, finish 1.0
            cut-over     the lag was 0.25 s when finish began; finish took 1.0 s
            note         noted
            done
            """);
    JsonNode json = new ObjectMapper().readTree(CopyReport.json(done));
    assertThat(json.get("seconds").get("full").asDouble()).isEqualTo(12.1);
    assertThat(json.get("lagSecondsAtFinish").asDouble()).isEqualTo(0.25);
    assertThat(json.get("oplogSecondsLeft").isNull()).isTrue();
    assertThat(json.has("secondsLeft")).isFalse();
  }
}
