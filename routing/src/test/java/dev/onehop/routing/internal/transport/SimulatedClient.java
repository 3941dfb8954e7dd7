package dev.onehop.routing.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.routing.transport.PipeliningSettings;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.net.InetSocketAddress;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/** Lanes to one simulated server, step by step, under a clock that stands still. */
final class SimulatedClient implements AutoCloseable {
  final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false);
  final SimulatedServer server;
  final Multiplexer multiplexer;
  final ServerMeters meters = new ServerMeters(new SimpleMeterRegistry(), "simulated");
  long now = 1;

  /** How far the clock goes on with each look at it. */
  long nanosPerLook;

  private final Credentials credentials;
  private final boolean tls;
  private final List<SimulatedLane> lanes = new ArrayList<>();

  SimulatedClient(PipeliningSettings.Builder settings, Credentials credentials, boolean tls) {
    this.credentials = credentials;
    this.tls = tls;
    this.server = new SimulatedServer(new Random(1), allocator, credentials != Credentials.NONE);
    this.multiplexer =
        new Multiplexer(
            settings.build(), server, () -> now += nanosPerLook, allocator, name -> meters);
  }

  SimulatedClient(PipeliningSettings.Builder settings, Credentials credentials) {
    this(settings, credentials, false);
  }

  /** A new lane, which says hello as soon as it is connected. */
  SimulatedLane lane() {
    return lane(0);
  }

  SimulatedLane lane(int connectTimeoutMillis) {
    return lane(credentials, connectTimeoutMillis);
  }

  SimulatedLane lane(Credentials other, int connectTimeoutMillis) {
    return connect(new SimulatedLane(lanes.size(), other, allocator), connectTimeoutMillis);
  }

  /** A new lane that is yet to say hello. */
  SimulatedLane lateLane(int connectTimeoutMillis) {
    SimulatedLane lane = new SimulatedLane(lanes.size(), credentials, allocator);
    lane.late = true;
    return connect(lane, connectTimeoutMillis);
  }

  private SimulatedLane connect(SimulatedLane lane, int connectTimeoutMillis) {
    lanes.add(lane);
    multiplexer.connect(
        new ServerKey(
            InetSocketAddress.createUnresolved("simulated", 27017), tls ? "simulated" : null),
        new LaneOptions(connectTimeoutMillis, 0, 0, allocator, tls ? engine() : null),
        lane);
    return lane;
  }

  /** A lane that has nothing to wait for any more. */
  SimulatedLane idleLane() {
    SimulatedLane lane = lane();
    answerAll();
    assertThat(lane.state).isEqualTo(SimulatedLane.State.IDLE);
    return lane;
  }

  /** Two new lanes on the only socket: the first authenticates, the second waits to. */
  List<SimulatedLane> twoThatAuthenticate() {
    List<SimulatedLane> two = List.of(lane(), lane());
    socket(0).answer();
    socket(0).answer();
    assertThat(two)
        .allSatisfy(lane -> assertThat(lane.state).isEqualTo(SimulatedLane.State.AUTHENTICATING));
    assertThat(socket(0).unanswered).hasSize(1);
    return two;
  }

  /** The server connects and answers until there is nothing left to do. */
  void answerAll() {
    boolean busy = true;
    while (busy) {
      busy = false;
      for (int number = 0; number < server.sockets.size(); number++) {
        busy |= answerAllOn(number);
      }
    }
  }

  /** The same on one socket; false if there was nothing to do. */
  boolean answerAllOn(int number) {
    SimulatedServer.Socket socket = socket(number);
    boolean busy = socket.isConnecting();
    if (busy) {
      socket.connect();
    }
    while (socket.isOpen() && !socket.unanswered.isEmpty()) {
      socket.answer();
      busy = true;
    }
    return busy;
  }

  void later(Duration time) {
    now += time.toNanos();
    multiplexer.sweep();
  }

  void laterMillis(long millis) {
    later(Duration.ofMillis(millis));
  }

  SimulatedServer.Socket socket(int number) {
    return server.sockets.get(number);
  }

  /** Sockets that are connected or being connected. */
  List<SimulatedServer.Socket> openSockets() {
    return server.sockets.stream().filter(s -> s.isOpen() || s.isConnecting()).toList();
  }

  private static @Nullable SSLEngine engine() {
    try {
      return SSLContext.getDefault().createSSLEngine("simulated", 27017);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  /** Closes the lanes; nothing may be left over. */
  @Override
  public void close() {
    lanes.forEach(SimulatedLane::close);
    server.sockets.forEach(SimulatedServer.Socket::dispose);
    assertThat(server.failure).isNull();
    assertThat(multiplexer.sockets()).isZero();
    assertThat(allocator.metric().usedHeapMemory()).isZero();
    assertThat(allocator.metric().usedDirectMemory()).isZero();
  }
}
