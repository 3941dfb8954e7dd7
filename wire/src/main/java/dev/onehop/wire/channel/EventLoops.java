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
 * The event loops and channel classes to use on this machine: Netty's native epoll where it loads,
 * Java's NIO elsewhere. The groups are those that Netty 4.1 has, too; 4.2 deprecates them.
 */
@SuppressWarnings("deprecation")
public final class EventLoops {
  // The threads are daemons: they hold up no exit.
  private static final int QUIET_SECONDS = 2;
  private static final int MOST_SECONDS = 15;

  private EventLoops() {}

  /**
   * A new group of daemon threads; the caller shuts it down.
   *
   * @param name prefix of the threads' names
   * @param threads how many, at least 1
   */
  public static EventLoopGroup newGroup(String name, int threads) {
    return Epoll.isAvailable()
        ? new EpollEventLoopGroup(threads, new DefaultThreadFactory(name, true))
        : newCallerWritesGroup(name, threads);
  }

  /** The same for {@link CallerWritesChannel}, or another channel of NIO. */
  public static EventLoopGroup newCallerWritesGroup(String name, int threads) {
    return new NioEventLoopGroup(threads, new DefaultThreadFactory(name, true));
  }

  /**
   * Runs what opens a socket on a loop, after the events that the loop handles at present. Opened
   * among them, by the handler of one, the socket may get the descriptor that another handler has
   * closed; an event that was fetched for that one would be taken for the new socket's, and end it.
   *
   * @throws RejectedExecutionException if the loop has ended
   */
  public static void afterEvents(EventLoop loop, Runnable opening) {
    loop.execute(opening);
  }

  /**
   * Runs a task on a loop, now if this is the loop, or one that may run its tasks.
   *
   * @return false if the loop has ended, with its client, and the task is not run
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
   * Ends a group some seconds after its last connection is closed, and at the latest after half a
   * minute. A group that is ending closes connections that clients still use. Once it has ended, a
   * thread that waits for one of its events blocks forever, such as a thread of a closed client
   * that was opening a connection. Does not wait for the end.
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

  /** The class of client sockets that fits {@link #newGroup}. */
  public static Class<? extends SocketChannel> socketChannelClass() {
    return Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class;
  }

  /** The class of listening sockets that fits {@link #newGroup}. */
  public static Class<? extends ServerChannel> serverChannelClass() {
    return Epoll.isAvailable() ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
  }
}
