package dev.onehop.routing.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.routing.internal.transport.SimulatedLane.State;
import dev.onehop.routing.transport.PipeliningSettings;
import java.time.Duration;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;

/** Lanes that wait to authenticate with a certificate when the last shared socket is lost. */
class LostSocketsTest {
  @Test
  void anotherIsOpenedForThoseWhoWaitToAuthenticate() {
    try (SimulatedClient client = client()) {
      SimulatedLane waiting = loseTheSocketWhileOneWaitsToAuthenticate(client);
      client.answerAll();
      assertThat(waiting.state).isEqualTo(State.IDLE);
    }
  }

  @Test
  void theyBreakIfItCannotBeOpened() {
    try (SimulatedClient client = client()) {
      SimulatedLane waiting = loseTheSocketWhileOneWaitsToAuthenticate(client);
      client.socket(1).reset();
      assertThat(waiting.state).isEqualTo(State.BROKEN);
    }
  }

  /** The socket that is being opened at that moment is for somebody else. */
  @Test
  void theyAreLookedAfterFromTimeToTime() {
    try (SimulatedClient client = client()) {
      SimulatedLane first = client.idleLane();
      SimulatedLane waiting = client.twoThatAuthenticate().get(1);
      first.request("aggregate", "a", new BsonDocument());
      client.socket(0).reset();
      client.socket(1).connect();
      client.socket(1).answer();
      assertThat(client.server.sockets).hasSize(2);

      client.later(Duration.ofMillis(200));
      client.answerAllOn(2);
      assertThat(waiting.state).isEqualTo(State.IDLE);
    }
  }

  private static SimulatedLane loseTheSocketWhileOneWaitsToAuthenticate(SimulatedClient client) {
    client.idleLane();
    SimulatedLane waiting = client.twoThatAuthenticate().get(1);
    client.socket(0).reset();
    return waiting;
  }

  private static SimulatedClient client() {
    return new SimulatedClient(PipeliningSettings.builder().socketsPerServer(1), Credentials.X509);
  }
}
