package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import java.io.IOException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;

/**
 * Blocking connections to any number of servers, for threads that send and wait themselves. {@code
 * minSize} is not kept: a thread that needs a connection opens it.
 *
 * <p>Thread-safe. A thread that waits for a connection is interruptible.
 */
public final class BlockingPool extends ServerPools<BlockingServerPool> {
  private final WireSettings settings;
  private final ScheduledExecutorService timer;

  /**
   * @param timer ends what takes too long; stays the caller's
   */
  public BlockingPool(WireSettings settings, ScheduledExecutorService timer) {
    this(settings, timer, server -> new ConnectionSlots(settings.pool()));
  }

  /**
   * @param timer ends what takes too long; stays the caller's
   * @param slots of each server, which other pools may use, too
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
   * Takes an idle connection, opens one, or waits for one where the server has as many as it may.
   *
   * @param limit until when
   * @param abort ends the waiting, and what is done with the connection until it is cleared
   * @return to be given back or discarded
   * @throws java.net.SocketTimeoutException if the limit passes
   * @throws java.io.InterruptedIOException if the thread is interrupted
   * @throws IOException if the server can't be reached
   * @throws ServerRefusedException if it does not take the user
   */
  public BlockingConnection take(ServerAddressName server, TimeLimit limit, Cancellation abort)
      throws IOException {
    BlockingConnection taken = pool(server).take(limit, abort);
    abort.by(taken::close);
    return taken;
  }

  /** Takes back a connection whose request was answered. */
  public void giveBack(BlockingConnection connection) {
    BlockingServerPool pool = pool(connection.server());
    if (connection.serverEnds()) {
      pool.clear(connection.lifetime().generation());
    }
    pool.giveBack(connection);
  }

  /** Closes a connection whose answer is no longer wanted. */
  public void discard(BlockingConnection connection) {
    connection.close();
  }

  /** Closes a connection that broke, and the idle ones beside it, which may have broken, too. */
  public void broken(BlockingConnection connection) {
    connection.close();
    pool(connection.server()).broken(connection);
  }
}
