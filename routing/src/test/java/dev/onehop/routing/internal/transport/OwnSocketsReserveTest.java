package dev.onehop.routing.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.routing.transport.PipeliningSettings;
import java.time.Duration;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** With SCRAM, new lanes open sockets for requests that need one alone. */
class OwnSocketsReserveTest {
  private final SimulatedClient client =
      new SimulatedClient(PipeliningSettings.builder().socketsPerServer(2), Credentials.SCRAM);
  private SimulatedLane first;
  private SimulatedLane second;

  @BeforeEach
  void twoSharedSockets() {
    first = client.idleLane();
    second = client.idleLane();
    client.idleLane();
    assertThat(client.openSockets()).hasSize(2);
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void requestsOneAfterTheOtherNeedOne() {
    for (int n = 0; n < 10; n++) {
      first.request("aggregate", "a" + n, new BsonDocument());
      client.answerAll();
    }
    tenNewLanes();
    assertThat(client.openSockets()).hasSize(3);
  }

  @Test
  void whatIsNotNeededAnyMoreIsClosed() {
    first.request("aggregate", "a", new BsonDocument());
    second.request("aggregate", "b", new BsonDocument());
    client.answerAll();
    first.request("aggregate", "c", new BsonDocument());
    tenNewLanes();
    int needed = client.openSockets().size();
    assertThat(needed).isGreaterThan(2);

    client.later(Duration.ofSeconds(61));
    assertThat(client.openSockets()).hasSize(needed);
    client.later(Duration.ofSeconds(61));
    assertThat(client.openSockets()).hasSize(2);
  }

  private void tenNewLanes() {
    for (int n = 0; n < 10; n++) {
      client.idleLane();
    }
  }
}
