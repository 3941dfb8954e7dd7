package dev.onehop.routing.internal.transport;

import dev.onehop.routing.internal.wire.WireProtocolException;
import dev.onehop.routing.transport.PipeliningSettings;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The sockets and lanes of one server. Lanes find their pool with their first hello; before that
 * they only wait for a connection.
 */
final class ServerSockets {
  private static final long DEFAULT_CONNECT_TIMEOUT = TimeUnit.SECONDS.toNanos(10);

  private final ServerKey key;
  private final Multiplexer multiplexer;
  private final ServerMeters meters;
  private final Map<Identity, SocketPool> pools = new HashMap<>();
  private final Set<Lane> lanes = new LinkedHashSet<>();
  private final Set<WireSocket> sockets = new LinkedHashSet<>();

  ServerSockets(ServerKey key, Multiplexer multiplexer) {
    this.key = key;
    this.multiplexer = multiplexer;
    this.meters = multiplexer.meters(key.name());
  }

  void connect(LaneOptions options, LaneEnd end) {
    Lane lane = new Lane(end, this, options);
    end.attached(lane);
    lanes.add(lane);
    meters.lanes.incrementAndGet();
    boolean reachable = false;
    WireSocket connecting = null;
    for (WireSocket socket : sockets) {
      reachable |= socket.isConnected();
      connecting = socket.isConnected() ? connecting : socket;
    }
    if (reachable) {
      // It may still turn out unreachable with the hello, which the driver treats the same way.
      end.connected();
    } else {
      WireSocket socket =
          connecting == null ? open(lane, options.connectTimeoutMillis()) : connecting;
      if (socket.isClosed()) {
        end.connectFailed(cannotOpen());
      } else {
        socket.awaitConnect(lane);
      }
    }
  }

  /** The first message of a lane has to be a hello; it decides among whom the lane is. */
  boolean firstMessage(Lane lane, ByteBuf message) throws PipelineException {
    CommandHead head = CommandHead.of(message);
    if (multiplexer.rules().use(head) != SharingRules.Use.HELLO) {
      throw new PipelineException("the first message is no hello, but " + head.name());
    }
    HelloMessage hello;
    try {
      hello = HelloMessage.parse(message);
    } catch (WireProtocolException e) {
      throw new PipelineException("the first hello cannot be read: " + e.getMessage(), e);
    }
    Identity identity = Identity.of(hello.document());
    if (identity.isLoadBalanced()) {
      throw new PipelineException(
          "loadBalanced=true cannot be pipelined: behind a load balancer each connection may lead"
              + " to another mongos, and cursors and transactions stay on theirs");
    }
    SocketPool pool = pools.computeIfAbsent(identity, id -> new SocketPool(id, this));
    pool.join(lane, hello, message);
    return true;
  }

  /**
   * A connected socket that nobody uses yet, or a new one with the lane's options. It is closed,
   * and {@link #cannotOpen} says why, if there is none to be had.
   */
  WireSocket fresh(Lane lane) {
    return fresh(lane, lane.options().connectTimeoutMillis());
  }

  /**
   * The same for the transport's own ends: the timeout of a lane may be what was left to the one
   * operation that wanted it.
   */
  WireSocket freshForAll(Lane lane) {
    int timeout = lane.options().connectTimeoutMillis();
    int usual = (int) TimeUnit.NANOSECONDS.toMillis(DEFAULT_CONNECT_TIMEOUT);
    return fresh(lane, timeout == 0 ? 0 : Math.max(timeout, usual));
  }

  private WireSocket fresh(Lane lane, int connectTimeoutMillis) {
    WireSocket unused = unused();
    return unused == null ? open(lane, connectTimeoutMillis) : unused;
  }

  /** Whether {@link #fresh} would bring one that is not closed. */
  boolean hasFresh() {
    return canOpen() || unused() != null;
  }

  private @Nullable WireSocket unused() {
    for (WireSocket socket : sockets) {
      if (socket.pool == null && !socket.isClosed()) {
        return socket;
      }
    }
    return null;
  }

  /**
   * Why a socket was closed before it could be used: the event loop takes no more of them, or no
   * TLS engine is left for it.
   */
  PipelineException cannotOpen() {
    return new PipelineException("no socket to " + name() + " can be opened any more");
  }

  /** Whether a socket can be opened: with TLS, an engine that the driver made is needed. */
  boolean canOpen() {
    return key.tlsName() == null || lanes.stream().anyMatch(Lane::hasEngine);
  }

  private WireSocket open(Lane lane, int connectTimeoutMillis) {
    WireSocket socket = new WireSocket(this);
    Lane giver = lane;
    if (key.tlsName() != null && !lane.hasEngine()) {
      giver = lanes.stream().filter(Lane::hasEngine).findFirst().orElse(null);
    }
    if (giver == null) {
      // Without an engine it would be a connection in the clear.
      socket.close(cannotOpen());
      return socket;
    }
    sockets.add(socket);
    meters.sockets.incrementAndGet();
    LaneOptions options = lane.options().with(connectTimeoutMillis, giver.takeEngine());
    socket.attach(multiplexer.opener().open(key, options, socket));
    return socket;
  }

  void laneClosed(Lane lane) {
    lanes.remove(lane);
    meters.lanes.decrementAndGet();
    SocketPool pool = lane.pool;
    if (pool != null) {
      pool.leave(lane);
      if (pool.isEmpty()) {
        pools.remove(pool.identity(), pool);
        pool.close();
      }
    }
    if (lanes.isEmpty()) {
      PipelineException cause = new PipelineException("nobody uses " + name() + " any more");
      List.copyOf(sockets).forEach(socket -> socket.close(cause));
      multiplexer.forget(key);
    }
  }

  void socketClosed(WireSocket socket) {
    if (sockets.remove(socket)) {
      meters.sockets.decrementAndGet();
    }
  }

  void sweep(long now) {
    long stalledAfter = settings().stalledAfter().toNanos();
    for (WireSocket socket : List.copyOf(sockets)) {
      PipelineException broken = socket.check(now, stalledAfter);
      if (broken != null) {
        socket.broken(broken);
      } else if (socket.isUnclaimed() && now - socket.openedAt() > DEFAULT_CONNECT_TIMEOUT) {
        socket.close(new PipelineException("nobody used the socket to " + name()));
      }
    }
    List.copyOf(pools.values()).forEach(pool -> pool.sweep(now));
  }

  /** A copy that shares nothing with the original: the driver frees what it gets to the last. */
  ByteBuf copy(ByteBuf message) {
    ByteBuf copy = multiplexer.allocator().buffer(message.readableBytes());
    return copy.writeBytes(message, message.readerIndex(), message.readableBytes());
  }

  ByteBufAllocator allocator() {
    return multiplexer.allocator();
  }

  SharingRules rules() {
    return multiplexer.rules();
  }

  PipeliningSettings settings() {
    return multiplexer.settings();
  }

  ServerMeters meters() {
    return meters;
  }

  long now() {
    return multiplexer.now();
  }

  long defaultConnectTimeoutNanos() {
    return DEFAULT_CONNECT_TIMEOUT;
  }

  int sockets() {
    return sockets.size();
  }

  String name() {
    return key.name();
  }
}
