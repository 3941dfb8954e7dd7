package dev.onehop.routing.internal.transport;

import dev.onehop.routing.transport.PipeliningSettings;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * All event loops of a pipelined transport, and the meters that they have in common.
 *
 * <p>Thread-safe.
 */
public final class Lanes implements AutoCloseable {
  private static final long QUIET_MILLIS = 100;

  private final PipeliningSettings settings;
  private final MeterRegistry registry;
  private final Map<String, ServerMeters> meters = new ConcurrentHashMap<>();
  private final List<LaneGroup> groups = new ArrayList<>();
  private boolean closed;

  public Lanes(PipeliningSettings settings, MeterRegistry registry) {
    this.settings = settings;
    this.registry = registry;
  }

  /** The class of channels that live on {@link #newGroup}. */
  public static Class<? extends SocketChannel> channelClass() {
    return LaneChannel.class;
  }

  /** An event loop for one client, with sockets of its own. */
  public synchronized EventLoopGroup newGroup() {
    if (closed) {
      throw new IllegalStateException("the transport is closed");
    }
    LaneGroup group =
        new LaneGroup(
            settings,
            server -> meters.computeIfAbsent(server, name -> new ServerMeters(registry, name)));
    groups.add(group);
    return group;
  }

  /** Stops all event loops, after a moment for what is being closed. */
  @Override
  public synchronized void close() {
    closed = true;
    groups.forEach(
        group -> group.shutdownGracefully(QUIET_MILLIS, 10 * QUIET_MILLIS, TimeUnit.MILLISECONDS));
    groups.clear();
  }
}
