package dev.onehop.measure.points;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.points.CpuSampler.Sample;
import dev.onehop.measure.results.CpuPerOperation;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class CpuSamplerTest {

  private static final long SECOND = 1_000_000_000L;

  private static Duration millis(long millis) {
    return Duration.ofMillis(millis);
  }

  @Test
  void whatWasUsedOutsideTheWindowDoesNotCount() {
    CpuSampler sampler = new CpuSampler();
    sampler.add(new Sample(0, millis(0), millis(5), millis(0), millis(0)));
    // The start-up of the client took 800 ms of processor time.
    sampler.add(new Sample(SECOND, millis(800), millis(10), millis(20), millis(30)));
    sampler.add(new Sample(2 * SECOND, millis(900), millis(30), millis(60), millis(30)));
    sampler.add(new Sample(3 * SECOND, millis(1000), millis(50), millis(100), millis(31)));
    sampler.add(new Sample(4 * SECOND, millis(5000), millis(999), millis(999), millis(999)));
    CpuPerOperation cpu = sampler.perOperation(SECOND / 2, 3 * SECOND + 5, 200);
    assertThat(cpu).isEqualTo(new CpuPerOperation(500.0, 100.0, 200.0, 2.5));
    assertThat(cpu.total()).isEqualTo(802.5);
  }

  @Test
  void whatIsNotKnownIsNull() {
    CpuSampler sampler = new CpuSampler();
    sampler.add(new Sample(0, millis(0), null, null, millis(0)));
    sampler.add(new Sample(SECOND, millis(100), null, null, millis(0)));
    CpuPerOperation cpu = sampler.perOperation(0, SECOND, 1000);
    assertThat(cpu).isEqualTo(new CpuPerOperation(100.0, null, null, 0.0));
    assertThat(cpu.total()).isNull();
  }

  @Test
  void aClientThatHasEndedIsMeasuredUntilThen() {
    CpuSampler sampler = new CpuSampler();
    sampler.add(new Sample(0, millis(0), millis(0), millis(0), millis(0)));
    sampler.add(new Sample(SECOND, millis(100), millis(50), millis(50), millis(50)));
    sampler.add(new Sample(2 * SECOND, null, millis(100), millis(100), millis(100)));
    CpuPerOperation cpu = sampler.perOperation(0, 2 * SECOND, 1000);
    assertThat(cpu).isEqualTo(new CpuPerOperation(100.0, 50.0, 50.0, 50.0));
  }

  @Test
  void oneSampleTellsNothing() {
    CpuSampler sampler = new CpuSampler();
    assertThat(sampler.perOperation(0, SECOND, 100)).isNull();
    sampler.add(new Sample(SECOND / 2, millis(1), millis(1), millis(1), millis(1)));
    assertThat(sampler.perOperation(0, SECOND, 100)).isNull();
    sampler.add(new Sample(SECOND, millis(2), millis(2), millis(2), millis(2)));
    assertThat(sampler.perOperation(0, SECOND, 0)).isNull();
  }
}
