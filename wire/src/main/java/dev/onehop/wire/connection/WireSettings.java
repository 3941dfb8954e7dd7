package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.handshake.HandshakeSettings;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.proxy.ProxyHandler;
import io.netty.handler.proxy.Socks5ProxyHandler;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * The settings of connections. Immutable.
 *
 * @param sockets the settings of sockets
 * @param pool the limits of pools
 * @param tls creates the TLS engines, null for no TLS
 * @param handshake the client's data in the handshake
 * @param compressors the compressors that the handshake offers
 * @param addresses finds the servers' addresses
 * @param sharing the settings of shared connections, null for none
 */
public record WireSettings(
    Sockets sockets,
    PoolLimits pool,
    @Nullable Tls tls,
    HandshakeSettings handshake,
    List<Compressor> compressors,
    Addresses addresses,
    @Nullable Sharing sharing) {

  public WireSettings {
    compressors = List.copyOf(compressors);
  }

  /**
   * The settings of sockets.
   *
   * @param channelClass the class of channels, which must fit the event loops
   * @param localAddress the address to connect from (port 0), null for the system's choice
   * @param connectTimeout the time limit of each step: the name lookup, the TCP connect and the TLS
   *     handshake; zero for no limit
   * @param sendBufferBytes the send buffer in bytes, 0 for the system's choice
   * @param receiveBufferBytes the receive buffer in bytes, 0 for the system's choice
   * @param proxy the proxy, null to connect to the servers directly
   */
  public record Sockets(
      Class<? extends SocketChannel> channelClass,
      @Nullable SocketAddress localAddress,
      Duration connectTimeout,
      int sendBufferBytes,
      int receiveBufferBytes,
      @Nullable Proxy proxy) {

    /** Settings without a proxy, with the system's buffers. */
    public static Sockets of(Duration connectTimeout) {
      return new Sockets(EventLoops.socketChannelClass(), null, connectTimeout, 0, 0, null);
    }
  }

  /**
   * A SOCKS5 proxy (RFC 1928), which resolves the servers' names.
   *
   * @param address the proxy's address
   * @param user the user; null for a proxy without a password (RFC 1929)
   * @param password the password; null without a user
   */
  public record Proxy(ServerAddressName address, @Nullable String user, @Nullable String password) {
    /**
     * Creates the handler that connects a channel through the proxy.
     *
     * @param resolved the proxy's address
     * @param connectTimeout the time in which the proxy must connect, zero for no limit
     */
    public ProxyHandler newHandler(InetSocketAddress resolved, Duration connectTimeout) {
      ProxyHandler handler = new Socks5ProxyHandler(resolved, user, password);
      handler.setConnectTimeoutMillis(connectTimeout.toMillis());
      return handler;
    }

    /**
     * The destination for the proxy: an IP address if the server's name is an IP address, otherwise
     * the unresolved name.
     */
    public static InetSocketAddress destination(ServerAddressName server) {
      InetAddress literal = NetUtil.createInetAddressFromIpAddressString(server.host());
      return literal == null
          ? InetSocketAddress.createUnresolved(server.host(), server.port())
          : new InetSocketAddress(literal, server.port());
    }

    @Override
    public String toString() {
      // The password must not appear in messages.
      return "proxy " + address;
    }
  }

  /**
   * The limits of the pool of each server. Source: the drivers' specification "Connection
   * Monitoring and Pooling".
   *
   * @param maxSize the largest number of connections; 0 for no limit
   * @param minSize the number of connections that are kept open, used or not
   * @param maxConnecting the largest number of connections that are opened in parallel; 0 for no
   *     limit
   * @param maxWait the longest wait of a request for a connection; negative for no limit
   * @param maxIdle the idle time after which a connection is closed; zero for no limit
   * @param maxLife the age at which a connection is closed, once it is not in use; zero for no
   *     limit
   */
  public record PoolLimits(
      int maxSize,
      int minSize,
      int maxConnecting,
      Duration maxWait,
      Duration maxIdle,
      Duration maxLife) {

    /** Limits only the wait of a request for a connection. */
    public static PoolLimits none(Duration maxWait) {
      return new PoolLimits(0, 0, 0, maxWait, Duration.ZERO, Duration.ZERO);
    }
  }

  /**
   * The shared connections to each server, in addition to the connections of {@link PoolLimits}.
   *
   * @param connections the number of shared connections
   * @param maxInFlight the largest number of requests without a reply on one connection
   * @param maxSharedBytes the size in bytes of the largest request on a shared connection
   * @param meters the registry of the meters
   */
  public record Sharing(
      int connections, int maxInFlight, int maxSharedBytes, MeterRegistry meters) {}

  /**
   * The time limit for hello and authentication together, zero for no limit. It is the longest of
   * three times: the wait of a request for a connection, the connect timeout, and the time that a
   * person may need to log in.
   */
  Duration maxOpening() {
    if (pool.maxWait().isNegative() || sockets.connectTimeout().isZero()) {
      return Duration.ZERO;
    }
    Duration patience =
        handshake.mechanism() == null ? Duration.ZERO : handshake.mechanism().patience();
    return longer(longer(pool.maxWait(), sockets.connectTimeout()), patience);
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  /**
   * Creates TLS connections. Thread-safe.
   *
   * @param context creates the engines and sockets
   * @param verifiesNames whether the server's certificate must match its name
   */
  public record Tls(SSLContext context, boolean verifiesNames) {
    /** Creates the engine for a connection to a server. */
    SSLEngine newEngine(ServerAddressName server) {
      SSLEngine engine = context.createSSLEngine(server.host(), server.port());
      engine.setUseClientMode(true);
      engine.setSSLParameters(verifying(engine.getSSLParameters()));
      return engine;
    }

    /**
     * Adds TLS to a connected socket, and completes the TLS handshake.
     *
     * @param plain the connected socket; the caller closes it
     */
    Socket shaken(Socket plain, ServerAddressName server) throws IOException {
      SSLSocket socket =
          (SSLSocket)
              context.getSocketFactory().createSocket(plain, server.host(), server.port(), false);
      socket.setUseClientMode(true);
      socket.setSSLParameters(verifying(socket.getSSLParameters()));
      socket.startHandshake();
      return socket;
    }

    private SSLParameters verifying(SSLParameters parameters) {
      if (verifiesNames) {
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
      }
      return parameters;
    }
  }

  /**
   * Settings of plain connections without authentication or limits, for a router inside a cluster.
   *
   * @param localAddress the address to connect from, null for the system's choice
   * @param client the {@code client} document of hello
   * @param ways addresses to use for servers that cannot be reached at their own addresses
   */
  public static WireSettings plain(
      @Nullable SocketAddress localAddress,
      BsonDocument client,
      Map<ServerAddressName, InetSocketAddress> ways) {
    return new WireSettings(
        new Sockets(
            EventLoops.socketChannelClass(), localAddress, Duration.ofSeconds(5), 0, 0, null),
        PoolLimits.none(Duration.ofMinutes(2)),
        null,
        new HandshakeSettings(client, List.of(), null),
        List.of(),
        new Addresses(Addresses.Lookup.SYSTEM, ways),
        null);
  }
}
