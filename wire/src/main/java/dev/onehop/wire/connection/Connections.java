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
 * All connections of one router: those on event loops, and those of threads that send and wait
 * themselves. Together they keep to {@link WireSettings.PoolLimits}.
 *
 * <p>Thread-safe.
 */
public final class Connections implements AutoCloseable {
  private final WirePool onEventLoops;
  private final BlockingPool blocking;

  /**
   * @param group event loops, which also time what threads wait for; stays the caller's
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
   * Uses no connection to a server again that was opened before, for the server is gone or was.
   *
   * @param interrupt whether what is under way there fails now, too, with {@code why}
   */
  public void reset(ServerAddressName server, boolean interrupt, IOException why) {
    onEventLoops.reset(server, interrupt, why);
    blocking.reset(server, interrupt, why);
  }

  /** The servers that anything was sent to. */
  public Set<ServerAddressName> servers() {
    Set<ServerAddressName> servers = new HashSet<>(onEventLoops.servers());
    servers.addAll(blocking.servers());
    return servers;
  }

  /** Closes what is idle now, the rest when its request is answered. */
  @Override
  public void close() {
    onEventLoops.close();
    blocking.close();
  }
}
