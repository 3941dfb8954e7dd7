package dev.onehop.routing.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.routing.internal.transport.SimulatedLane.State;
import dev.onehop.routing.transport.PipeliningSettings;
import java.time.Duration;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.Test;

/** With TLS, a socket takes an engine of the driver's, and there is one for each lane. */
class TlsSocketsTest {
  /** The password would go out in the clear. */
  @Test
  void aMechanismThatTheHelloSaysNothingOfFindsTheSocketOfItsLane() {
    try (SimulatedClient client = client(Credentials.PLAIN)) {
      SimulatedLane first = client.idleLane();
      assertThat(client.server.sockets).hasSize(1);
      SimulatedLane second = client.idleLane();

      assertThat(client.server.failure).isNull();
      first.request("find", "a", new BsonDocument("limit", new BsonInt32(1)));
      second.request("find", "b", new BsonDocument("limit", new BsonInt32(1)));
      assertThat(client.socket(0).unanswered).hasSize(1);
      assertThat(client.socket(1).unanswered).hasSize(1);
      client.answerAll();
      assertThat(client.openSockets()).hasSize(2);
    }
  }

  @Test
  void anIdleSocketWillDoForIt() {
    try (SimulatedClient client = client(Credentials.NONE)) {
      SimulatedLane first = client.idleLane();
      SimulatedLane second = client.lane(Credentials.PLAIN, 0);
      first.request("aggregate", "a", new BsonDocument());
      // The aggregate's socket takes the second lane's engine, and is idle again.
      client.socket(1).connect();
      client.socket(1).answer();
      client.socket(1).answer();
      assertThat(first.state).isEqualTo(State.IDLE);

      client.answerAll();
      assertThat(second.state).isEqualTo(State.IDLE);
      assertThat(client.openSockets()).hasSize(2);
    }
  }

  @Test
  void whoFindsNoEngineBreaks() {
    try (SimulatedClient client = client(Credentials.NONE)) {
      SimulatedLane first = client.idleLane();
      SimulatedLane second = client.lane(Credentials.PLAIN, 0);
      first.request("aggregate", "a", new BsonDocument());

      client.answerAllOn(0);
      assertThat(second.state).isEqualTo(State.BROKEN);
      assertThat(second.failure).hasMessageContaining("can be opened any more");
      client.answerAll();
      assertThat(first.state).isEqualTo(State.IDLE);
      assertThat(client.openSockets()).hasSize(2);
    }
  }

  @Test
  void aLaneWhoseEngineIsInUseJoinsTheOthers() {
    try (SimulatedClient client =
        new SimulatedClient(
            PipeliningSettings.builder().socketsPerServer(3), Credentials.NONE, true)) {
      SimulatedLane first = client.idleLane();
      SimulatedLane second = client.lateLane(0);
      first.request("aggregate", "a", new BsonDocument());
      client.answerAllOn(1);
      second.hello();

      client.answerAll();
      assertThat(first.state).isEqualTo(State.IDLE);
      assertThat(second.state).isEqualTo(State.IDLE);
      assertThat(client.openSockets()).hasSize(2);
    }
  }

  @Test
  void anIdleSocketIsKeptWhereNoOtherCouldBeOpened() {
    try (SimulatedClient client = client(Credentials.NONE)) {
      SimulatedLane first = client.idleLane();
      SimulatedLane second = client.idleLane();
      first.request("aggregate", "a", new BsonDocument());
      client.answerAll();
      client.later(Duration.ofSeconds(61));
      assertThat(client.openSockets()).hasSize(2);

      client.socket(0).reset();
      second.request("find", "b", new BsonDocument("limit", new BsonInt32(1)));
      client.answerAll();
      assertThat(second.state).isEqualTo(State.IDLE);
    }
  }

  private static SimulatedClient client(Credentials credentials) {
    return new SimulatedClient(PipeliningSettings.builder().socketsPerServer(1), credentials, true);
  }
}
