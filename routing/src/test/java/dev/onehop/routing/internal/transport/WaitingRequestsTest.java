package dev.onehop.routing.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.routing.internal.transport.SimulatedLane.State;
import dev.onehop.routing.transport.PipeliningSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** No request comes behind one that may wait in the server, unless it may wait itself. */
class WaitingRequestsTest {
  private static final BsonDocument ONE = new BsonDocument("limit", new BsonInt32(1));

  private SimulatedClient client;
  private final List<SimulatedLane> lanes = new ArrayList<>();

  private void connect(Credentials credentials) {
    client = new SimulatedClient(PipeliningSettings.builder().socketsPerServer(4), credentials);
    for (int n = 0; n < 30; n++) {
      lanes.add(client.idleLane());
    }
    assertThat(client.openSockets()).hasSize(4);
  }

  @BeforeEach
  void noLanes() {
    lanes.clear();
  }

  @AfterEach
  void close() {
    client.close();
  }

  @ParameterizedTest
  @EnumSource(
      value = Credentials.class,
      names = {"NONE", "SCRAM"})
  void writesLeaveASocketToReads(Credentials credentials) {
    connect(credentials);
    lanes.get(29).request("find", "r", ONE);
    for (SimulatedLane lane : lanes.subList(0, 20)) {
      lane.request("update", "w", new BsonDocument());
    }
    for (SimulatedLane lane : lanes.subList(20, 29)) {
      lane.request("find", "r", ONE);
    }

    answerWhatIsNotBehindA("update");

    assertThat(lanes.subList(20, 30))
        .allSatisfy(lane -> assertThat(lane.state).isEqualTo(State.IDLE));
    // And they have all the others.
    assertThat(client.server.sockets.stream().filter(s -> !s.unanswered.isEmpty()).count())
        .isEqualTo(3);
    client.answerAll();
    assertThat(lanes).allSatisfy(lane -> assertThat(lane.state).isEqualTo(State.IDLE));
  }

  /** Before there are any reads, writes have all sockets. */
  @ParameterizedTest
  @EnumSource(
      value = Credentials.class,
      names = {"NONE", "SCRAM"})
  void writesThatHangOnEverySocketHoldUpNoLaterRead(Credentials credentials) {
    connect(credentials);
    for (SimulatedLane lane : lanes.subList(0, 20)) {
      lane.request("update", "w", new BsonDocument());
    }
    client.laterMillis(200);
    for (SimulatedLane lane : lanes.subList(20, 30)) {
      lane.request("find", "r", ONE);
    }

    answerWhatIsNotBehindA("update");

    assertThat(lanes.subList(20, 30))
        .allSatisfy(lane -> assertThat(lane.state).isEqualTo(State.IDLE));
    client.answerAll();
  }

  @ParameterizedTest
  @EnumSource(
      value = Credentials.class,
      names = {"NONE", "SCRAM"})
  void whatWaitsForMembersHoldsUpNoReader(Credentials credentials) {
    connect(credentials);
    for (SimulatedLane lane : lanes.subList(0, 6)) {
      lane.request("insert", "w", BsonDocument.parse("{writeConcern: {w: 3}}"));
    }
    for (int round = 0; round < 5; round++) {
      client.laterMillis(400);
      for (SimulatedLane lane : lanes.subList(20, 30)) {
        lane.request("find", "r", ONE);
      }
      answerWhatIsNotBehindA("insert");
      assertThat(lanes.subList(20, 30))
          .allSatisfy(lane -> assertThat(lane.state).isEqualTo(State.IDLE));
    }
    assertThat(lanes.subList(0, 6))
        .allSatisfy(lane -> assertThat(lane.state).isEqualTo(State.WAITING));
    client.answerAll();
  }

  @ParameterizedTest
  @EnumSource(
      value = Credentials.class,
      names = {"NONE", "SCRAM"})
  void writesThatTakeLongAreNotInTheWayOfLaterOnes(Credentials credentials) {
    connect(credentials);
    lanes.get(0).request("find", "usual", ONE);
    client.answerAll();
    lanes.get(0).request("update", "hangs", new BsonDocument());
    client.laterMillis(200);
    lanes.get(1).request("update", "w", new BsonDocument());

    assertThat(client.server.sockets)
        .allSatisfy(s -> assertThat(s.unanswered.size()).isLessThan(2));
    client.answerAll();
  }

  @ParameterizedTest
  @EnumSource(
      value = Credentials.class,
      names = {"NONE", "SCRAM"})
  void slowRequestsWithoutAReplyHoldUpNoReader(Credentials credentials) {
    connect(credentials);
    for (SimulatedLane lane : lanes.subList(0, 2)) {
      lane.slowUnacknowledged();
    }
    // The way to sockets of their own, as far as it takes one.
    client.answerAllOn(client.server.sockets.size() - 1);
    client.answerAllOn(client.server.sockets.size() - 2);
    for (SimulatedLane lane : lanes.subList(20, 30)) {
      lane.request("find", "r", ONE);
    }

    answerWhatIsNotBehindA("ping");

    assertThat(lanes.subList(20, 30))
        .allSatisfy(lane -> assertThat(lane.state).isEqualTo(State.IDLE));
    client.answerAll();
    assertThat(lanes).noneMatch(SimulatedLane::hasUnsent);
  }

  /** A connection carries out one request after the other. */
  @ParameterizedTest
  @EnumSource(
      value = Credentials.class,
      names = {"NONE", "SCRAM"})
  void aLaneGoesOnWhereItsRequestWithoutAReplyIs(Credentials credentials) {
    connect(credentials);
    SimulatedLane lane = lanes.get(0);
    lane.unacknowledged();
    SimulatedServer.Socket socket =
        client.server.sockets.stream().filter(s -> !s.unanswered.isEmpty()).findFirst().get();
    lane.unacknowledged();
    lane.request("find", "r", ONE);
    assertThat(client.server.sockets)
        .allSatisfy(s -> assertThat(s.unanswered.isEmpty()).isEqualTo(s != socket));
    client.answerAll();

    lane.unacknowledged();
    lane.request("aggregate", "a", new BsonDocument());
    assertThat(lane.hasUnsent()).isTrue();
    client.answerAll();
    assertThat(lane.state).isEqualTo(State.IDLE);
    client.later(Duration.ofSeconds(1));
  }

  private void answerWhatIsNotBehindA(String command) {
    for (SimulatedServer.Socket socket : List.copyOf(client.server.sockets)) {
      if (socket.isConnecting()) {
        socket.connect();
      }
      while (socket.isOpen()
          && !socket.unanswered.isEmpty()
          && !socket.unanswered.peek().commandName().equals(command)) {
        socket.answer();
      }
    }
  }
}
