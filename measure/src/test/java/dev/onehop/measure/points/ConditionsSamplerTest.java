package dev.onehop.measure.points;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.points.ConditionsSampler.Sample;
import dev.onehop.measure.results.Conditions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConditionsSamplerTest {
  private static final long SECOND = 1_000_000_000L;

  private static RunSummary summary() {
    return new RunSummary(
        SECOND, 5 * SECOND, 4, 400, 0, "5.8", 10, 8.5, true, 0.015, 12, java.util.Map.of());
  }

  @Test
  void onlyTheMeasuredTimeCounts() {
    ConditionsSampler sampler = new ConditionsSampler();
    sampler.add(new Sample(0, new ProcStat(0, 0, 90), 1_000.0, 500, 0L));
    sampler.add(new Sample(2 * SECOND, new ProcStat(1_000, 10, 2), 2_000.0, 5, 1_000L));
    sampler.add(new Sample(3 * SECOND, new ProcStat(1_200, 12, 4), 2_100.0, 7, 31_000L));
    sampler.add(new Sample(4 * SECOND, new ProcStat(1_400, 16, 3), 2_200.0, 6, 61_000L));
    sampler.add(new Sample(9 * SECOND, new ProcStat(9_000, 9_000, 90), 9.0, 900, 999_999L));

    Conditions seen = sampler.during(summary());

    assertThat(seen).isEqualTo(new Conditions(0.015, 3.0, 2_100.0, 7, 300.0, 8.5, true, 0.015, 12));
    assertThat(seen.isDisturbed()).isTrue();
  }

  @Test
  void whatIsNotKnownIsNull() {
    ConditionsSampler sampler = new ConditionsSampler();
    sampler.add(new Sample(2 * SECOND, null, null, null, null));

    Conditions seen = sampler.during(summary());

    assertThat(seen).isEqualTo(new Conditions(null, null, null, null, null, 8.5, true, 0.015, 12));
    assertThat(seen.isDisturbed()).isFalse();
  }

  @Test
  void stealIsTheEighthTimeOfTheFirstLine() {
    assertThat(
            ProcStat.parse(
                List.of(
                    "cpu  100 2 30 400 5 6 7 80 9 0",
                    "cpu0 1 1 1 1 1 1 1 1 1 1",
                    "procs_running 3")))
        .isEqualTo(new ProcStat(630, 80, 3));
    assertThat(ProcStat.parse(List.of("nothing"))).isNull();
  }

  @Test
  void aProcessesConnectionsAreCounted() throws IOException {
    long self = ProcessHandle.current().pid();
    Integer before = ProcStat.connections(self);
    try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket accepted = server.accept()) {
      assertThat(client.isConnected() && accepted.isConnected()).isTrue();
      // Both ends are this process's; that which listens is no connection.
      assertThat(ProcStat.connections(self)).isEqualTo(before + 2);
    }
  }
}
