package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import java.io.IOException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;

/**
 * Blocking connections to any number of servers, for threads that send requests and wait for
 * replies. {@code minSize} is ignored, because a thread that needs a connection opens it.
 *
 * <p>Thread-safe. A thread that waits for a connection is interruptible.
 */
public final class BlockingPool extends ServerPools<BlockingServerPool> {
  private final WireSettings settings;
  private final ScheduledExecutorService timer;

  /**
   * @param timer enforces time limits; the caller shuts it down
   */
  public BlockingPool(WireSettings settings, ScheduledExecutorService timer) {
    this(settings, timer, server -> new ConnectionSlots(settings.pool()));
  }

  /**
   * @param timer enforces time limits; the caller shuts it down
   * @param slots the connection slots of each server, which other pools may share
   */
  BlockingPool(
      WireSettings settings,
      ScheduledExecutorService timer,
      Function<ServerAddressName, ConnectionSlots> slots) {
    super(timer, slots);
    this.settings = settings;
    this.timer = timer;
  }

  @Override
  BlockingServerPool newPool(ServerAddressName server, ConnectionSlots shared) {
    return new BlockingServerPool(server, settings, timer, shared);
  }

  /**
   * Takes an idle connection or opens one. If the limit of connections to the server is reached,
   * waits until a connection is free.
   *
   * @param limit the time limit
   * @param abort ends the wait. After this method has returned a connection, the abort closes that
   *     connection, unless {@link Cancellation#clear} was called
   * @return the connection; the caller gives it back or discards it
   * @throws java.net.SocketTimeoutException after the limit
   * @throws java.io.InterruptedIOException if the thread is interrupted
   * @throws IOException if the server can't be reached
   * @throws ServerRefusedException if the server refuses the user
   */
  public BlockingConnection take(ServerAddressName server, TimeLimit limit, Cancellation abort)
      throws IOException {
    BlockingConnection taken = pool(server).take(limit, abort);
    abort.by(taken::close);
    return taken;
  }

  /** Returns a connection to the pool, after the reply to its request. */
  public void giveBack(BlockingConnection connection) {
    BlockingServerPool pool = pool(connection.server());
    if (connection.serverEnds()) {
      pool.clear(connection.lifetime().generation());
    }
    pool.giveBack(connection);
  }

  /** Closes a connection whose reply is no longer needed. */
  public void discard(BlockingConnection connection) {
    connection.close();
  }

  /**
   * Closes a broken connection and the idle connections to its server, which may be broken, too.
   */
  public void broken(BlockingConnection connection) {
    connection.close();
    pool(connection.server()).broken(connection);
  }
}
