package dev.onehop.wire.channel;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The event loops and channel classes to use on this machine: Netty's native epoll where it loads,
 * Java's NIO elsewhere.
 */
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
    return newGroup(name, threads, newIoHandlers());
  }

  /** The same for {@link CallerWritesChannel}, or another channel of NIO. */
  public static EventLoopGroup newCallerWritesGroup(String name, int threads) {
    return newGroup(name, threads, NioIoHandler.newFactory());
  }

  private static EventLoopGroup newGroup(String name, int threads, IoHandlerFactory handlers) {
    return new MultiThreadIoEventLoopGroup(
        threads, new DefaultThreadFactory(name, true), handlers) {
      @Override
      protected IoEventLoop newChild(Executor executor, IoHandlerFactory of, Object... options) {
        return new CountingLoop(this, executor, of);
      }
    };
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
      if (loop instanceof CountingLoop counting && counting.hasConnections()) {
        return true;
      }
    }
    return false;
  }

  /** Netty's, whose count is for subclasses only. */
  private static final class CountingLoop extends SingleThreadIoEventLoop {
    CountingLoop(IoEventLoopGroup group, Executor executor, IoHandlerFactory handlers) {
      super(group, executor, handlers);
    }

    boolean hasConnections() {
      return getNumOfRegisteredChannels() > 0;
    }
  }

  private static IoHandlerFactory newIoHandlers() {
    return Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
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
