package dev.onehop.wire.driver;

import com.mongodb.connection.TransportSettings;
import dev.onehop.wire.channel.CallerWritesChannel;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.connection.WireSettings;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * What carries the connections to the shards.
 *
 * @param group event loops, which carry those of the virtual mongos, too
 * @param channelClass of the connections, which must fit the event loops
 * @param sharing which connections requests share, null for none
 */
public record Carrier(
    EventLoopGroup group,
    Class<? extends SocketChannel> channelClass,
    WireSettings.@Nullable Sharing sharing) {

  /** With sockets that the threads of applications write to. */
  public static Carrier ofCallers(int threads, WireSettings.@Nullable Sharing sharing) {
    return new Carrier(
        EventLoops.newCallerWritesGroup("onehop", threads), CallerWritesChannel.class, sharing);
  }

  /** With plain sockets. */
  public Carrier(EventLoopGroup group, WireSettings.@Nullable Sharing sharing) {
    this(group, EventLoops.socketChannelClass(), sharing);
  }

  /** The same for official clients. */
  public TransportSettings transport() {
    return transport(group, channelClass);
  }

  /** The driver's transport over these event loops and channels. */
  public static TransportSettings transport(
      EventLoopGroup group, Class<? extends SocketChannel> channels) {
    return TransportSettings.nettyBuilder()
        .eventLoopGroup(group)
        .socketChannelClass(channels)
        .build();
  }
}
