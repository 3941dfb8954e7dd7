package dev.onehop.routing.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.routing.internal.transport.SimulatedLane.State;
import dev.onehop.routing.transport.PipeliningSettings;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.Test;

/** With SCRAM, lanes authenticate on sockets that others use, and none can be opened for them. */
class AuthenticationAmongOthersTest {
  private static final Duration MAX_WAIT = Duration.ofSeconds(10);
  private static final BsonDocument ONE = new BsonDocument("limit", new BsonInt32(1));

  @Test
  void aConversationAvoidsTheSocketThatDoesNotAnswer() {
    try (SimulatedClient client = client(2)) {
      SimulatedLane first = client.idleLane();
      SimulatedLane second = client.idleLane();
      SimulatedLane third = client.idleLane();
      first.request("find", "slow", ONE);
      client.laterMillis(100);
      SimulatedLane late = client.lane();
      second.request("find", "b", ONE);
      third.request("find", "c", ONE);
      // The hello's reply, whereupon the lane begins to authenticate.
      client.socket(1).answer();

      assertThat(client.socket(0).unanswered).hasSize(1);
      assertThat(client.socket(1).unanswered).hasSize(3);
      client.answerAll();
      assertThat(late.state).isEqualTo(State.IDLE);
    }
  }

  @Test
  void aSocketThatDoesNotAnswerIsNotTakenOutOfSharing() {
    try (SimulatedClient client = client(2)) {
      SimulatedLane first = client.idleLane();
      SimulatedLane second = client.idleLane();
      SimulatedLane third = client.idleLane();
      SimulatedLane fourth = client.idleLane();
      first.request("find", "slow", ONE);
      client.laterMillis(100);
      second.request("find", "b", ONE);
      third.request("find", "c", ONE);
      fourth.request("aggregate", "d", new BsonDocument());

      assertThat(client.socket(0).unanswered).hasSize(1);
      assertThat(client.socket(1).unanswered).hasSize(3);
      client.answerAll();
    }
  }

  @Test
  void aHelloThatWaitsBehindRequestsThatAreStuckOpensTheirSocket() {
    try (SimulatedClient client = client(1)) {
      SimulatedLane first = client.idleLane();
      SimulatedLane second = client.idleLane();
      first.request("find", "slow", ONE);
      client.laterMillis(100);
      second.request("find", "stuck", ONE);
      SimulatedLane late = client.lane();
      assertThat(client.server.sockets).hasSize(1);

      client.laterMillis(2_000);
      client.answerAllOn(1);
      assertThat(late.state).isEqualTo(State.IDLE);
      client.laterMillis(200);
      client.answerAllOn(1);
      assertThat(second.state).isEqualTo(State.IDLE);
      assertThat(first.state).isEqualTo(State.WAITING);
    }
  }

  @Test
  void whoWaitsToAuthenticateHasATimeLimit() {
    try (SimulatedClient client = client(1)) {
      client.idleLane();
      List<SimulatedLane> two = client.twoThatAuthenticate();
      SimulatedLane second = two.get(0);
      SimulatedLane third = two.get(1);

      client.later(MAX_WAIT);
      assertThat(third.state).isEqualTo(State.BROKEN);
      assertThat(third.failure).hasMessageContaining("within 10000 ms");
      client.answerAll();
      assertThat(second.state).isEqualTo(State.IDLE);
    }
  }

  @Test
  void aLaneThatWasRefusedSendsNothingAmongOthers() {
    try (SimulatedClient client = client(1)) {
      client.idleLane();
      SimulatedLane refused = client.lane();
      client.socket(0).answer();
      client.socket(0).refuse();

      assertThatThrownBy(() -> refused.request("find", "a", ONE))
          .hasRootCauseInstanceOf(PipelineException.class)
          .hasMessageContaining("find before the connection is authenticated");
      assertThat(client.socket(0).unanswered).isEmpty();
    }
  }

  @Test
  void underTheStrictStableApiASocketIsAuthenticatedOnce() {
    try (SimulatedClient client = client(2, Credentials.STRICT_SCRAM)) {
      List<SimulatedLane> lanes = Stream.generate(client::lane).limit(10).toList();
      client.answerAll();

      assertThat(lanes).allSatisfy(lane -> assertThat(lane.state).isEqualTo(State.IDLE));
      assertThat(client.openSockets()).hasSize(2);
      lanes.forEach(lane -> lane.request("find", "a", ONE));
      client.answerAll();
      assertThat(lanes).allSatisfy(lane -> assertThat(lane.state).isEqualTo(State.IDLE));
      assertThat(client.server.failure).isNull();
    }
  }

  @Test
  void underTheStrictStableApiEachLaneIsRefusedByTheServer() {
    try (SimulatedClient client = client(1, Credentials.STRICT_SCRAM)) {
      client.idleLane();
      SimulatedLane refused = client.lane();
      client.socket(1).connect();
      client.socket(1).answer();
      client.socket(1).refuse();
      refused.request("find", "a", ONE);

      assertThat(client.socket(0).unanswered).isEmpty();
      assertThat(client.socket(1).unanswered).hasSize(1);
      refused.close();
    }
  }

  private static SimulatedClient client(int sockets) {
    return client(sockets, Credentials.SCRAM);
  }

  private static SimulatedClient client(int sockets, Credentials credentials) {
    return new SimulatedClient(
        PipeliningSettings.builder().socketsPerServer(sockets).maxWaitTime(MAX_WAIT), credentials);
  }
}
