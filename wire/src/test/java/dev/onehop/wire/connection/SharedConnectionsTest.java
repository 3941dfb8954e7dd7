package dev.onehop.wire.connection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.wire.connection.SimulatedLinks.Request;
import dev.onehop.wire.connection.SimulatedLinks.SimulatedLink;
import dev.onehop.wire.message.PoolWaitException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The choice of the connection for a request, and the outcome of the request. */
class SharedConnectionsTest {
  private static final int REAUTHENTICATION_REQUIRED = 391;
  private static final int SHUTDOWN_IN_PROGRESS = 91;

  private SimulatedLinks links = new SimulatedLinks(4, 64);

  @AfterEach
  void close() {
    links.close();
    assertThat(links.meter(SharingMeters.SOCKETS, "use", "shared")).isZero();
  }

  private List<Request> send(String command, int times) {
    List<Request> requests = new ArrayList<>();
    for (int n = 0; n < times; n++) {
      requests.add(links.send(command));
    }
    return requests;
  }

  private static void assertAnswered(List<Request> requests) {
    assertThat(requests).allSatisfy(Request::assertAnswered);
  }

  /** On each connection, replies to all requests before the first request with this command. */
  private void answerRequestsBefore(String command) {
    for (SimulatedLink link : links.links) {
      while (!link.pending.isEmpty() && !link.pending.peek().command().equals(command)) {
        link.answer();
      }
    }
  }

  @Test
  void writesLeaveOneConnectionForReads() {
    links.openAllowed();
    List<Request> reads = send("find", 1);
    List<Request> writes = send("update", 20);
    reads.addAll(send("find", 9));

    answerRequestsBefore("update");

    assertAnswered(reads);
    // The writes use all other shared connections.
    assertThat(links.open(true)).hasSize(3);
    links.answerAll();
    assertAnswered(writes);
  }

  /**
   * Before the first read, writes use all connections. Later reads then get separate connections.
   */
  @Test
  void blockedWritesDoNotDelayLaterReads() {
    links.openAllowed();
    send("update", 20);
    assertThat(links.open(true)).hasSize(4);
    links.advanceClock(Duration.ofMillis(200));
    List<Request> reads = send("find", 10);

    while (!links.own.isEmpty()) {
      links.answerOwn();
    }

    assertAnswered(reads);
  }

  @Test
  void slowWriteDoesNotDelayLaterWrites() {
    links.openAllowed();
    send("update", 1);
    links.advanceClock(Duration.ofMillis(200));
    send("update", 1);

    assertThat(links.links).allSatisfy(link -> assertThat(link.pending.size()).isLessThan(2));
  }

  @Test
  void writeDoesNotUseOnlySharedConnection() {
    links.close();
    links = new SimulatedLinks(1, 64);
    Request write = links.send("update");

    links.answerOwn();

    write.assertAnswered();
    assertThat(links.opening).isEmpty();
  }

  @Test
  void limitsRequestsInFlight() {
    links.close();
    links = new SimulatedLinks(2, 3);
    links.openAllowed();
    List<Request> reads = send("find", 10);
    assertThat(links.links).allSatisfy(link -> assertThat(link.pending).hasSize(3));

    links.links.get(0).answer();
    assertThat(links.links.get(0).pending).hasSize(3);
    links.answerAll();
    assertAnswered(reads);
  }

  @Test
  void skipsConnectionWithSlowRequest() {
    links.openAllowed();
    Request slow = links.send("find");
    SimulatedLink behind = links.open(true).get(0);
    links.advanceClock(Duration.ofMillis(200));
    List<Request> reads = send("find", 30);

    assertThat(behind.pending).hasSize(1);
    assertThat(links.meter(SharingMeters.SLOW_HEADS)).isEqualTo(1);
    links.answerAll();
    assertAnswered(reads);
    slow.assertAnswered();
  }

  @Test
  void delayedRequestGetsSeparateConnection() {
    links.openAllowed();
    send("find", 4);
    links.advanceClock(Duration.ofMillis(200));
    Request stuck = links.send("find");
    links.advanceClock(Duration.ofMillis(900));
    assertThat(links.own).isEmpty();

    links.advanceClock(Duration.ofMillis(200));
    links.answerOwn();

    stuck.assertAnswered();
  }

  @Test
  void waitForConnectionTimesOut() {
    links.roomForOwn(0);
    links.openAllowed();
    send("find", 4);
    links.advanceClock(Duration.ofMillis(200));
    Request stuck = links.send("find");
    links.advanceClock(Duration.ofSeconds(119));
    assertThat(stuck.isPending()).isTrue();

    links.advanceClock(Duration.ofSeconds(2));

    assertThat(stuck.failure)
        .isInstanceOf(PoolWaitException.class)
        .hasMessageContaining("timed out after 120000 ms while waiting for a connection to");
  }

  @Test
  void skipsConnectionUntilItIsWritable() {
    links.close();
    links = new SimulatedLinks(2, 64);
    links.openAllowed();
    links.links.forEach(link -> link.writable(false));
    Request read = links.send("find");
    assertThat(links.open(true)).isEmpty();

    links.links.get(1).writable(true);
    links.answerAll();

    read.assertAnswered();
  }

  @Test
  void closesConnectionThatAcceptsNoData() {
    links.openAllowed();
    Request read = links.send("find");
    SimulatedLink stalled = links.open(true).get(0);
    stalled.unsent(1_000);
    links.advanceClock(Duration.ofSeconds(1));
    stalled.unsent(900);
    links.advanceClock(Duration.ofSeconds(29));
    links.advanceClock(Duration.ofSeconds(29));
    assertThat(stalled.isOpen()).isTrue();

    links.advanceClock(Duration.ofSeconds(2));

    assertThat(stalled.isOpen()).isFalse();
    assertThat(read.failure).hasMessageContaining("has not accepted data for 30 s");
  }

  @Test
  void cancellationKeepsConnectionOpen() {
    links.openAllowed();
    Request cancelled = links.send("find");
    SimulatedLink link = links.open(true).get(0);

    assertThat(cancelled.cancel()).isTrue();
    link.answer();

    assertThat(link.isOpen()).isTrue();
    assertThat(cancelled.answer).isNull();
    assertThat(links.meter(SharingMeters.LATE_REPLIES)).isEqualTo(1);
  }

  @Test
  void requestCancelledInQueueIsNotSent() {
    Request cancelled = links.send("find");
    assertThat(cancelled.cancel()).isTrue();
    SimulatedLink link = links.opened();

    assertThat(link.pending).isEmpty();
  }

  /** The server stops the cancelled requests when their connection is closed. */
  @Test
  void closesConnectionWithOnlyCancelledRequests() {
    links.openAllowed();
    links.send("find").cancel();
    SimulatedLink link = links.open(true).get(0);
    links.advanceClock(Duration.ofMillis(900));
    assertThat(link.isOpen()).isTrue();

    links.advanceClock(Duration.ofMillis(200));

    assertThat(link.isOpen()).isFalse();
  }

  @Test
  void brokenConnectionFailsOnlyItsRequests() {
    links.openAllowed();
    List<Request> reads = send("find", 8);
    links.links.get(0).abort(new IOException("cut"));

    assertThat(reads.stream().filter(read -> read.failure != null)).hasSize(2);
    // The other requests on the connection get replies. The connection serves no further request.
    Request later = links.send("find");
    links.answerAll();
    assertThat(reads.stream().filter(read -> read.answer != null)).hasSize(6);
    later.assertAnswered();
    assertThat(links.links.subList(0, 4)).noneMatch(SimulatedLink::isOpen);
  }

  @Test
  void shutdownReplyClosesAllConnections() {
    links.openAllowed();
    Request last = links.send("find");
    links.open(true).get(0).answer(SHUTDOWN_IN_PROGRESS);
    assertThat(last.answer).isEqualTo("code 91");

    assertThat(links.links).noneMatch(SimulatedLink::isOpen);
    Request next = links.send("find");
    links.answerAll();
    next.assertAnswered();
  }

  @Test
  void interruptingResetFailsSentAndWaitingRequests() {
    links.close();
    links = new SimulatedLinks(1, 1);
    links.openAllowed();
    List<Request> reads = send("find", 3);

    links.reset(new IOException("lost"));

    assertThat(reads).allSatisfy(read -> assertThat(read.failure).hasMessage("lost"));
  }

  @Test
  void connectionOpenedBeforeResetIsNotUsed() {
    Request read = links.send("find");
    links.clear(links.generation());
    assertThat(links.opened().isOpen()).isFalse();

    links.answerAll();
    read.assertAnswered();
  }

  @Test
  void pendingRequestsCompleteAfterClose() {
    links.openAllowed();
    Request read = links.send("find");
    links.shared.close();
    Request late = links.send("find");

    assertThat(late.failure).hasMessage("the client is closed");
    links.answerAll();
    read.assertAnswered();
    assertThat(links.links).noneMatch(SimulatedLink::isOpen);
  }

  /**
   * Only the refused request is sent again, on another connection. The other requests on the first
   * connection get their replies.
   */
  @Test
  void reauthenticationErrorMovesRequestToAnotherConnection() {
    links.authenticate();
    links.openAllowed();
    List<Request> reads = send("find", 8);
    SimulatedLink old = links.links.get(0);

    old.answer(REAUTHENTICATION_REQUIRED);
    assertThat(links.own).hasSize(1);
    links.answerOwn();
    assertThat(old.isOpen()).isTrue();
    old.answer();

    assertThat(old.isOpen()).isFalse();
    links.answerAll();
    assertAnswered(reads);
  }

  @Test
  void cancelledRequestIsNotSentAgain() {
    links.authenticate();
    links.openAllowed();
    Request read = links.send("find");
    SimulatedLink old = links.open(true).get(0);
    read.cancel();

    old.answer(REAUTHENTICATION_REQUIRED);

    assertThat(links.own).isEmpty();
  }

  @Test
  void retriesRefusedConnectionLater() {
    links.send("find");
    links.opened();
    List<Request> reads = send("find", 3);
    links.refuseOldest();
    reads.addAll(send("find", 3));
    assertThat(links.opening).isEmpty();

    links.now += Duration.ofMillis(1_100).toNanos();
    reads.addAll(send("find", 3));
    assertThat(links.opening).isNotEmpty();
    links.answerAll();
    assertThat(reads.stream().filter(read -> read.failure != null)).isEmpty();
  }

  @Test
  void refusedConnectionFailsWaitingRequests() {
    Request read = links.send("find");
    links.refuseOldest();
    assertThat(read.failure).hasMessage("refused");

    Request next = links.send("find");
    links.answerAll();
    next.assertAnswered();
  }

  @Test
  void replacesOldConnections() {
    links.openAllowed();
    links.advanceClock(Duration.ofMinutes(31));
    assertThat(links.links).noneMatch(SimulatedLink::isOpen);

    Request read = links.send("find");
    links.answerAll();
    read.assertAnswered();
  }
}
