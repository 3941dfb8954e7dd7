package dev.onehop.routing.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.routing.internal.transport.SimulatedLane.State;
import dev.onehop.routing.transport.PipeliningSettings;
import java.time.Duration;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is looked after from time to time. */
class SweepTest {
  private final SimulatedClient client =
      new SimulatedClient(
          PipeliningSettings.builder().socketsPerServer(1).maxOwnSockets(1), Credentials.NONE);

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void aHelloHasItsTimeFromWhenItIsSent() {
    SimulatedLane lane = client.lateLane(10_000);
    client.socket(0).connect();
    client.later(Duration.ofMillis(9_900));
    lane.hello();
    client.laterMillis(200);
    assertThat(lane.state).isEqualTo(State.HELLO);

    client.laterMillis(10_000);
    assertThat(lane.state).isEqualTo(State.BROKEN);
    assertThat(lane.failure).hasMessageContaining("has not answered the hello within 10000 ms");
  }

  @Test
  void aSocketThatTheTransportOpensHasATimeLimitToo() {
    SimulatedLane lane = client.idleLane();
    lane.request("aggregate", "a", new BsonDocument());
    client.laterMillis(10_000);
    assertThat(lane.state).isEqualTo(State.WAITING);
    client.laterMillis(200);
    assertThat(lane.state).isEqualTo(State.BROKEN);
  }

  /** A socket that watches the server takes no room from those that serve. */
  @Test
  void whoWaitsForRoomIsServedWhenThereIsSome() {
    SimulatedLane first = client.idleLane();
    SimulatedLane second = client.idleLane();
    second.request(
        "hello",
        "watch",
        new BsonDocument("helloOk", BsonBoolean.TRUE)
            .append("maxAwaitTimeMS", new BsonInt32(10_000)));
    first.request("aggregate", "a", new BsonDocument());
    assertThat(client.server.sockets).hasSize(2);
    client.socket(1).connect();
    client.socket(1).answer();

    client.laterMillis(200);
    assertThat(client.server.sockets).hasSize(3);
    client.answerAllOn(2);
    assertThat(first.state).isEqualTo(State.IDLE);
  }

  @Test
  void aFailureEndsNothing() {
    SimulatedLane lane = client.idleLane();
    client.socket(0).sick = true;
    client.laterMillis(200);
    client.socket(0).sick = false;
    client.laterMillis(200);
    assertThat(lane.state).isEqualTo(State.IDLE);
  }

  /** With a timeout for the whole operation, a lane has only what is left of it to connect. */
  @Test
  void aSocketForOthersHasTheUsualTimeToConnect() {
    client.lane(50);
    client.answerAll();
    SimulatedLane second = client.lane(50);
    client.answerAll();
    second.request("aggregate", "a", new BsonDocument());
    client.answerAll();

    assertThat(client.socket(0).options.connectTimeoutMillis()).isEqualTo(50);
    assertThat(client.socket(1).options.connectTimeoutMillis()).isEqualTo(10_000);
  }

  @Test
  void aLongerOneIsKept() {
    SimulatedLane lane = client.lane(30_000);
    client.answerAll();
    lane.request("aggregate", "a", new BsonDocument());
    client.answerAll();
    assertThat(client.socket(1).options.connectTimeoutMillis()).isEqualTo(30_000);
  }
}
