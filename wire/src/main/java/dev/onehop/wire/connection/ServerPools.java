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
 * The pools of one kind of connections, one for each server.
 *
 * <p>Thread-safe.
 *
 * @param <P> the connections to one server
 */
abstract class ServerPools<P extends ServerPool<?, ?>> implements AutoCloseable {
  private static final long SWEEP_MILLIS = 500;

  private final Map<ServerAddressName, P> servers = new ConcurrentHashMap<>();
  private final Function<ServerAddressName, ConnectionSlots> slots;
  private final Future<?> sweeping;
  private volatile boolean closed;

  /**
   * @param timer for what is done from time to time; stays the caller's
   * @param slots of each server, which other pools may use, too
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

  /** A pool for a server that has none yet. */
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
   * Uses no connection to a server again that was opened before, for the server is gone or was.
   *
   * @param interrupt whether what is under way there fails now, too, with {@code why}
   */
  public final void reset(ServerAddressName server, boolean interrupt, IOException why) {
    P pool = servers.get(server);
    if (pool != null) {
      pool.reset(interrupt, why);
    }
  }

  /** The servers that anything was sent to. */
  public final Set<ServerAddressName> servers() {
    return Set.copyOf(servers.keySet());
  }

  /**
   * Closes the connections that are idle or not open yet now, the others when their request is
   * answered.
   */
  @Override
  public final void close() {
    closed = true;
    sweeping.cancel(false);
    Each.of(servers.values(), ServerPool::close);
  }
}
