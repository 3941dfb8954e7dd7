package dev.onehop.routing.internal.transport;

import dev.onehop.routing.internal.wire.EventLoops;
import dev.onehop.routing.transport.PipeliningSettings;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * The event loop of one client, which is also how a lane finds what it belongs to: the driver makes
 * channels of a class without arguments, but lets us say on which event loops they live.
 *
 * <p>One thread: all lanes and sockets of a client meet on it, so that no request changes threads
 * on its way and nothing needs a lock.
 */
public final class LaneGroup extends MultiThreadIoEventLoopGroup {
  private static final int SWEEP_MILLIS = 200;

  private final Multiplexer multiplexer;

  /**
   * Starts a daemon thread, which runs until the group is shut down.
   *
   * @param meters the meters of a server, by its name
   */
  LaneGroup(PipeliningSettings settings, Function<String, ServerMeters> meters) {
    super(1, new DefaultThreadFactory("onehop-lanes", true), EventLoops.newIoHandlers());
    this.multiplexer =
        new Multiplexer(
            settings, new NettySockets(next()), System::nanoTime, ByteBufAllocator.DEFAULT, meters);
    next()
        .scheduleWithFixedDelay(
            multiplexer::sweep, SWEEP_MILLIS, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
  }

  Multiplexer multiplexer() {
    return multiplexer;
  }
}
