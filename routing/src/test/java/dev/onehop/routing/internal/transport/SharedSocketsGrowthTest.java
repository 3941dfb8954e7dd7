package dev.onehop.routing.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.routing.transport.PipeliningSettings;
import java.time.Duration;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When the transport opens one more shared socket by itself. */
class SharedSocketsGrowthTest {
  private static final BsonDocument ONE = new BsonDocument("limit", new BsonInt32(1));

  private final SimulatedClient client =
      new SimulatedClient(PipeliningSettings.builder().socketsPerServer(2), Credentials.NONE);
  private SimulatedLane first;
  private SimulatedLane second;
  private SimulatedLane third;
  private SimulatedLane fourth;

  @BeforeEach
  void oneOfTwoSocketsIsLost() {
    first = client.idleLane();
    second = client.idleLane();
    third = client.idleLane();
    fourth = client.idleLane();
    assertThat(client.server.sockets).hasSize(2);
    client.socket(1).reset();
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void aServerThatTakesNoMoreIsAskedAgainLater() {
    first.request("find", "a", ONE);
    second.request("find", "b", ONE);
    client.socket(2).reset();
    third.request("find", "c", ONE);
    assertThat(client.server.sockets).hasSize(3);

    client.later(Duration.ofSeconds(1));
    client.socket(0).answer();
    first.request("find", "d", ONE);
    assertThat(client.server.sockets).hasSize(4);
  }

  @Test
  void itIsAskedAtOnceWhenThereIsNoOther() {
    first.request("find", "a", ONE);
    second.request("find", "b", ONE);
    client.socket(2).reset();
    client.socket(0).reset();
    third.request("find", "c", ONE);

    assertThat(client.server.sockets).hasSize(4);
    client.answerAll();
    assertThat(third.state).isEqualTo(SimulatedLane.State.IDLE);
  }

  @Test
  void anUnacknowledgedRequestThatIsTurnedAwayWantsOne() {
    first.request("find", "slow", ONE);
    client.laterMillis(100);
    fourth.unacknowledged();
    assertThat(fourth.hasUnsent()).isTrue();

    assertThat(client.server.sockets).hasSize(3);
    client.answerAllOn(2);
    assertThat(fourth.hasUnsent()).isFalse();
  }

  @Test
  void oneThatIsSentAmongOthersWantsOne() {
    first.request("find", "a", ONE);
    fourth.unacknowledged();
    assertThat(fourth.hasUnsent()).isFalse();
    assertThat(client.server.sockets).hasSize(3);
  }

  @Test
  void aRequestThatWaitsBehindASlowOneWantsOne() {
    first.request("find", "slow", ONE);
    client.laterMillis(100);
    second.request("find", "b", ONE);

    assertThat(client.server.sockets).hasSize(3);
    client.answerAllOn(2);
    assertThat(second.state).isEqualTo(SimulatedLane.State.IDLE);
  }
}
