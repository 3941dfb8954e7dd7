package dev.onehop.wire.driver;

import com.mongodb.connection.TransportSettings;
import dev.onehop.wire.channel.CallerWritesChannel;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.connection.WireSettings;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * The event loops and the channel class of the connections to servers.
 *
 * @param group the event loops, which also serve the virtual mongos
 * @param channelClass the class of channels, which must fit the event loops
 * @param sharing the settings of shared connections, null for none
 */
public record Carrier(
    EventLoopGroup group,
    Class<? extends SocketChannel> channelClass,
    WireSettings.@Nullable Sharing sharing) {

  /** Creates a carrier whose sockets the application's threads write to. */
  public static Carrier ofCallers(int threads, WireSettings.@Nullable Sharing sharing) {
    return new Carrier(
        EventLoops.newCallerWritesGroup("onehop", threads), CallerWritesChannel.class, sharing);
  }

  /** Creates a carrier with the default sockets of the event loops. */
  public Carrier(EventLoopGroup group, WireSettings.@Nullable Sharing sharing) {
    this(group, EventLoops.socketChannelClass(), sharing);
  }

  /** The driver's transport settings for this carrier. */
  public TransportSettings transport() {
    return transport(group, channelClass);
  }

  /** The driver's transport settings for these event loops and channels. */
  public static TransportSettings transport(
      EventLoopGroup group, Class<? extends SocketChannel> channels) {
    return TransportSettings.nettyBuilder()
        .eventLoopGroup(group)
        .socketChannelClass(channels)
        .build();
  }
}
