package dev.onehop.routing.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.routing.internal.transport.SimulatedLane.State;
import dev.onehop.routing.transport.PipeliningSettings;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests without a reply, which the driver takes for done once they are taken. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnacknowledgedRequestsTest {
  private static final Duration SLOW_HEAD = Duration.ofSeconds(1);
  private static final Duration MAX_WAIT = Duration.ofSeconds(10);

  private final SimulatedClient client =
      new SimulatedClient(
          PipeliningSettings.builder()
              .socketsPerServer(1)
              .maxInFlightPerSocket(4)
              .maxOwnSockets(1)
              .slowHead(SLOW_HEAD)
              .maxWaitTime(MAX_WAIT),
          Credentials.NONE);

  private SimulatedLane first;
  private SimulatedLane second;
  private SimulatedLane silent;
  private SimulatedServer.Socket socket;

  @BeforeEach
  void threeLanesOnOneSocket() {
    first = client.idleLane();
    second = client.idleLane();
    silent = client.idleLane();
    assertThat(client.server.sockets).hasSize(1);
    socket = client.socket(0);
    // Without it, the slow answer would be the only one known, and so the usual one.
    first.request("find", "quick", new BsonDocument("limit", new BsonInt32(1)));
    client.now += TimeUnit.MILLISECONDS.toNanos(1);
    socket.answer();
  }

  @AfterEach
  void close() {
    client.close();
  }

  /** Seen as an event loop that never came back, its processor busy. */
  @ParameterizedTest
  @ValueSource(ints = {150, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 900})
  void aSocketThatBecomesSlowWhileOneIsOfferedAgainEndsTheRound(int millisPerLook) {
    turnAwayBehindTwoFinds();

    client.nanosPerLook = TimeUnit.MILLISECONDS.toNanos(millisPerLook);
    socket.answer();
    client.nanosPerLook = 0;
    assertThat(first.state).isEqualTo(State.IDLE);

    socket.answer();
    assertThat(second.state).isEqualTo(State.IDLE);
    assertThat(silent.hasUnsent()).isFalse();
  }

  @Test
  void whoIsTurnedAwayWaitsNoLongerThanOthers() {
    turnAwayBehindTwoFinds();

    client.later(MAX_WAIT.minusSeconds(1));
    assertThat(silent.state).isEqualTo(State.IDLE);

    client.later(Duration.ofSeconds(1));
    assertThat(silent.state).isEqualTo(State.BROKEN);
    assertThat(silent.failure).hasMessageContaining("within 10000 ms");
    assertThat(first.state).isEqualTo(State.WAITING);
  }

  @Test
  void whoWasTakenInTheEndHasNoTimeLimitLeft() {
    turnAwayBehindTwoFinds();
    socket.answer();
    assertThat(silent.hasUnsent()).isFalse();

    client.later(MAX_WAIT.plusSeconds(1));
    assertThat(silent.state).isEqualTo(State.IDLE);
  }

  private void turnAwayBehindTwoFinds() {
    first.request("find", "a", new BsonDocument("limit", new BsonInt32(1)));
    second.request("find", "b", new BsonDocument("limit", new BsonInt32(1)));
    client.now += SLOW_HEAD.toNanos() + 1;
    silent.unacknowledged();
    assertThat(silent.hasUnsent()).isTrue();
  }
}
