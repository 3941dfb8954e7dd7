package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * The pools of one kind of connection, one pool per server.
 *
 * <p>Thread-safe.
 *
 * @param <P> the type of a server's pool
 */
abstract class ServerPools<P extends ServerPool<?, ?>> implements AutoCloseable {
  private static final long SWEEP_MILLIS = 500;

  private final Map<ServerAddressName, P> servers = new ConcurrentHashMap<>();
  private final Function<ServerAddressName, ConnectionSlots> slots;
  private final Future<?> sweeping;
  private volatile boolean closed;

  /**
   * @param timer runs periodic checks; the caller shuts it down
   * @param slots the connection slots of each server, which other pools may share
   */
  ServerPools(ScheduledExecutorService timer, Function<ServerAddressName, ConnectionSlots> slots) {
    this.slots = slots;
    this.sweeping =
        timer.scheduleWithFixedDelay(
            () -> Each.of(servers.values(), pool -> pool.sweep(System.nanoTime())),
            SWEEP_MILLIS,
            SWEEP_MILLIS,
            TimeUnit.MILLISECONDS);
  }

  /** Creates the pool of a server. */
  abstract P newPool(ServerAddressName server, ConnectionSlots shared);

  /** The pool of a server. */
  final P pool(ServerAddressName server) {
    P known = servers.get(server);
    if (known != null) {
      return known;
    }
    P pool = servers.computeIfAbsent(server, name -> newPool(name, slots.apply(name)));
    if (closed) {
      pool.close();
    }
    return pool;
  }

  /**
   * Stops the use of all open connections to a server, because the server is or was down.
   *
   * @param interrupt whether requests in flight fail now, too, with {@code why}
   */
  public final void reset(ServerAddressName server, boolean interrupt, IOException why) {
    P pool = servers.get(server);
    if (pool != null) {
      pool.reset(interrupt, why);
    }
  }

  /** The servers that have received any request. */
  public final Set<ServerAddressName> servers() {
    return Set.copyOf(servers.keySet());
  }

  /**
   * Closes connections that are idle or being opened now, and connections in use after the reply to
   * their request.
   */
  @Override
  public final void close() {
    closed = true;
    sweeping.cancel(false);
    Each.of(servers.values(), ServerPool::close);
  }
}
