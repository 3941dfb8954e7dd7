package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * All connections of one router: the connections on event loops and the blocking connections. Both
 * kinds share the limits of {@link WireSettings.PoolLimits}.
 *
 * <p>Thread-safe.
 */
public final class Connections implements AutoCloseable {
  private final WirePool onEventLoops;
  private final BlockingPool blocking;

  /**
   * @param group event loops, which also enforce time limits of blocking connections; the caller
   *     shuts them down
   */
  public Connections(EventLoopGroup group, WireSettings settings) {
    Map<ServerAddressName, ConnectionSlots> slots = new ConcurrentHashMap<>();
    Function<ServerAddressName, ConnectionSlots> ofServer =
        server -> slots.computeIfAbsent(server, name -> new ConnectionSlots(settings.pool()));
    this.onEventLoops = new WirePool(group, settings, ofServer);
    this.blocking = new BlockingPool(settings, group, ofServer);
  }

  public WirePool onEventLoops() {
    return onEventLoops;
  }

  public BlockingPool blocking() {
    return blocking;
  }

  /**
   * Stops the use of all open connections to a server, because the server is or was down.
   *
   * @param interrupt whether requests in flight fail now, too, with {@code why}
   */
  public void reset(ServerAddressName server, boolean interrupt, IOException why) {
    onEventLoops.reset(server, interrupt, why);
    blocking.reset(server, interrupt, why);
  }

  /** The servers that have received any request. */
  public Set<ServerAddressName> servers() {
    Set<ServerAddressName> servers = new HashSet<>(onEventLoops.servers());
    servers.addAll(blocking.servers());
    return servers;
  }

  /** Closes idle connections now, and connections in use after the reply to their request. */
  @Override
  public void close() {
    onEventLoops.close();
    blocking.close();
  }
}
