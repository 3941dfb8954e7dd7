package dev.onehop.wire.channel;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.AbstractEventExecutorGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;

/**
 * Creates a {@link CallerRunsEventLoop} for each channel. This group ends when the group of
 * carriers ends.
 *
 * <p>Thread-safe.
 */
public final class CallerRunsEventLoops extends AbstractEventExecutorGroup
    implements EventLoopGroup {
  private final EventLoopGroup carriers;

  /**
   * @param carriers run the tasks that calling threads do not run; the caller shuts them down
   */
  public CallerRunsEventLoops(EventLoopGroup carriers) {
    this.carriers = carriers;
  }

  @Override
  public EventLoop next() {
    return new CallerRunsEventLoop(this, carriers.next());
  }

  @Override
  public ChannelFuture register(Channel channel) {
    return next().register(channel);
  }

  @Override
  public ChannelFuture register(ChannelPromise promise) {
    return next().register(promise);
  }

  @Override
  @Deprecated
  @SuppressWarnings("InlineMeSuggester")
  public ChannelFuture register(Channel channel, ChannelPromise promise) {
    return next().register(promise);
  }

  @Override
  public Iterator<EventExecutor> iterator() {
    return carriers.iterator();
  }

  @Override
  public boolean isShuttingDown() {
    return carriers.isShuttingDown();
  }

  @Override
  public boolean isShutdown() {
    return carriers.isShutdown();
  }

  @Override
  public boolean isTerminated() {
    return carriers.isTerminated();
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
    return carriers.awaitTermination(timeout, unit);
  }

  @Override
  public Future<?> terminationFuture() {
    return carriers.terminationFuture();
  }

  @Override
  public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
    return carriers.shutdownGracefully(quietPeriod, timeout, unit);
  }

  @Override
  @Deprecated
  public void shutdown() {
    carriers.shutdownGracefully();
  }
}
