package dev.onehop.testbed.internal.link;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

/**
 * How Netty talks to the kernel: native epoll where it can be loaded, since Java's own selector
 * rounds timers up to whole milliseconds and would make every delay longer.
 */
record Transport(
    String name,
    IoHandlerFactory ioHandlers,
    Class<? extends SocketChannel> channel,
    Class<? extends ServerSocketChannel> serverChannel) {

  static Transport best() {
    return Epoll.isAvailable()
        ? new Transport(
            "epoll",
            EpollIoHandler.newFactory(),
            EpollSocketChannel.class,
            EpollServerSocketChannel.class)
        : new Transport(
            "NIO", NioIoHandler.newFactory(), NioSocketChannel.class, NioServerSocketChannel.class);
  }
}
