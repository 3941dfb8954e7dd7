package dev.onehop.routing.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.routing.internal.transport.SimulatedLane.State;
import dev.onehop.routing.internal.wire.OpMsg;
import dev.onehop.routing.transport.PipeliningSettings;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random interleavings of requests, replies, closes, partial frames, resets and nonsense, against
 * what a lane may rely on: its own reply and no other, or a failure, and a failure only if its own
 * socket broke.
 */
class MultiplexerPropertyTest {
  private static final int RUNS = 300;
  private static final int STEPS = 500;
  private static final int SOCKETS = 3;
  private static final int DEPTH = 4;
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(60);

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void everyLaneGetsItsOwnReplyOrAFailure(boolean authenticates) {
    for (long seed = 1; seed <= RUNS; seed++) {
      try {
        new Run(new Random(seed), authenticates).play();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private static final class Run {
    private final Random random;
    private final boolean authenticates;
    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false);
    private final SimulatedServer server;
    private final Multiplexer multiplexer;
    private final List<SimulatedLane> lanes = new ArrayList<>();
    private final ServerMeters meters = new ServerMeters(new SimpleMeterRegistry(), "simulated");
    private long now = 1;
    private int tags;

    Run(Random random, boolean authenticates) {
      this.random = random;
      this.authenticates = authenticates;
      this.server = new SimulatedServer(random, allocator, authenticates);
      this.multiplexer =
          new Multiplexer(
              PipeliningSettings.builder()
                  .socketsPerServer(SOCKETS)
                  .maxInFlightPerSocket(DEPTH)
                  .maxOwnSockets(4)
                  .slowHead(Duration.ofMillis(50))
                  .build(),
              server,
              this::tick,
              allocator,
              name -> meters);
    }

    /** Time passes while the code runs, too, now and then as much as a pause of the JVM takes. */
    private long tick() {
      now += random.nextInt(500) == 0 ? PAUSE_NANOS : random.nextInt(1_000);
      return now;
    }

    void play() {
      for (int step = 0; step < STEPS; step++) {
        step();
        assertThat(server.failure).isNull();
        assertBounds();
      }
      settle();
      assertThat(server.failure).isNull();
      for (SimulatedLane lane : lanes) {
        assertThat(lane.state).as("%s", lane).isIn(State.IDLE, State.BROKEN, State.CLOSED);
        assertThat(lane.hasUnsent()).isFalse();
      }
      lanes.forEach(SimulatedLane::close);
      server.sockets.forEach(SimulatedServer.Socket::dispose);
      assertThat(multiplexer.sockets()).isZero();
      assertThat(meters.lanes.get()).isZero();
      assertThat(meters.sockets.get()).isZero();
      assertThat(meters.sharedSockets.get()).isZero();
      assertThat(allocator.metric().usedHeapMemory()).isZero();
      assertThat(allocator.metric().usedDirectMemory()).isZero();
    }

    private void step() {
      int dice = random.nextInt(100);
      if (dice < 10) {
        connect();
      } else if (dice < 45) {
        request();
      } else if (dice < 85) {
        answer();
      } else if (dice < 88) {
        close();
      } else if (dice < 90) {
        breakSocket();
      } else if (dice < 94) {
        toggleWritable();
      } else {
        // Now and then long enough for what helps those who are stuck.
        now += TimeUnit.MILLISECONDS.toNanos(random.nextInt(random.nextInt(10) == 0 ? 3000 : 100));
        multiplexer.sweep();
      }
    }

    private void connect() {
      if (lanes.stream().filter(lane -> lane.state != State.CLOSED).count() >= 30) {
        return;
      }
      SimulatedLane lane =
          new SimulatedLane(
              lanes.size(), authenticates ? Credentials.SCRAM : Credentials.NONE, allocator);
      lanes.add(lane);
      multiplexer.connect(
          new ServerKey(InetSocketAddress.createUnresolved("simulated", 27017), null),
          new LaneOptions(0, 0, 0, allocator, null),
          lane);
    }

    private void request() {
      List<SimulatedLane> idle =
          lanes.stream().filter(l -> l.state == State.IDLE && !l.hasUnsent()).toList();
      if (idle.isEmpty()) {
        return;
      }
      SimulatedLane lane = idle.get(random.nextInt(idle.size()));
      String tag = "t" + tags++;
      switch (random.nextInt(11)) {
        case 0 -> lane.request("aggregate", tag, new BsonDocument());
        case 1 -> lane.request("getMore", tag, new BsonDocument());
        case 2 -> lane.unacknowledged();
        case 3 -> lane.request("ping", tag, new BsonDocument("maxTimeMS", new BsonInt64(60_000)));
        case 5 -> lane.slowUnacknowledged();
        case 6 -> lane.request("update", tag, new BsonDocument());
        case 7 -> lane.request("insert", tag, BsonDocument.parse("{writeConcern: {w: 3}}"));
        case 4 ->
            lane.request(
                "hello",
                tag,
                authenticates
                    ? new BsonDocument()
                    : new BsonDocument("helloOk", BsonBoolean.valueOf(random.nextInt(20) == 0)));
        default -> lane.request("find", tag, new BsonDocument("limit", new BsonInt32(1)));
      }
    }

    private void answer() {
      for (SimulatedServer.Socket socket : shuffled()) {
        if (socket.isConnecting()) {
          if (random.nextInt(20) == 0) {
            socket.reset();
          } else {
            socket.connect();
          }
          return;
        }
        if (socket.isOpen() && !socket.unanswered.isEmpty()) {
          now += TimeUnit.MICROSECONDS.toNanos(random.nextInt(2_000));
          socket.answer();
          return;
        }
      }
    }

    private void close() {
      if (lanes.isEmpty()) {
        return;
      }
      Set<SimulatedLane> before = broken();
      lanes.get(random.nextInt(lanes.size())).close();
      Set<SimulatedLane> after = broken();
      after.removeAll(before);
      // With SCRAM, it may have had the last authenticated socket.
      if (!authenticates) {
        assertThat(after).as("lanes that break because another one is closed").isEmpty();
      }
    }

    private void breakSocket() {
      List<SimulatedServer.Socket> open =
          server.sockets.stream().filter(SimulatedServer.Socket::isOpen).toList();
      if (open.isEmpty()) {
        return;
      }
      SimulatedServer.Socket socket = open.get(random.nextInt(open.size()));
      Set<SimulatedLane> brokenBefore = broken();
      // Who waits for a reply on this socket, by the server's own account.
      Set<String> onSocket =
          socket.unanswered.stream()
              .filter(r -> r.body().containsKey("tag"))
              .map(r -> r.body().getString("tag").getValue())
              .collect(Collectors.toSet());
      // Lanes may be waiting for it to come into use, which the server cannot know.
      boolean opening = !socket.wire.ready;
      boolean last = server.sockets.stream().filter(SimulatedServer.Socket::isOpen).count() == 1;
      switch (random.nextInt(3)) {
        case 0 -> socket.reset();
        case 1 -> socket.answerNothing();
        default -> {
          if (socket.unanswered.isEmpty()) {
            socket.reset();
          } else {
            socket.answerHalf();
          }
        }
      }
      Set<SimulatedLane> brokenNow = broken();
      brokenNow.removeAll(brokenBefore);
      for (SimulatedLane lane : lanes) {
        if (lane.tag != null && onSocket.contains(lane.tag)) {
          assertThat(lane.state).as(lane.tag).isIn(State.BROKEN, State.CLOSED);
        }
      }
      if (!authenticates && !last && !opening) {
        // Exactly those: with SCRAM, idle lanes go down with the last authenticated socket.
        for (SimulatedLane lane : brokenNow) {
          assertThat(lane.tag == null || onSocket.contains(lane.tag))
              .as("%s for %s; it was %s", lane, lane.failure, socket.wire)
              .isTrue();
        }
      }
    }

    private Set<SimulatedLane> broken() {
      Set<SimulatedLane> broken = new HashSet<>();
      for (SimulatedLane lane : lanes) {
        if (lane.state == State.BROKEN) {
          broken.add(lane);
        }
      }
      return broken;
    }

    private void toggleWritable() {
      for (SimulatedServer.Socket socket : shuffled()) {
        if (socket.isOpen()) {
          socket.writable(random.nextBoolean());
          return;
        }
      }
    }

    /** Everything is answered, and everything is writable: nobody may go on waiting. */
    private void settle() {
      for (int round = 0; round < 2_000; round++) {
        boolean busy = false;
        for (SimulatedServer.Socket socket : List.copyOf(server.sockets)) {
          if (socket.isConnecting()) {
            socket.connect();
            busy = true;
          }
          if (socket.isOpen()) {
            socket.writable(true);
          }
          while (socket.isOpen() && !socket.unanswered.isEmpty()) {
            socket.answer();
            busy = true;
          }
        }
        now += TimeUnit.MILLISECONDS.toNanos(1);
        multiplexer.sweep();
        if (!busy && server.sockets.stream().noneMatch(Run::hasWork)) {
          return;
        }
      }
      throw new AssertionError("it does not come to rest");
    }

    // A socket that can be written again may be why another one gets something to do.
    private static boolean hasWork(SimulatedServer.Socket socket) {
      return socket.isConnecting() || (socket.isOpen() && !socket.unanswered.isEmpty());
    }

    private void assertBounds() {
      for (SimulatedServer.Socket socket : server.sockets) {
        if (socket.isOpen() && socket.wire.number >= 0) {
          // Conversations come on top: one that goes on, and what lanes left that were closed.
          assertThat(socket.unanswered.stream().filter(r -> !isConversation(r)).count())
              .isLessThanOrEqualTo(DEPTH);
        }
      }
      assertThat(meters.sharedSockets.get()).isLessThanOrEqualTo(SOCKETS);
    }

    private static boolean isConversation(OpMsg request) {
      return request.commandName().startsWith("sasl");
    }

    private List<SimulatedServer.Socket> shuffled() {
      List<SimulatedServer.Socket> all = new ArrayList<>(server.sockets);
      Collections.shuffle(all, random);
      return all;
    }
  }
}
