package dev.onehop.wire.channel;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The event loops and channel classes to use on this machine: Netty's native epoll if it can be
 * loaded, otherwise Java's NIO. Netty 4.2 deprecates the classes of these groups, but Netty 4.1 has
 * no others.
 */
@SuppressWarnings("deprecation")
public final class EventLoops {
  // These times do not delay the end of the JVM, because the threads are daemons.
  private static final int QUIET_SECONDS = 2;
  private static final int MOST_SECONDS = 15;

  private EventLoops() {}

  /**
   * A new group of daemon threads; the caller shuts it down.
   *
   * @param name the prefix of the threads' names
   * @param threads the number of threads, at least 1
   */
  public static EventLoopGroup newGroup(String name, int threads) {
    return Epoll.isAvailable()
        ? new EpollEventLoopGroup(threads, new DefaultThreadFactory(name, true))
        : newCallerWritesGroup(name, threads);
  }

  /** A group for {@link CallerWritesChannel} or another NIO channel. */
  public static EventLoopGroup newCallerWritesGroup(String name, int threads) {
    return new NioEventLoopGroup(threads, new DefaultThreadFactory(name, true));
  }

  /**
   * Runs a task that opens a socket, after the events that the loop handles now. If a handler
   * opened the socket among these events, the socket might get the descriptor that another handler
   * has just closed. A pending event of the closed socket would then be applied to the new socket,
   * and close it.
   *
   * @throws RejectedExecutionException if the loop has ended
   */
  public static void afterEvents(EventLoop loop, Runnable opening) {
    loop.execute(opening);
  }

  /**
   * Runs a task on a loop, at once if the current thread may run the loop's tasks.
   *
   * @return false if the loop has ended, so that the task does not run
   */
  public static boolean run(EventLoop loop, Runnable task) {
    if (loop.inEventLoop()) {
      task.run();
      return true;
    }
    if (loop instanceof CallerRunsEventLoop callerRuns) {
      callerRuns.runOnCarriers(task);
      return true;
    }
    try {
      loop.execute(task);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  /**
   * Shuts a group down some seconds after its last connection is closed, and at the latest after
   * half a minute. The shutdown is delayed for two reasons. A group that shuts down closes
   * connections that clients still use. After the end of the group, a thread that waits for one of
   * its events blocks forever, for example a thread of a closed client that was opening a
   * connection. This method does not wait for the shutdown.
   */
  public static void shutDown(EventLoopGroup group) {
    shutDown(group, MOST_SECONDS);
  }

  private static void shutDown(EventLoopGroup group, int checks) {
    if (checks > 0 && !group.isShuttingDown()) {
      group
          .next()
          .schedule(
              () -> shutDown(group, hasConnections(group) ? checks - 1 : 0), 1, TimeUnit.SECONDS);
    } else {
      group.shutdownGracefully(QUIET_SECONDS, MOST_SECONDS, TimeUnit.SECONDS);
    }
  }

  private static boolean hasConnections(EventLoopGroup group) {
    for (EventExecutor loop : group) {
      if (loop instanceof SingleThreadEventLoop counting && counting.registeredChannels() > 0) {
        return true;
      }
    }
    return false;
  }

  /** The class of client sockets for {@link #newGroup}. */
  public static Class<? extends SocketChannel> socketChannelClass() {
    return Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class;
  }

  /** The class of listening sockets for {@link #newGroup}. */
  public static Class<? extends ServerChannel> serverChannelClass() {
    return Epoll.isAvailable() ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
  }
}
