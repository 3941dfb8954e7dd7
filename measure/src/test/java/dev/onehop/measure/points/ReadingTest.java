package dev.onehop.measure.points;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.frame.Sampler.Sample;
import dev.onehop.measure.results.Conditions;
import dev.onehop.measure.results.CpuPerOperation;
import dev.onehop.testbed.evidence.CpuTimes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ReadingTest {

  private static final long SECOND = 1_000_000_000L;

  private static @Nullable Duration millis(@Nullable Integer millis) {
    return millis == null ? null : Duration.ofMillis(millis);
  }

  private static Sample<Reading> cpu(
      long nanos,
      @Nullable Integer client,
      @Nullable Integer routers,
      @Nullable Integer mongods,
      @Nullable Integer links) {
    CpuTimes times = new CpuTimes(millis(routers), millis(mongods), millis(links));
    return new Sample<>(nanos, new Reading(millis(client), times, null, null, null, null));
  }

  private static Sample<Reading> machine(
      long seconds,
      @Nullable ProcStat machine,
      @Nullable Double megahertz,
      @Nullable Integer sockets,
      @Nullable Long bytes) {
    CpuTimes times = new CpuTimes(null, null, null);
    return new Sample<>(
        seconds * SECOND, new Reading(null, times, machine, megahertz, sockets, bytes));
  }

  /** A run with a number of operations per second. */
  private static RunSummary run(long fromNanos, long toNanos, double perSecond) {
    double seconds = (toNanos - fromNanos) / 1e9;
    return new RunSummary(
        fromNanos,
        toNanos,
        seconds,
        Math.round(perSecond * seconds),
        0,
        8.5,
        true,
        0.015,
        12,
        Map.of());
  }

  @Test
  void ignoresProcessorTimeOutsideWindow() {
    List<Sample<Reading>> samples =
        List.of(
            cpu(0, 0, 5, 0, 0),
            // The start-up of the client took 800 ms of processor time.
            cpu(SECOND, 800, 10, 20, 30),
            cpu(2 * SECOND, 900, 30, 60, 30),
            cpu(3 * SECOND, 1000, 50, 100, 31),
            cpu(4 * SECOND, 5000, 999, 999, 999));
    CpuPerOperation cpu =
        Reading.cpuPerOperation(samples, run(SECOND / 2, SECOND / 2 + 3 * SECOND, 200));
    assertThat(cpu).isEqualTo(new CpuPerOperation(500.0, 100.0, 200.0, 2.5));
    assertThat(cpu.total()).isEqualTo(802.5);
  }

  @Test
  void unknownProcessorTimeIsNull() {
    CpuPerOperation cpu =
        Reading.cpuPerOperation(
            List.of(cpu(0, 0, null, null, 0), cpu(SECOND, 100, null, null, 0)),
            run(0, SECOND, 1000));
    assertThat(cpu).isEqualTo(new CpuPerOperation(100.0, null, null, 0.0));
    assertThat(cpu.total()).isNull();
  }

  @Test
  void endedClientIsMeasuredUntilItsEnd() {
    CpuPerOperation cpu =
        Reading.cpuPerOperation(
            List.of(
                cpu(0, 0, 0, 0, 0),
                cpu(SECOND, 100, 50, 50, 50),
                cpu(2 * SECOND, null, 100, 100, 100)),
            run(0, 2 * SECOND, 1000));
    assertThat(cpu).isEqualTo(new CpuPerOperation(100.0, 50.0, 50.0, 50.0));
  }

  @Test
  void singleSampleGivesNoResult() {
    Sample<Reading> one = cpu(SECOND / 2, 1, 1, 1, 1);
    assertThat(Reading.cpuPerOperation(List.of(), run(0, SECOND, 100))).isNull();
    assertThat(Reading.cpuPerOperation(List.of(one), run(0, SECOND, 100))).isNull();
    assertThat(Reading.cpuPerOperation(List.of(one, cpu(SECOND, 2, 2, 2, 2)), run(0, SECOND, 0)))
        .isNull();
  }

  @Test
  void conditionsCoverOnlyMeasuredTime() {
    List<Sample<Reading>> samples =
        List.of(
            machine(0, new ProcStat(0, 0, 0, 90), 1_000.0, 500, 0L),
            machine(2, new ProcStat(1_000, 0, 10, 2), 2_000.0, 5, 1_000L),
            machine(3, new ProcStat(1_200, 0, 12, 4), 2_100.0, 7, 31_000L),
            machine(4, new ProcStat(1_400, 0, 16, 3), 2_200.0, 6, 61_000L),
            machine(9, new ProcStat(9_000, 0, 9_000, 90), 9.0, 900, 999_999L));

    Conditions seen = Reading.conditions(samples, run(SECOND, 5 * SECOND, 100));

    assertThat(seen).isEqualTo(new Conditions(0.015, 3.0, 2_100.0, 7, 300.0, 8.5, true, 0.015, 12));
    assertThat(seen.isDisturbed()).isTrue();
  }

  @Test
  void unknownConditionsAreNull() {
    Conditions seen =
        Reading.conditions(
            List.of(machine(2, null, null, null, null)), run(SECOND, 5 * SECOND, 100));

    assertThat(seen).isEqualTo(new Conditions(null, null, null, null, null, 8.5, true, 0.015, 12));
    assertThat(seen.isDisturbed()).isFalse();
  }

  @Test
  void parsesTimesOfFirstLine() {
    assertThat(
            ProcStat.parse(
                List.of(
                    "cpu  100 2 30 400 5 6 7 80 9 0",
                    "cpu0 1 1 1 1 1 1 1 1 1 1",
                    "procs_running 3")))
        .isEqualTo(new ProcStat(630, 405, 80, 3));
    assertThat(ProcStat.parse(List.of("nothing"))).isNull();
    assertThat(new ProcStat(1_000, 500, 0, 1).busySince(new ProcStat(600, 400, 0, 1)))
        .isEqualTo(0.75);
  }

  @Test
  void countsConnectionsOfProcess() throws IOException {
    long self = ProcessHandle.current().pid();
    Integer before = ProcStat.connections(self);
    try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket accepted = server.accept()) {
      assertThat(client.isConnected() && accepted.isConnected()).isTrue();
      // The connection counts twice, because both ends belong to this process. The listening socket
      // does not count.
      assertThat(ProcStat.connections(self)).isEqualTo(before + 2);
    }
  }
}
