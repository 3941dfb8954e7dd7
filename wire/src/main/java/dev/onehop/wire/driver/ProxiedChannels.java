package dev.onehop.wire.driver;

import com.mongodb.MongoClientSettings;
import com.mongodb.connection.SocketSettings;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.connection.WireSettings;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Connects the driver's monitoring clients through a SOCKS5 proxy. The reactive driver refuses
 * settings with a proxy, so the channels of these clients connect to the proxy themselves. Netty
 * creates channels by class, so a channel finds its proxy by its event loops.
 *
 * <p>Thread-safe.
 */
public final class ProxiedChannels implements AutoCloseable {
  private static final Map<Object, WireSettings.Sockets> SOCKETS = new ConcurrentHashMap<>();
  private static final byte[] NOWHERE = new byte[4];

  private final EventLoopGroup group = EventLoops.newCallerWritesGroup("onehop-proxied", 1);

  /**
   * @param sockets the settings with a proxy
   */
  ProxiedChannels(WireSettings.Sockets sockets) {
    SOCKETS.put(group, sockets);
  }

  /** Settings for clients that monitor servers through the proxy. */
  MongoClientSettings applyTo(MongoClientSettings settings) {
    return MongoClientSettings.builder(withoutProxy(settings))
        // The proxy resolves the name, so the bytes of this address are never used.
        .inetAddressResolver(host -> List.of(InetAddress.getByAddress(host, NOWHERE)))
        .transportSettings(Carrier.transport(group, Channel.class))
        .build();
  }

  /** The settings without their proxy, for clients of the virtual mongos. */
  public static MongoClientSettings withoutProxy(MongoClientSettings settings) {
    SocketSettings given = settings.getSocketSettings();
    MongoClientSettings.Builder builder = MongoClientSettings.builder(settings);
    builder.applyToSocketSettings(
        socket ->
            socket
                .applySettings(SocketSettings.builder().build())
                .connectTimeout(
                    given.getConnectTimeout(TimeUnit.MILLISECONDS), TimeUnit.MILLISECONDS)
                .readTimeout(given.getReadTimeout(TimeUnit.MILLISECONDS), TimeUnit.MILLISECONDS)
                .receiveBufferSize(given.getReceiveBufferSize())
                .sendBufferSize(given.getSendBufferSize()));
    return builder.build();
  }

  @Override
  public void close() {
    group.terminationFuture().addListener(stopped -> SOCKETS.remove(group));
    EventLoops.shutDown(group);
  }

  /** Created by Netty. */
  public static final class Channel extends NioSocketChannel {
    public Channel() {
      pipeline().addFirst(new Detour());
    }
  }

  private static final class Detour extends ChannelOutboundHandlerAdapter {
    @Override
    public void connect(
        ChannelHandlerContext context,
        SocketAddress remote,
        SocketAddress local,
        ChannelPromise promise) {
      WireSettings.Sockets sockets =
          Objects.requireNonNull(SOCKETS.get(context.channel().eventLoop().parent()));
      WireSettings.Proxy proxy = Objects.requireNonNull(sockets.proxy());
      InetSocketAddress server = (InetSocketAddress) remote;
      context
          .pipeline()
          .addBefore(
              context.name(),
              null,
              proxy.newHandler(
                  new InetSocketAddress(proxy.address().host(), proxy.address().port()),
                  sockets.connectTimeout()));
      context.connect(
          WireSettings.Proxy.destination(
              new ServerAddressName(server.getHostString(), server.getPort())),
          local,
          promise);
    }
  }
}
