package dev.onehop.testbed.internal.link;

import dev.onehop.wire.channel.EventLoops;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

/**
 * Netty's transport. It is native epoll if that can be loaded, because Java's selector rounds
 * timers up to whole milliseconds, which makes every delay longer.
 */
record Transport(
    String name,
    Class<? extends SocketChannel> channel,
    Class<? extends ServerChannel> serverChannel) {

  static Transport best() {
    return new Transport(
        Epoll.isAvailable() ? "epoll" : "NIO",
        EventLoops.socketChannelClass(),
        EventLoops.serverChannelClass());
  }

  /** Java's own transport. */
  static Transport nio() {
    return new Transport("NIO", NioSocketChannel.class, NioServerSocketChannel.class);
  }

  EventLoopGroup newGroup() {
    // One event loop is enough, because it is far from saturated. Several loops sleep and wake more
    // often.
    return channel == NioSocketChannel.class
        ? EventLoops.newCallerWritesGroup("onehop-link", 1)
        : EventLoops.newGroup("onehop-link", 1);
  }
}
