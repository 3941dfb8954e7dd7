package dev.onehop.measure.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.results.MachineFacts;
import org.junit.jupiter.api.Test;

class VerdictTest {

  @Test
  void intervalDecidesWhetherFaster() {
    assertThat(Verdict.faster(1.7, 1.6, 1.8, "")).isEqualTo("1.70 times as fast as");
    assertThat(Verdict.faster(1.7, 0.9, 2.5, "")).isEqualTo("as fast as");
    assertThat(Verdict.faster(0.7, 0.6, 0.8, "all pass one mongos"))
        .isEqualTo("not faster (0.70 times, because all pass one mongos) than");
  }

  @Test
  void withoutIntervalSmallDifferenceIsEqual() {
    assertThat(Verdict.faster(1.08, "")).isEqualTo("as fast as");
    assertThat(Verdict.faster(0.93, "")).isEqualTo("as fast as");
    assertThat(Verdict.faster(1.2, "")).isEqualTo("1.20 times as fast as");
    assertThat(Verdict.faster(0.5, "")).isEqualTo("not faster (0.50 times) than");
  }

  @Test
  void timesAreShorterOrLonger() {
    assertThat(Verdict.shorter(15, 885)).isEqualTo("59 times shorter than");
    assertThat(Verdict.shorter(20, 10)).isEqualTo("2.00 times longer than");
    assertThat(Verdict.shorter(10, 10.5)).isEqualTo("as long as");
    assertThat(Verdict.shorter(0, 10)).isEqualTo("not comparable with");
  }

  @Test
  void moreThan85PercentIsSaturated() {
    MachineFacts machine = new MachineFacts("cpu", 2, 1, "os", "17", "0", "", "5", "0");
    assertThat(Load.cores(1.6, machine).mark()).isEmpty();
    assertThat(Load.cores(1.8, machine).mark()).isEqualTo(", saturated");
    assertThat(Load.cores(1.8, null).isSaturated()).isFalse();
  }
}
