package dev.onehop.routing.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.routing.internal.transport.SimulatedLane.State;
import dev.onehop.routing.transport.PipeliningSettings;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;

/** Replies to hellos that break the socket: their buffers are not lost, which closing tells. */
class UnusableRepliesTest {
  @Test
  void aRefusedSocketBreaksTheLaneForWhichItWasOpened() {
    try (SimulatedClient client = client()) {
      SimulatedLane first = client.idleLane();
      first.request("aggregate", "a", new BsonDocument());
      client.socket(1).connect();
      client.socket(1).refuse();

      assertThat(first.state).isEqualTo(State.BROKEN);
      assertThat(first.failure).hasMessageContaining("refused another socket");
    }
  }

  @Test
  void aReplyThatIsNoBsonBreaksTheLaneThatSaidHello() {
    try (SimulatedClient client = client()) {
      SimulatedLane first = client.lane();
      client.socket(0).connect();
      client.socket(0).answerNonsense();

      assertThat(first.state).isEqualTo(State.BROKEN);
      assertThat(first.failure).hasMessageContaining("unreadable reply");
    }
  }

  private static SimulatedClient client() {
    return new SimulatedClient(PipeliningSettings.builder().socketsPerServer(1), Credentials.NONE);
  }
}
